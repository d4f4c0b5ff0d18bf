"""Serves Spirit on 127.0.0.1: `forum.serve.py DATA PORT USER`; with DATA alone it only makes the tables.

Whoever comes is signed in as USER. Its search asks the database, so that a topic is found as soon as it is there
(Spirit's own index is brought up to date by a task queue), and nobody is asked to write more slowly.
"""

import sys
from pathlib import Path

import django
from django.conf import settings
from spirit.extra.project_template.project_name.settings import base

DATA = Path(sys.argv[1])
_SIGN_IN = "django.contrib.auth.middleware.RemoteUserMiddleware"
_AT = base.MIDDLEWARE.index("django.contrib.auth.middleware.AuthenticationMiddleware") + 1
_DUMMY_CACHE = {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
_SETTINGS = {
    **{name: value for name, value in vars(base).items() if name.isupper()},
    "SECRET_KEY": "forum",
    "ALLOWED_HOSTS": ["*"],
    "ROOT_URLCONF": __name__,
    "ST_SITE_URL": "http://forum.test/",
    "ST_RATELIMIT_ENABLE": False,
    "ST_RATELIMIT_SKIP_TIMEOUT_CHECK": True,
    "ST_UPLOAD_IMAGE_ENABLED": False,
    "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": DATA / "forum.sqlite"}},
    "CACHES": {"default": _DUMMY_CACHE, "st_rate_limit": _DUMMY_CACHE},
    "HAYSTACK_CONNECTIONS": {"default": {"ENGINE": f"{__name__}.DatabaseEngine"}},
    "HAYSTACK_SIGNAL_PROCESSOR": "haystack.signals.BaseSignalProcessor",
    "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
    "AUTHENTICATION_BACKENDS": ["django.contrib.auth.backends.RemoteUserBackend", *base.AUTHENTICATION_BACKENDS],
    "MIDDLEWARE": [*base.MIDDLEWARE[:_AT], _SIGN_IN, *base.MIDDLEWARE[_AT:]],
    "MEDIA_ROOT": DATA / "media",
    "LOGGING": {
        "version": 1,
        "handlers": {"stderr": {"class": "logging.StreamHandler"}},
        "loggers": {"django.request": {"handlers": ["stderr"], "level": "ERROR"}},
    },
}
settings.configure(**_SETTINGS)

from django.contrib.staticfiles.handlers import StaticFilesHandler  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.servers.basehttp import run  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db.models import Q  # noqa: E402
from django.urls import include, path  # noqa: E402
from haystack.backends import BaseEngine, BaseSearchQuery  # noqa: E402
from haystack.backends.simple_backend import SimpleSearchBackend  # noqa: E402
from haystack.models import SearchResult  # noqa: E402


class DatabaseBackend(SimpleSearchBackend):
    """Topics that say every word, in their title or in a comment; the newest first."""

    def search(self, query_string, categories=None, **kwargs):
        """What haystack asks for: results and hits."""
        from spirit.topic.models import Topic

        topics = Topic.objects.visible().filter(category__is_private=False)
        for word in query_string.split():
            said = Q(title__icontains=word) | Q(comment__comment__icontains=word, comment__is_removed=False)
            topics = topics.filter(pk__in=Topic.objects.filter(said).values("pk"))
        topics = topics.select_related("category__parent").order_by("-last_active")
        if categories:
            topics = topics.filter(category_id__in=categories)
        results = [self._result(topic) for topic in topics]
        return {"results": results[kwargs.get("start_offset", 0) : kwargs.get("end_offset")], "hits": len(results)}

    def _result(self, topic):
        fields = {name: getattr(topic, name) for name in ("title", "slug", "comment_count", "last_active")}
        return SearchResult(
            "spirit_topic", "topic", topic.pk, 0, main_category_name=topic.main_category.title, **fields
        )


class DatabaseQuery(BaseSearchQuery):
    """What was typed, and the categories that were ticked."""

    def build_query(self):
        """The words."""
        return " ".join(str(value.query_string) for name, value in self._asked() if hasattr(value, "query_string"))

    def build_search_kwargs(self, query_string, **kwargs):
        """The categories beside what haystack itself asks with."""
        categories = next((value for name, value in self._asked() if name.startswith("category_id")), None)
        return {"categories": categories, **super().build_search_kwargs(query_string, **kwargs)}

    def _asked(self):
        stack = [self.query_filter]
        while stack:
            node = stack.pop()
            if isinstance(node, tuple):
                yield node
            else:
                stack += reversed(node.children)


class DatabaseEngine(BaseEngine):
    """Haystack's name for the two."""

    backend, query = DatabaseBackend, DatabaseQuery


def signed_in(application, user):
    """The application as a web server that has signed its visitors in passes requests on to it."""

    def respond(environ, start_response):
        return application({**environ, "REMOTE_USER": user}, start_response)

    return respond


if __name__ == "__main__":
    django.setup()
    urlpatterns = [path("", include("spirit.urls"))]
    if len(sys.argv) == 2:
        call_command("migrate", verbosity=0)
    else:
        application = StaticFilesHandler(signed_in(get_wsgi_application(), sys.argv[3]))
        run("127.0.0.1", int(sys.argv[2]), application, threading=True)
