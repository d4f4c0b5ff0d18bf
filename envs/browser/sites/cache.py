"""Sites as set-up made them: each installed, and its base data built, once a machine.

Invariant: an installation is known by its requirements and how it is installed, base data by the site's source; both
are made under a lock, count only once they are whole, and are changed by nobody after that. Only their owner reads
base data.
"""

from __future__ import annotations

import fcntl
import hashlib
import inspect
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from envs.browser.sites.site import IMAGES, Site, SiteBroken, remove_tree
from envs.cache import cache_root

RECIPE = "1"  # change it when the code below makes something else of the same site
_DONE = "done"


@dataclass(frozen=True)
class Prepared:
    """root: the installed application.  data: the base data."""

    root: Path
    data: Path

    @property
    def whole(self) -> bool:
        """Whether both are there."""
        return all((path.parent / _DONE).exists() for path in (self.root, self.data))


def lacking(site: Site) -> dict[str, str]:
    """Programs of the system that the site lacks, with the Debian package that has each."""
    return {program: package for program, package in site.programs.items() if shutil.which(program) is None}


def prepared(site: Site) -> Prepared:
    """Where the site's installation and base data are, or will be."""
    classes = [kind for kind in type(site).__mro__ if issubclass(kind, Site) and kind is not Site]
    sources = [Path(inspect.getfile(kind)) for kind in classes]
    sources += sorted(sources[0].parent.glob(f"{sources[0].stem}_*.py"))  # a site's module may have others beside it
    pins = [*IMAGES.glob(f"{site.name}.*"), *IMAGES.glob(f"{site.name}/**/*.*")]
    texts = map(_text, sorted(filter(_counts, pins)))
    install = _key(*site.requirements, inspect.getsource(type(site).install), *texts)
    data = _key(install, *map(_text, sources))
    base = cache_root() / "sites"
    return Prepared(base / f"{site.name}-{install}" / "root", base / f"{site.name}-data-{data}" / "data")


def prepare(site: Site, on_step: Callable[[str], None] = lambda step: None) -> Prepared:
    """The site made where it isn't yet; `on_step` is told what is being done. Raises SiteBroken."""
    lacks = lacking(site)
    if lacks:
        raise SiteBroken(f"lacks {', '.join(lacks)}; run: apt-get install {' '.join(sorted(set(lacks.values())))}")
    place = prepared(site)
    with _making(place.root, 0o711) as needed:
        if needed:
            on_step("installing")
            site.install(place.root)
    with _making(place.data, 0o700) as needed:
        if needed:
            on_step("making its data")
            site.build(place.root, place.data)
    return place


@contextmanager
def _making(path: Path, mode: int) -> Iterator[bool]:
    """Whether `path` is to be filled: an empty directory, whole once the block ends well. Who else wants it waits.

    It is filled in its place, since what is installed holds paths.
    """
    home = path.parent
    if (home / _DONE).exists():
        yield False
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    with (home.parent / f".{home.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (home / _DONE).exists():
            yield False
            return
        remove_tree(home)
        home.mkdir()
        home.chmod(mode)
        path.mkdir()
        yield True
        (home / _DONE).touch()


def _counts(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


def _text(path: Path) -> str:
    return path.read_text()


def _key(*parts: str) -> str:
    key = hashlib.blake2b(digest_size=6)
    for part in (RECIPE, *parts):
        key.update(part.encode() + b"\0")
    return key.hexdigest()
