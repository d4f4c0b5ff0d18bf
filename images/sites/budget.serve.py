"""Serves ihatemoney on 127.0.0.1: `budget.serve.py DATABASE PORT`; without a port it only makes the tables.

Every group is open to the visitor without its private code, the database is opened for each request anew (so its
file may be replaced), and exchange rates, which it would fetch from the internet, are none.
"""

import sys

from flask import Flask, request, session
from ihatemoney import run
from ihatemoney.currency_convertor import CurrencyConverter
from ihatemoney.models import Project
from sqlalchemy.pool import NullPool
from werkzeug.serving import WSGIRequestHandler, make_server


class Settings:
    """What differs from the application's defaults."""

    SECRET_KEY = "budget"
    ACTIVATE_DEMO_PROJECT = False
    SESSION_COOKIE_SECURE = False
    SEND_FILE_MAX_AGE_DEFAULT = 86_400
    PASSWORD_HASH_METHOD = "pbkdf2:sha256:1000"
    BABEL_DEFAULT_TIMEZONE = "UTC"

    def __init__(self, database: str) -> None:
        self.SQLALCHEMY_DATABASE_URI = f"sqlite:///{database}"
        self.SQLALCHEMY_ENGINE_OPTIONS = {"poolclass": NullPool}


def create_app(database: str, *, migrate: bool) -> Flask:
    """The application on a database, whose tables are made or brought up to date where asked."""
    if not migrate:
        run.upgrade = lambda *_: None
    CurrencyConverter.get_rates = lambda self: {self.no_currency: 1.0}
    app = run.create_app(Settings(database))

    @app.before_request
    def open_groups() -> None:
        if request.endpoint != "static":
            session["projects"] = {group.id: group.name for group in Project.query.order_by(Project.name)}

    return app


class Handler(WSGIRequestHandler):
    """Connections stay open."""

    protocol_version = "HTTP/1.1"


if __name__ == "__main__":
    app = create_app(sys.argv[1], migrate=len(sys.argv) == 2)
    if len(sys.argv) > 2:
        make_server("127.0.0.1", int(sys.argv[2]), app, threaded=True, request_handler=Handler).serve_forever()
