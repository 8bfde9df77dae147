"""Extraction through any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source, failed
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.model.answer import read_answer
from hopgate.extract.model.prompt import GRAMMAR, PROMPT, SCHEMA, messages
from hopgate.extract.model.split_text import MAX_SPLITS, extract_in_parts
from hopgate.http import JsonClient, Reply, RetryPolicy

_FORMATS: tuple[dict[str, Any] | None, ...] = (
    {"type": "json_schema", "json_schema": {"name": "extraction", "schema": SCHEMA}},
    {"type": "json_object"},
    None,
)
# Statuses that every memory would get alike: these end the run, with what to do about it.
_PERMANENT = {401: "give a key that it accepts", 403: "give a key that may use this model", 404: "check URL and model"}
_REFUSED_FORMAT = frozenset((400, 415, 422, 501))
# Where a server counts no tokens, four characters are taken for one, as English texts average.
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True)
class OpenAI:
    """Extract with a model behind an OpenAI-compatible endpoint; the same prompt and schema as `Llama`.

    A server that knows no ``json_schema`` is asked for plain JSON, and one that knows neither is simply asked; what it
    then writes is repaired. `extract` may be called from several threads at once.

    Examples
    --------
    >>> OpenAI("qwen2.5-7b-instruct", "http://localhost:8000/v1", api_key="secret")
    OpenAI(model='qwen2.5-7b-instruct', base_url='http://localhost:8000/v1', max_tokens=1024, seed=0,
           halvings=2, retry=...)
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str = field(default="", repr=False, compare=False)
    max_tokens: int = 1024
    seed: int = 0
    halvings: int = MAX_SPLITS
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    _format: list[int] = field(default_factory=lambda: [0], init=False, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The server, the model, the prompt, the schema and what changes the answers; never the key."""
        parameters = {"max_tokens": self.max_tokens, "seed": self.seed, "halvings": self.halvings}
        return ExtractorIdentity("openai", f"{self.base_url} {self.model}", PROMPT, GRAMMAR, {**parameters})

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return [extract_in_parts(source, self._ask, self.halvings) for source in sources]

    def _ask(self, source: Source) -> Extraction:
        body = {
            "model": self.model,
            "messages": messages(source.text),
            "temperature": 0,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
        }
        reply = self._send(body)
        if reply.status in _PERMANENT:
            raise HopgateError(f"{self.base_url} answered HTTP {reply.status}: {_PERMANENT[reply.status]}")
        if not reply.ok:
            return failed(f"the server {reply.reason}")
        choice = _choice(reply.body)
        if choice is None:
            return failed("the reply holds no choice")
        text, cut = choice
        extraction = read_answer(text, source, cut=cut)
        return extraction.spent(*_usage(reply.body, body, text))

    def _send(self, body: dict[str, Any]) -> Reply:
        """Ask with the best format that the server is not known to refuse; step down when it refuses one."""
        while True:
            step = self._format[0]
            wanted = _FORMATS[step]
            reply = self._client.post("chat/completions", {**body, "response_format": wanted} if wanted else body)
            if reply.status not in _REFUSED_FORMAT or step == len(_FORMATS) - 1 or not _about_format(reply):
                return reply
            with self._lock:
                self._format[0] = max(self._format[0], step + 1)

    @cached_property
    def _client(self) -> JsonClient:
        return JsonClient(self.base_url, key=self.api_key, retry=self.retry)


def _about_format(reply: Reply) -> bool:
    """Whether a refusal may be about response_format: that is, whether its message is not about something else."""
    text = str(reply.body).lower()
    return not any(
        phrase in text for phrase in ("context length", "maximum context", "model_not_found", "does not exist")
    )


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


def _usage(body: Any, asked: dict[str, Any], answer: str) -> tuple[int, int]:
    """Return the tokens read and written as the server counts them, else an estimate from the characters."""
    usage = body.get("usage") if isinstance(body, dict) else None
    counted = [usage.get(key) if isinstance(usage, dict) else None for key in ("prompt_tokens", "completion_tokens")]
    prompt = sum(len(message["content"]) for message in asked["messages"])
    estimated = [prompt // _CHARACTERS_A_TOKEN + 1, len(answer) // _CHARACTERS_A_TOKEN + 1]
    read, written = (
        count if isinstance(count, int) and count >= 0 else guess
        for count, guess in zip(counted, estimated, strict=True)
    )
    return read, written
