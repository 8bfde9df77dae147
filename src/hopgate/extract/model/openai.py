"""Extraction through any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hopgate.errors import HopgateError, UnreachableError
from hopgate.extract.extraction import Extraction, Source, failed
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.model.answer import read_answer
from hopgate.extract.model.prompt import GRAMMAR, PROMPT, SCHEMA, SEVERAL_SCHEMA, messages, several_messages
from hopgate.extract.model.several import MOST_TOKENS, TOKENS_EACH, extract_grouped, read_several, shared_out
from hopgate.extract.model.split_text import MAX_SPLITS, extract_in_parts
from hopgate.extract.model.type_table import TypeTable
from hopgate.http import JsonClient, Reply, RetryPolicy
from hopgate.redact import without_credentials

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

    Parameters
    ----------
    together : int
        So many memories go into one call, each with an id; what the answer lacks is asked for by itself.
    types : TypeTable
        The kinds and relations that are wanted.

    Examples
    --------
    >>> OpenAI("qwen2.5-7b-instruct", "http://localhost:8000/v1", api_key="secret")
    OpenAI(model='qwen2.5-7b-instruct', base_url='http://localhost:8000/v1', max_tokens=1024, seed=0,
           halvings=2, together=1, types=..., retry=...)
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str = field(default="", repr=False, compare=False)
    max_tokens: int = 1024
    seed: int = 0
    halvings: int = MAX_SPLITS
    together: int = 1
    types: TypeTable = field(default_factory=TypeTable)
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
        parameters = {"max_tokens": self.max_tokens, "seed": self.seed, "halvings": self.halvings}
        if self.together > 1:
            parameters["together"] = self.together
        prompt = f"{PROMPT} {self.types.prompt_text()}".strip()
        return ExtractorIdentity("openai", f"{self.base_url} {self.model}", prompt, GRAMMAR, {**parameters})

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        return extract_grouped(
            sources, self.together, self._ask_several, lambda one: extract_in_parts(one, self._ask, self.halvings)
        )

    def answer(self, asked: list[dict[str, str]], schema: dict[str, Any], room: int) -> str:
        """Answer a chat with JSON of a schema; nothing where the server gives none."""
        _, choice = self._chat(asked, schema, room)
        return choice[0] if choice else ""

    def _ask(self, source: Source) -> Extraction:
        asked = messages(source.text, self.types.prompt_text())
        reply, choice = self._chat(asked, SCHEMA, self.max_tokens)
        if choice is None:
            return failed("the reply holds no choice" if reply.ok else f"the server {reply.reason}")
        text, cut = choice
        return read_answer(text, source, cut=cut).spent(*_usage(reply.body, asked, text))

    def _ask_several(self, group: Sequence[Source]) -> list[Extraction | None]:
        asked = several_messages([source.text for source in group], self.types.prompt_text())
        room = min(MOST_TOKENS, max(self.max_tokens, TOKENS_EACH * len(group)))
        reply, choice = self._chat(asked, SEVERAL_SCHEMA, room)
        if choice is None:
            # A request that is refused may be too large for the server; one that broke off would break off again.
            refused = reply.ok or 400 <= reply.status < 500
            return [None if refused else failed(f"the server {reply.reason}") for _ in group]
        text, cut = choice
        return shared_out(read_several(text, group, cut=cut), *_usage(reply.body, asked, text))

    def _chat(
        self, asked: list[dict[str, str]], schema: dict[str, Any], room: int
    ) -> tuple[Reply, tuple[str, bool] | None]:
        """Send a chat; give the reply, and the answer's text with whether it was cut."""
        body = {"model": self.model, "messages": asked, "temperature": 0, "seed": self.seed, "max_tokens": room}
        reply = self._send(body, schema)
        if reply.unreachable:
            raise UnreachableError(f"{self.base_url} {reply.reason}: is the server running there?")
        if reply.status in _PERMANENT:
            raise HopgateError(f"{self.base_url} answered HTTP {reply.status}: {_PERMANENT[reply.status]}")
        return reply, _choice(reply.body) if reply.ok else None

    def _send(self, body: dict[str, Any], schema: dict[str, Any]) -> Reply:
        """Ask with the best format that the server is not known to refuse; step down when it refuses one."""
        formats = (_schema_format(schema), {"type": "json_object"}, None)
        while True:
            step = self._format[0]
            wanted = formats[step]
            reply = self._post({**body, "response_format": wanted} if wanted else body)
            if reply.status not in _REFUSED_FORMAT or step == len(formats) - 1 or not _about_format(reply):
                return reply
            with self._lock:
                self._format[0] = max(self._format[0], step + 1)

    def _post(self, body: dict[str, Any]) -> Reply:
        """Post; a server that never answered is plainly down when it refuses two connections."""
        reply = self._client.post("chat/completions", body, reconnects=None if self._answered else 1)
        if not reply.unreachable and not self._answered:
            self._answered.append(True)
        return reply

    @cached_property
    def _client(self) -> JsonClient:
        return JsonClient(self._address, key=self.api_key, retry=self.retry)


def _schema_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "extraction", "schema": schema}}


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


def _usage(body: Any, asked: Sequence[dict[str, str]], answer: str) -> tuple[int, int]:
    """Return the tokens read and written as the server counts them, else an estimate from the characters."""
    usage = body.get("usage") if isinstance(body, dict) else None
    counted = [usage.get(key) if isinstance(usage, dict) else None for key in ("prompt_tokens", "completion_tokens")]
    prompt = sum(len(message["content"]) for message in asked)
    estimated = [prompt // _CHARACTERS_A_TOKEN + 1, len(answer) // _CHARACTERS_A_TOKEN + 1]
    read, written = (
        count if isinstance(count, int) and count >= 0 else guess
        for count, guess in zip(counted, estimated, strict=True)
    )
    return read, written
