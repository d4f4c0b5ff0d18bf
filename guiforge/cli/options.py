"""Options of envs and harnesses, as a person wrote them: on the command line or in a spec file.

Invariant: an option that does not exist, or has a value that can't be, is said before anything starts.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_type_hints

from pydantic import PydanticUserError, TypeAdapter, ValidationError

T = TypeVar("T")


class BadInput(Exception):
    """Something asked for is wrong; the text names it, where it stood, and the valid choices."""


def parse_options(option: str, words: Sequence[str]) -> dict[str, Any]:
    """Options from words such as `images=2`: a value is JSON where it can be read as such, else text.

    option: what the words were given with, for the error.  Raises BadInput.
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise BadInput(f"{option} {word!r} is no option; valid are such as name=value")
        try:
            found[name] = json.loads(value, parse_constant=_no_constant)
        except ValueError:
            found[name] = value
    return found


def build(make: Callable[..., T], options: Mapping[str, Any], where: str) -> T:
    """What a constructor gives with these options. Raises BadInput, which begins with `where` they stood."""
    known = inspect.signature(make).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        for name in options:
            if name not in known:
                raise BadInput(f"{where}: unknown option {name!r}; valid are: {', '.join(known) or 'none'}")
    hints = _hints(make)
    for name in options.keys() & hints.keys():
        try:
            TypeAdapter(hints[name]).validate_json(json.dumps(options[name]), strict=True)
        except ValidationError as error:
            raise BadInput(f"{where}: {name}={options[name]!r}: {error.errors()[0]['msg']}") from None
        except PydanticUserError:
            pass  # a type of somebody's own: the constructor knows
    try:
        return make(**options)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: {error}") from None


def _hints(make: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(inspect.getattr_static(make, "__init__") if isinstance(make, type) else make)
    except NameError:  # a name that only a type checker imports
        return {}


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
