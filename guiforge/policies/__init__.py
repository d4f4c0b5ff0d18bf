"""Policy: whatever answers a model call. `--policy` names an embedded one, or the base URL of an endpoint.

Invariant: a harness can't tell them apart: it reaches each by the recording proxy, which asks the endpoint, or the
episode's own worker for an embedded one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from guiforge.action import Action
from guiforge.frame import Size
from guiforge.policies.endpoint import Answer, AnswerFailed, Endpoint
from guiforge.policies.scripted import NullPolicy, OraclePolicy, RandomPolicy, Render

__all__ = [
    "Answer",
    "AnswerFailed",
    "Endpoint",
    "check_options",
    "embedded",
    "endpoint_at",
    "resolve",
]

EMBEDDED = ("oracle", "null", "random")
DEFAULT_KEY_ENV = "OPENAI_API_KEY"
OPTIONS = ("model", "api_key_env", "steps")


def resolve(policy: str) -> str:
    """A `--policy` value, checked: an embedded policy's name, or a base URL (a final slash removed).

    Raises ValueError naming the valid choices; one that holds a secret is not repeated in its text.
    """
    if policy in EMBEDDED:
        return policy
    if "@" in re.split(r"[/?#]", policy.partition("//")[2])[0]:
        raise ValueError(
            "a URL with a user or password in it would be kept in the run and shown on its page; "
            "leave them out, and name the variable that holds the key with --key-env"
        )
    if policy.startswith(("http://", "https://")):
        try:
            url = urlsplit(policy)
            if not url.hostname or url.port == 0:
                raise ValueError("no host" if not url.hostname else "there is no port 0")
        except ValueError as error:
            raise ValueError(
                f"{policy!r} is no base URL: {error}; valid are such as http://localhost:8000/v1"
            ) from None
        return policy.rstrip("/")
    raise ValueError(f"unknown policy {policy!r}; valid are: {', '.join(EMBEDDED)}, or a base URL http(s)://host/v1")


def check_options(options: Mapping[str, Any]) -> None:
    """Raises ValueError, with the valid ones, for a policy option that does not exist."""
    for name in options:
        if name not in OPTIONS:
            raise ValueError(f"unknown policy option {name!r}; valid are: {', '.join(OPTIONS)}")


def endpoint_at(base_url: str, options: Mapping[str, Any]) -> Endpoint:
    """The endpoint at a base URL, with its key from the environment.

    options: `model` (its name there), `api_key_env` (the variable that holds the key, OPENAI_API_KEY).
    """
    key = os.environ.get(options.get("api_key_env", DEFAULT_KEY_ENV), "")
    return Endpoint(base_url, key, options.get("model", "default"))


def embedded(
    policy: str, *, seed: int, options: Mapping[str, Any], render: Render, screen: Size,
    oracle: Callable[[], Iterator[Sequence[Action]]],
) -> Answer | None:  # fmt: skip
    """An embedded policy for one episode; None where the policy is an endpoint.

    options: `steps` (of the random policy, see there).  oracle: starts the task's oracle; called for that policy alone.
    Raises ValueError for a policy or an option that does not exist.
    """
    check_options(options)
    match resolve(policy):
        case "oracle":
            return OraclePolicy(oracle(), render, screen)
        case "null":
            return NullPolicy(render, screen)
        case "random":
            return RandomPolicy(seed, render, screen, steps=options.get("steps", 10))
    return None
