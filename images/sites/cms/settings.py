"""Settings of the museum's content manager (Wagtail): one editor in chief, signed in by the server."""

import os
from pathlib import Path

DATA = Path(os.environ["SITE_DATA"])
STATIC_ROOT = Path(os.environ["SITE_ROOT"]) / "static"
MEDIA_ROOT = DATA / "media"
STATIC_URL, MEDIA_URL = "/static/", "/media/"

SECRET_KEY = "not a secret: the site is served to one browser on this machine"
ALLOWED_HOSTS = ["*"]
CSRF_TRUSTED_ORIGINS = ["http://cms.test"]
DEBUG = False
ROOT_URLCONF = "urls"
WSGI_APPLICATION = "wsgi.application"
LANGUAGE_CODE, USE_I18N = "en", True
TIME_ZONE, USE_TZ = "UTC", True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "pages",
    "wagtail.contrib.redirects",
    "wagtail.contrib.settings",
    "wagtail.embeds",
    "wagtail.sites",
    "wagtail.users",
    "wagtail.snippets",
    "wagtail.documents",
    "wagtail.images",
    "wagtail.search",
    "wagtail.admin",
    "wagtail",
    "modelcluster",
    "taggit",
    "django_filters",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.RemoteUserMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "wagtail.contrib.redirects.middleware.RedirectMiddleware",
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.RemoteUserBackend"]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "wagtail.contrib.settings.context_processors.settings",
            ],
        },
    },
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATA / "db.sqlite3",
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA synchronous=OFF"},
    },
}
# The data may be replaced under a running server, so nothing of it is kept in its memory.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

WAGTAIL_SITE_NAME = "Larkfield Museum"
WAGTAILADMIN_BASE_URL = "http://cms.test"
WAGTAIL_ENABLE_UPDATE_CHECK = WAGTAIL_ENABLE_WHATS_NEW_BANNER = False
WAGTAIL_GRAVATAR_PROVIDER_URL = None
WAGTAIL_WORKFLOW_ENABLED = False
WAGTAILREDIRECTS_AUTO_CREATE = False  # a page that moves changes nothing but its place
WAGTAIL_AUTOSAVE_INTERVAL = 0  # what is typed counts once it is saved
WAGTAIL_EDITING_SESSION_PING_INTERVAL = 24 * 60 * 60 * 1000
