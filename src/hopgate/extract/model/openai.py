"""Any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hopgate import http
from hopgate.errors import HopgateError, UnreachableError
from hopgate.extract.extraction import ExtractorIdentity
from hopgate.extract.model.chat import CHARACTERS_A_TOKEN, ChatExtractor, Reply
from hopgate.extract.spec import TypeTable, shared_types
from hopgate.http import JsonClient, RetryPolicy
from hopgate.redact import without_credentials

# Statuses that every memory would get alike: these end the run, with what to do about it.
_PERMANENT = {401: "give a key that it accepts", 403: "give a key that may use this model", 404: "check URL and model"}
_REFUSED_FORMAT = frozenset((400, 415, 422, 501))
_ABOUT_OTHER = ("context length", "maximum context", "model_not_found", "does not exist")


@dataclass(frozen=True)
class OpenAI(ChatExtractor):
    """Extract with a model behind an OpenAI-compatible endpoint; the same prompt and schema as `Llama`.

    A server that knows no ``json_schema`` is asked for plain JSON, and one that knows neither is simply asked; what it
    then writes is repaired. `extract` may be called from several threads at once.

    Parameters
    ----------
    window : int
        Tokens of a call, its answer with it.
    max_tokens : int
        The most that the model may write about one memory.
    together : int
        So many memories go into one call where they fit; what the answer lacks is asked for again.
    types : TypeTable
        The kinds and relations that are wanted.

    Examples
    --------
    >>> OpenAI("qwen2.5-7b-instruct", "http://localhost:8000/v1", api_key="secret")
    OpenAI(model='qwen2.5-7b-instruct', base_url='http://localhost:8000/v1', window=16384, max_tokens=1024, seed=0,
           together=1, types=..., retry=...)
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str = field(default="", repr=False, compare=False)
    window: int = 16_384
    max_tokens: int = 1024
    seed: int = 0
    together: int = 1
    types: TypeTable = field(default_factory=shared_types)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    _address: str = field(default="", init=False, repr=False, compare=False)
    _format: list[int] = field(default_factory=lambda: [0], init=False, repr=False, compare=False)
    _answered: list[bool] = field(default_factory=list, init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A URL may hold a password: it is sent, and neither printed nor part of the identity.
        object.__setattr__(self, "_address", self.base_url)
        object.__setattr__(self, "base_url", without_credentials(self.base_url))

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The server, the model, the prompt, the schema and what changes the answers; never the key."""
        return self._identity("openai", f"{self.base_url} {self.model}", seed=self.seed)

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        """Ask the server; its refusal of a key or a model ends the run, and so does a server that is not there."""
        body = {"model": self.model, "messages": chat, "temperature": 0, "seed": self.seed, "max_tokens": room}
        reply = self._send(body, schema)
        if reply.unreachable:
            raise UnreachableError(f"{self.base_url} {reply.reason}: is the server running there?")
        if reply.status in _PERMANENT:
            raise HopgateError(f"{self.base_url} answered HTTP {reply.status}: {_PERMANENT[reply.status]}")
        choice = _choice(reply.body) if reply.ok else None
        if choice is None:
            # A request that is refused may be too large for the server; one that broke off would break off again.
            problem = "the reply holds no choice" if reply.ok else f"the server {reply.reason}"
            return Reply(problem=problem, is_too_long=400 <= reply.status < 500)
        text, cut = choice
        return Reply(text, cut, *_usage(reply.body, chat, text))

    def _send(self, body: dict[str, Any], schema: dict[str, Any]) -> http.Reply:
        """Ask with the best format that the server is not known to refuse; step down when it refuses one."""
        by_schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        formats: tuple[dict[str, Any] | None, ...] = (by_schema, {"type": "json_object"}, None)
        while True:
            step = self._format[0]
            wanted = formats[step]
            # A server that never answered is plainly down when it refuses two connections.
            reply = self._client.post(
                "chat/completions",
                {**body, "response_format": wanted} if wanted else body,
                reconnects=None if self._answered else 1,
            )
            if not reply.unreachable and not self._answered:
                self._answered.append(True)
            if reply.status not in _REFUSED_FORMAT or step == len(formats) - 1 or _is_about_other(reply):
                return reply
            with self._lock:
                self._format[0] = max(self._format[0], step + 1)

    @cached_property
    def _client(self) -> JsonClient:
        return JsonClient(self._address, key=self.api_key, retry=self.retry)


def _is_about_other(reply: http.Reply) -> bool:
    """Whether a refusal is about something else than response_format."""
    text = str(reply.body).lower()
    return any(phrase in text for phrase in _ABOUT_OTHER)


def _choice(body: Any) -> tuple[str, bool] | None:
    """Return the answer's text and whether it was cut, from a reply that may have any shape."""
    try:
        choice = body["choices"][0]
        message = choice.get("message") or {}
        text = message.get("content")
    except (TypeError, KeyError, IndexError, AttributeError):
        return None
    if isinstance(text, list):  # some servers send a list of parts
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    return (text if isinstance(text, str) else ""), choice.get("finish_reason") == "length"


def _usage(body: Any, chat: Sequence[dict[str, str]], answer: str) -> tuple[int, int]:
    """Return the tokens read and written as the server counts them, else an estimate from the characters."""
    usage = body.get("usage") if isinstance(body, dict) else None
    counted = [usage.get(key) if isinstance(usage, dict) else None for key in ("prompt_tokens", "completion_tokens")]
    lengths = sum(len(message["content"]) for message in chat), len(answer)
    read, written = (
        count if isinstance(count, int) and count >= 0 else length // CHARACTERS_A_TOKEN + 1
        for count, length in zip(counted, lengths, strict=True)
    )
    return read, written
