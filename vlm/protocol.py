"""OpenAI's chat completions, as the local model's server reads and writes them.

Invariant: what would change the reply and can't be done is refused; what does not change it is ignored.
Sources: OpenAI API reference, chat completions; vLLM's additions: `top_k`, `cache_salt`, `return_token_ids` (gives
`prompt_token_ids` at the top, in a stream in its first chunk, and `choices[].token_ids`), `choices[].stop_reason`,
`structured_outputs` (only its `choice`).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from guiforge.wire import ChatRequest
from vlm.generate import Sampled, Sampling

MAX_TOKENS = 1024  # of a reply, where the request names no number


class BadRequest(ValueError):
    """A request that can't be answered.  param: the field that is wrong, where it is one.  code: for programs."""

    def __init__(self, text: str, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(text)
        self.param, self.code, self.status = param, code, status

    @property
    def body(self) -> dict[str, Any]:
        """The body of the error response."""
        return error_body(str(self), "invalid_request_error", self.param, self.code)


def error_body(text: str, type: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """An error in OpenAI's shape."""
    return {"error": {"message": text, "type": type, "param": param, "code": code}}


class StreamOptions(BaseModel):
    """What a stream is to hold besides."""

    include_usage: bool = False


class StructuredOutputs(BaseModel):
    """What a reply may be.  choice: one of these texts."""

    model_config = ConfigDict(extra="forbid")
    choice: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]


class Request(ChatRequest):
    """A request, checked."""

    temperature: float | None = Field(default=None, ge=0, le=10)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=-1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    stop: Annotated[list[str], Field(max_length=16)] | None = None
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    logprobs: bool | None = False
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    return_token_ids: bool | None = False
    cache_salt: str | None = None
    stream_options: StreamOptions | None = None
    structured_outputs: StructuredOutputs | None = None
    tool_choice: Literal["auto", "none"] | None = None
    # what can't be done: only these values are taken
    n: Literal[1] | None = None
    logit_bias: dict[str, float] | None = Field(default=None, max_length=0)
    presence_penalty: Literal[0] | None = None
    frequency_penalty: Literal[0] | None = None

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("presence_penalty", "frequency_penalty", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @model_validator(mode="after")
    def _text_alone(self) -> Request:
        wanted = (self.model_extra or {}).get("response_format")
        if wanted is not None and wanted != {"type": "text"}:
            raise ValueError("response_format can only be text here")
        return self

    @property
    def calls_tools(self) -> bool:
        """Whether tool calls are read from the reply."""
        return bool(self.tools) and self.tool_choice != "none"

    def sampling(self, room: int) -> Sampling:
        """How to sample, in `room` tokens at most."""
        asked = self.max_completion_tokens or self.max_tokens
        return Sampling(
            max_tokens=min(asked or MAX_TOKENS, room),
            temperature=1.0 if self.temperature is None else self.temperature,
            top_p=self.top_p or 1.0,
            top_k=max(self.top_k or 0, 0),
            seed=self.seed,
            choice=tuple(self.structured_outputs.choice) if self.structured_outputs else (),
            alternatives=(self.top_logprobs or 0) if self.logprobs else 0,
        )


def read_request(body: Any) -> Request:
    """A request from its JSON. Raises BadRequest, which names the field."""
    try:
        return Request.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise BadRequest(f"{where or 'the body'}: {first['msg']}", where or None) from None


class Answer:
    """Response bodies of one request.  prompt: how many tokens it had."""

    def __init__(self, request: Request, model: str, version: str, tokenizer: Any, prompt: Sequence[int]) -> None:
        self._request, self._tokenizer, self._prompt = request, tokenizer, list(prompt)
        self._head = {"created": int(time.time()), "model": model, "system_fingerprint": version or None}
        self._id = f"chatcmpl-{uuid.uuid4().hex}"

    def whole(
        self, message: dict[str, Any], tokens: Sequence[Sampled], reason: str, stopped: str | None
    ) -> dict[str, Any]:
        """A chat completion."""
        choice = {"index": 0, "message": message, **self._about(tokens), "finish_reason": reason}
        body = {"id": self._id, "object": "chat.completion", **self._head, "usage": self.usage(len(tokens))}
        return {**body, "choices": [{**choice, "stop_reason": stopped}], **self._prompt_ids()}

    def first(self) -> dict[str, Any]:
        """The first chunk of a stream."""
        return {**self._chunk({"role": "assistant", "content": ""}), **self._prompt_ids()}

    def more(self, text: str, token: Sampled) -> dict[str, Any]:
        """A chunk for a token, with the text that may be shown by now."""
        return self._chunk({"content": text}, **self._about([token]))

    def last(self, text: str, calls: list[dict[str, Any]], reason: str, stopped: str | None) -> dict[str, Any]:
        """The chunk that ends the reply, with what was held back."""
        delta: dict[str, Any] = {"content": text} if text else {}
        if calls:
            delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
        return self._chunk(delta, finish_reason=reason, stop_reason=stopped)

    def spent(self, tokens: int) -> dict[str, Any]:
        """The chunk that tells the usage, after the last."""
        return {**self._chunk({}), "choices": [], "usage": self.usage(tokens)}

    def usage(self, tokens: int) -> dict[str, int]:
        """Tokens spent."""
        prompt = len(self._prompt)
        return {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None, **rest: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason, **rest}
        return {"id": self._id, "object": "chat.completion.chunk", **self._head, "choices": [choice]}

    def _prompt_ids(self) -> dict[str, Any]:
        return {"prompt_token_ids": self._prompt} if self._request.return_token_ids else {}

    def _about(self, tokens: Sequence[Sampled]) -> dict[str, Any]:
        about: dict[str, Any] = {"logprobs": None}
        if self._request.logprobs:
            about["logprobs"] = {"content": [self._entry(token) for token in tokens], "refusal": None}
        if self._request.return_token_ids:
            about["token_ids"] = [token.id for token in tokens]
        return about

    def _entry(self, token: Sampled) -> dict[str, Any]:
        best = [self._spelled(id, logprob) for id, logprob in token.alternatives]
        return {**self._spelled(token.id, token.logprob), "top_logprobs": best}

    def _spelled(self, token: int, logprob: float) -> dict[str, Any]:
        text = self._tokenizer.decode([token])
        return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def tool_calls(calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tool calls of a reply, named."""
    return [{"id": f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": call} for call in calls]
