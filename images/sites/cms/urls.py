"""The museum's addresses: the console, and the pages themselves."""

from django.urls import include, path
from wagtail import urls as pages
from wagtail.admin import urls as admin

urlpatterns = [path("admin/", include(admin)), path("", include(pages))]
