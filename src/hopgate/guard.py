"""What keeps sensitive texts from models: rules by which memories are sensitive, and a second look before one reads.

`memory.cleared` decides when a text is read from the store. Minutes may pass until a slow server is asked, or asked
again: whoever reads texts from a store names here how to look again, and every model and cache does so, right before a
model reads a text and while its answer is kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from hopgate.errors import HopgateError
from hopgate.memory import Memory, check_several


@dataclass(frozen=True)
class SensitivityRules:
    """Which memories are sensitive by a rule: by a tag or one below it ("secret/keys"), or by a regular expression.

    Examples
    --------
    >>> rules = SensitivityRules(tags=("private",), patterns=(r"(?i)password",))
    >>> [memory.is_sensitive for memory in rules.applied([Memory("a", "My Password is x."), Memory("b", "Hello.")])]
    [True, False]
    """

    tags: tuple[str, ...] = ()  # see `tag_names`
    patterns: tuple[str, ...] = ()  # looked for in title, text, tags and keywords

    def __post_init__(self) -> None:
        check_several(self.tags, "tags")
        check_several(self.patterns, "patterns")
        for pattern in self.patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise HopgateError(f"{pattern!r} is not a regular expression: {error}") from None

    def __bool__(self) -> bool:
        return bool(self.tags or self.patterns)

    def __or__(self, other: SensitivityRules) -> SensitivityRules:
        """The rules of both, each once."""
        return SensitivityRules(
            tuple(dict.fromkeys(self.tags + other.tags)), tuple(dict.fromkeys(self.patterns + other.patterns))
        )

    @cached_property
    def _compiled(self) -> Sequence[re.Pattern[str]]:
        return [re.compile(pattern) for pattern in self.patterns]

    @cached_property
    def _folded(self) -> set[str]:
        return set(map(_folded, self.tags))

    def meets(self, memory: Memory) -> bool:
        """Whether a rule makes this memory sensitive."""
        if self._folded and any(self._folded & tag_names(tag) for tag in memory.tags):
            return True
        texts = (memory.content, *memory.tags, *memory.expanded_keywords)
        return any(pattern.search(text) for pattern in self._compiled for text in texts)

    def applied(self, memories: Iterable[Memory]) -> Iterator[Memory]:
        """Pass memories on, those that meet a rule as sensitive ones."""
        for memory in memories:
            sensitive = bool(self) and not memory.is_sensitive and self.meets(memory)
            yield replace(memory, is_sensitive=True) if sensitive else memory

    def to_dict(self) -> dict[str, list[str]]:
        """The rules as JSON values."""
        return {"tags": list(self.tags), "patterns": list(self.patterns)}

    @classmethod
    def of(cls, values: Mapping[str, Any] | None) -> SensitivityRules:
        """The rules that `to_dict` gave; none for nothing."""
        return cls(tuple((values or {}).get("tags", ())), tuple((values or {}).get("patterns", ())))


# What stands around a tag in lists of YAML, JSON, PostgreSQL and hands.
_AROUND = "#\"'`[]{}() "


def tag_names(tag: str) -> set[str]:
    """The tags that one tag is for a rule: what looks the same is the same, and those that it stands below count too.

    Examples
    --------
    >>> sorted(tag_names(" ##Secret/Keys ")), sorted(tag_names("home|secret"))
    (['secret', 'secret/keys'], ['home', 'home|secret', 'secret'])
    """
    names: set[str] = set()
    for part in (tag, *re.split(r"[,;|\n]", tag)):
        folded = _folded(part)
        names |= {folded, *(folded[: at.start()] for at in re.finditer("/", folded))}
    return names - {""}


def _folded(tag: str) -> str:
    """A tag without case, what stands around it, signs that nobody sees, and ways to write one letter."""
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", tag) if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFC", " ".join(seen.casefold().split()).strip(_AROUND).strip("/ "))


# ---- The second look ------------------------------------------------------------------------------------------------


class SendingGuard(Protocol):
    """Knows whether the texts on their way may still be read; raises `WithdrawnError` where one may not."""

    def check(self) -> None:
        """Look now."""
        ...

    def holding(self) -> AbstractContextManager[None]:
        """Look now, and let nothing of it change until the block ends."""
        ...


_GUARD: ContextVar[SendingGuard | None] = ContextVar("hopgate_sending_guard", default=None)


@contextmanager
def guarded(guard: SendingGuard) -> Iterator[None]:
    """Let the models and caches that are used inside the block ask this guard."""
    token = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(token)


def check_sending() -> None:
    """Look again; every model calls this right before it reads or sends, each time it tries."""
    guard = _GUARD.get()
    if guard is not None:
        guard.check()


@contextmanager
def kept_safely() -> Iterator[None]:
    """Keep what a model answered inside the block: what turns sensitive waits for its end, and then removes it."""
    guard = _GUARD.get()
    if guard is None:
        yield
        return
    with guard.holding():
        yield
