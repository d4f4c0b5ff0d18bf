"""Policy: whatever answers a model call. `--policy` names an embedded one, or the base URL of an endpoint.

Invariant: every policy is reached the same way, by base URL and key; an embedded one serves itself on loopback.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from guiforge.action import Action
from guiforge.frame import Size
from guiforge.policies.scripted import NullPolicy, OraclePolicy, RandomPolicy, Render
from guiforge.policies.server import Answer, AnswerFailed, Endpoint, serve_policy

__all__ = [
    "Answer",
    "AnswerFailed",
    "Endpoint",
    "check_options",
    "endpoint_at",
    "policy_endpoint",
    "resolve",
    "serve_policy",
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
    """The endpoint at a base URL, with its key from the environment. options: as in policy_endpoint."""
    key = os.environ.get(options.get("api_key_env", DEFAULT_KEY_ENV), "")
    return Endpoint(base_url, key, options.get("model", "default"))


@contextmanager
def policy_endpoint(
    policy: str, *, seed: int, options: Mapping[str, Any], render: Render, screen: Size,
    oracle: Callable[[], Iterator[Sequence[Action]]],
) -> Iterator[Endpoint]:  # fmt: skip
    """Where an episode's model is, for as long as the context lasts; an embedded policy is served meanwhile.

    options: `model` (its name at an endpoint), `api_key_env` (the variable that holds the key, OPENAI_API_KEY),
    `steps` (of the random policy, see there).  oracle: starts the task's oracle; called for that policy alone.
    Raises ValueError for a policy or an option that does not exist.
    """
    check_options(options)
    policy = resolve(policy)
    if policy not in EMBEDDED:
        yield endpoint_at(policy, options)
        return
    answer: Answer
    if policy == "oracle":
        answer = OraclePolicy(oracle(), render, screen)
    elif policy == "null":
        answer = NullPolicy(render, screen)
    else:
        answer = RandomPolicy(seed, render, screen, steps=options.get("steps", 10))
    with serve_policy(answer, model=policy) as endpoint:
        yield endpoint
