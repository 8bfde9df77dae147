"""The protocol every extractor keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

from hopgate.extract.extraction import Extraction, Source

Parameter = str | int | float | bool | None


@dataclass(frozen=True)
class ExtractorIdentity:
    """What an extractor's answer depends on besides the text: the cache's key is made of it.

    Parameters
    ----------
    extractor : str
        The name on the command line: ``phrases``, ``llama``, ``openai``, ``replay``.
    model : str
        The model's name or its file's fingerprint; for rules, their version.
    prompt, grammar : str
        The text of the prompt and of the JSON schema, empty where there is none.
    parameters : dict
        Temperature, seed, lengths and the like.
    by_id : bool
        Whether answers depend on the memory's id rather than its text, as a replay's do: such answers are not cached.

    Examples
    --------
    >>> one = ExtractorIdentity("llama", "a.gguf", parameters={"seed": 0})
    >>> two = ExtractorIdentity("llama", "a.gguf", parameters={"seed": 1})
    >>> one.hash == two.hash, len(one.hash)
    (False, 32)
    """

    extractor: str
    model: str = ""
    prompt: str = ""
    grammar: str = ""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    by_id: bool = False

    @cached_property
    def hash(self) -> str:
        """A stable fingerprint: the same on every machine and in every run."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@runtime_checkable
class Extractor(Protocol):
    """Turns sources into extractions: one for each, in order.

    `extract` never raises for a text it cannot handle: such a source gets a `failed` extraction with the reason. It
    raises HopgateError only where every source would fail alike (no model file, no server, a refused key).
    """

    @property
    def identity(self) -> ExtractorIdentity:
        """What the answers depend on besides the text."""
        ...

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return one extraction for each source, in order."""
        ...


@runtime_checkable
class ContextualExtractor(Extractor, Protocol):
    """An extractor that makes use of what other memories show (`Source.known`, `Source.before`), as the rules do.

    A model reads one memory at a time and needs none of it.
    """

    @property
    def changes(self) -> bool:
        """Whether notes that it read are to be compared with earlier ones, by the trained model of changes."""
        ...
