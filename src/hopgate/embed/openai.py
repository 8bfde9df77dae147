"""Any endpoint that speaks OpenAI's `/v1/embeddings`."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hopgate.embed.embedder import Identity, Vectors, unit_rows
from hopgate.embed.spec import with_options
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE = "OPENAI_API_KEY"
# Answers that may be better next time: too many requests, and a server or a proxy in trouble.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class OpenAIEmbedder:
    """Vectors from an endpoint.

    Parameters
    ----------
    model : str
        The model's name as the endpoint knows it.
    base_url : str
        Up to and with `/v1`; `/embeddings` is added.
    dimension : int, optional
        What the vectors must have; by default what the endpoint answers to a first, neutral text.
    key_variable : str
        The environment variable that holds the key. No key is sent when it is not set.
    batch_size : int
        Texts a request.
    timeout_s : float
        For connecting, and for each wait on the endpoint.
    attempts : int
        How often a request is sent before giving up.
    back_off_s, longest_wait_s : float
        The first wait between attempts, doubled each time; and the longest, which a `Retry-After` may not exceed.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        query_prompt: str = "",
        document_prompt: str = "",
        dimension: int | None = None,
        key_variable: str = KEY_VARIABLE,
        batch_size: int = 128,
        timeout_s: float = 60.0,
        attempts: int = 5,
        back_off_s: float = 0.5,
        longest_wait_s: float = 60.0,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise HopgateError(f"the endpoint {base_url!r} is not an http or https URL")
        self.model, self.base_url = model, base_url.rstrip("/")
        self._prompts = query_prompt, document_prompt
        self._dimension = dimension
        self._key_variable = key_variable
        self._batch_size = batch_size
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._back_off_s, self._longest_wait_s = back_off_s, longest_wait_s

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.model!r}, {self.base_url!r})"

    @cached_property
    def identity(self) -> Identity:
        """Which embedder this is; asks the endpoint for its dimension unless that was given."""
        query, document = self._prompts
        return Identity(
            name=self.model,
            dimension=self._dimension or len(self._ask(["hopgate"])[0]),
            spec=with_options(
                f"openai:{self.model}@{self.base_url}",
                query=query or None,
                document=document or None,
                dimension=self._dimension,
                key=self._key_variable if self._key_variable != KEY_VARIABLE else None,
            ),
            query_prompt=query,
            document_prompt=document,
        )

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Embed memories' contents, behind the document prompt."""
        return self._embed([self._prompts[1] + text for text in texts])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries, behind the query prompt."""
        return self._embed([self._prompts[0] + text for text in texts])

    def _embed(self, texts: list[str]) -> Vectors:
        rows: list[list[float]] = []
        for start in range(0, len(texts), self._batch_size):
            rows += self._ask(texts[start : start + self._batch_size])
        return unit_rows(
            rows, count=len(texts), dimension=self.identity.dimension, who=f"{self.model} at {self.base_url}"
        )

    def _ask(self, texts: list[str]) -> list[list[float]]:
        return _vectors(
            self._answer({"model": self.model, "input": texts, "encoding_format": "float"}), len(texts), self
        )

    def _answer(self, body: dict[str, Any]) -> Any:
        """Send one request until it is answered, is refused for good, or has been sent often enough."""
        httpx = _library()
        trouble = ""
        for wait in self._waits():
            asked = 0.0
            try:
                response = self._client.post(f"{self.base_url}/embeddings", json=body)
            except httpx.TimeoutException:
                trouble = f"did not answer within {self._timeout_s:g} s"
            except httpx.HTTPError as error:
                trouble = f"cannot be reached ({str(error) or type(error).__name__})"
            else:
                if response.is_success:
                    return _json(response, self)
                trouble = self._refusal(response)
                asked = retry_after(response.headers.get("Retry-After"))
            if wait is not None:
                if asked > self._longest_wait_s:
                    raise HopgateError(f"{self.base_url} {trouble} and asks to wait {asked:.0f} s: try again then")
                time.sleep(max(wait, asked))
        raise HopgateError(f"{self.base_url} {trouble}, {self._attempts} times: check the endpoint and try again")

    def _refusal(self, response: httpx.Response) -> str:
        """Say what a passing refusal was; raise one that another attempt would not change."""
        status = response.status_code
        if status in {401, 403}:
            known = "is not accepted" if os.environ.get(self._key_variable) else "is not set"
            raise HopgateError(f"{self.base_url} answered {status}: the key in {self._key_variable} {known}")
        if status not in PASSING:
            raise HopgateError(f"{self.base_url} answered {status} for model {self.model}{_message(response)}")
        return f"answered {status}{_message(response)}"

    def _waits(self) -> Iterator[float | None]:
        """What to wait after each attempt, doubling, with jitter so that many clients do not come back together."""
        for attempt in range(self._attempts - 1):
            wait: float = self._back_off_s * 2**attempt * random.uniform(0.75, 1.25)
            yield min(wait, self._longest_wait_s)
        yield None

    @cached_property
    def _client(self) -> httpx.Client:
        key = os.environ.get(self._key_variable)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        client: httpx.Client = _library().Client(timeout=self._timeout_s, headers=headers)
        return client


def _library() -> Any:
    try:
        import httpx
    except ImportError:
        raise HopgateError("httpx is not installed: pip install 'hopgate[hosted]'") from None
    return httpx


def retry_after(header: str | None, now: datetime | None = None) -> float:
    """Seconds that a `Retry-After` header asks to wait, as a number or as a date; 0 when it says nothing readable.

    Examples
    --------
    >>> retry_after("7")
    7.0
    >>> retry_after("Wed, 21 Oct 2015 07:28:00 GMT", now=datetime(2015, 10, 21, 7, 27, 30, tzinfo=UTC))
    30.0
    """
    if not header:
        return 0.0
    try:
        return max(0.0, float(header)) if header.strip().isdigit() else _until(header, now or datetime.now(UTC))
    except ValueError:
        return 0.0


def _until(header: str, now: datetime) -> float:
    when = parsedate_to_datetime(header)
    return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds())


def _json(response: httpx.Response, who: OpenAIEmbedder) -> Any:
    try:
        return response.json()
    except ValueError:
        raise HopgateError(f"{who.base_url} did not answer in JSON: is it an embeddings endpoint?") from None


def _vectors(answer: Any, count: int, who: OpenAIEmbedder) -> list[list[float]]:
    """The vectors in the order of the texts; the endpoint may give them in any, with their `index`."""
    try:
        rows = {int(row["index"]): row["embedding"] for row in answer["data"]}
    except (TypeError, KeyError, ValueError):
        raise HopgateError(f"{who.base_url} answered JSON without embeddings: is it an embeddings endpoint?") from None
    if len(answer["data"]) != count or set(rows) != set(range(count)):
        raise HopgateError(f"{who.base_url} gave {len(answer['data'])} vectors for {count} texts")
    if not all(isinstance(row, list) and row for row in rows.values()):
        raise HopgateError(f"{who.base_url} gave a vector that is not a list of numbers")
    return [rows[index] for index in range(count)]


def _message(response: httpx.Response) -> str:
    """What the endpoint says about its refusal, cut short."""
    try:
        error = response.json()["error"]
        said = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError):
        return ""
    return f" ({' '.join(str(said).split())[:160]})"
