"""The shop's server: every request is the one customer's."""

import os
from collections.abc import Iterable
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

from django.core.wsgi import get_wsgi_application

_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django's own, with the customer logged in."""
    return _django({**environ, "REMOTE_USER": os.environ["SITE_USER"]}, start_response)
