"""Serves Calibre-Web on 127.0.0.1: `library.serve.py DATA PORT`; without a port it only makes the tables.

Who visits is the reader `robin`, as a proxy in front would say it. Both databases are opened for each request anew,
so their files may be replaced; where they lie is said by DATA alone.
"""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import calibreweb

sys.path.insert(0, calibreweb.__path__[0])
DATA = Path(sys.argv[1])
PORT = int(sys.argv[2]) if len(sys.argv) > 2 else 0
sys.argv = [
    "calibre-web",
    "-p",
    f"{DATA}/app.db",
    "-g",
    f"{DATA}/gdrive.db",
    "-o",
    "/dev/stderr",
    "-m",
    "-i",
    "127.0.0.1",
]

import cps  # noqa: E402
from cps import app, config_sql, db, main, ub  # noqa: E402
from sqlalchemy import REAL, create_engine  # noqa: E402
from sqlalchemy.pool import NullPool  # noqa: E402

READER = "robin"


def make_tables() -> None:
    """Empty databases, of the library and of the application."""
    books = create_engine(f"sqlite:///{DATA}/metadata.db").execution_options(schema_translate_map={"calibre": None})
    db.Books.__table__.c.series_index.type = REAL()  # as Calibre has it
    db.Base.metadata.create_all(books)
    ub.init_db(f"{DATA}/app.db")
    config_sql.load_configuration(ub.session, None)


def serve() -> None:
    """The server, until it is ended."""
    ub.create_engine = partial(create_engine, poolclass=NullPool)
    load = config_sql.ConfigSQL.load

    def load_here(config: Any) -> None:
        load(config)
        config.config_calibre_dir, config.config_port, config.db_configured = str(DATA), PORT, True

    config_sql.ConfigSQL.load = load_here
    inner = app.wsgi_app

    def as_reader(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        return inner({**environ, "HTTP_X_READER": READER}, start)

    app.wsgi_app = as_reader
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = 86_400
    cps.dependency_check = lambda optional=False: []  # what only uploads, covers and schedules need is not installed
    app.teardown_appcontext(lambda problem: ub.session.close())
    main.main()


if __name__ == "__main__":
    serve() if PORT else make_tables()
