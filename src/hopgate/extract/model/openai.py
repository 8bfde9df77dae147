"""Any server that speaks OpenAI's chat completions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hopgate import http
from hopgate.errors import HopgateError, UnreachableError
from hopgate.extract.extraction import ExtractorIdentity
from hopgate.extract.model.chat import CHARACTERS_A_TOKEN, ChatExtractor, Reply
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
    """

    model: str
    # The endpoint; a password in it is sent, and neither printed nor part of the identity.
    base_url: str = field(default="https://api.openai.com/v1", repr=False)
    api_key: str = field(default="", repr=False, compare=False)
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    @cached_property
    def identity(self) -> ExtractorIdentity:
        """The server, the model, the prompt, the schema and what changes the answers; never the key."""
        return self._identity("openai", f"{without_credentials(self.base_url)} {self.model}")

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        """Ask the server; its refusal of a key or a model ends the run, and so does a server that is not there."""
        body = {"model": self.model, "messages": chat, "temperature": 0, "seed": self.seed, "max_tokens": room}
        reply = self._post(body, schema)
        who = without_credentials(self.base_url)
        if reply.unreachable:
            raise UnreachableError(f"{who} {reply.reason}: is the server running there?")
        if reply.status in _PERMANENT:
            raise HopgateError(f"{who} answered HTTP {reply.status}: {_PERMANENT[reply.status]}")
        choice = _choice(reply.body) if reply.ok else None
        if choice is None:
            # A request that is refused may be too large for the server; one that broke off would break off again.
            problem = "the reply holds no choice" if reply.ok else f"the server {reply.reason}"
            return Reply(problem=problem, is_too_long=400 <= reply.status < 500)
        text, cut = choice
        return Reply(text, cut, *_usage(reply.body, chat, text))

    def _post(self, body: dict[str, Any], schema: dict[str, Any]) -> http.Reply:
        """Ask with the best format that the server is not known to refuse; step down when it refuses one."""
        by_schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        while True:
            step = self._refused[0]
            wanted = ({"response_format": by_schema}, {"response_format": {"type": "json_object"}}, {})[step]
            reply = self._client.post("chat/completions", body | wanted)
            about_other = any(phrase in str(reply.body).lower() for phrase in _ABOUT_OTHER)
            if reply.status not in _REFUSED_FORMAT or not wanted or about_other:
                return reply
            self._refused[0] = max(self._refused[0], step + 1)

    @cached_property
    def _client(self) -> JsonClient:
        return JsonClient(self.base_url, key=self.api_key, retry=self.retry)

    @cached_property
    def _refused(self) -> list[int]:
        """How many formats the server was found to refuse, the best first."""
        return [0]


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
    usage = body.get("usage") or {}
    counted = usage.get("prompt_tokens"), usage.get("completion_tokens")
    lengths = sum(len(message["content"]) for message in chat), len(answer)
    read, written = (
        count if isinstance(count, int) else length // CHARACTERS_A_TOKEN + 1
        for count, length in zip(counted, lengths, strict=True)
    )
    return read, written
