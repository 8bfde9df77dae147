"""A memory, and the one guard that keeps sensitive ones away from every model, cache and report."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NewType, TypeVar

from hopgate.errors import HopgateError
from hopgate.times import utc

Key = TypeVar("Key")

Cleared = NewType("Cleared", str)
"""Text that has passed `cleared`: the only text that embedders, extractors and caches accept of a memory."""

DEFAULT_IMPORTANCE = 0.5

# to_tsvector refuses more than 1 MiB of lexemes and positions; a quarter of that always fits.
MAX_SEARCHABLE_BYTES = 256 * 1024
# A btree entry holds about 2,700 bytes; ids and scopes are indexed.
MAX_KEY_BYTES = 1024
# Python's calendar ends at the years 1 and 9999; within these a date stays in it in every time zone of a server.
YEARS = range(2, 9999)
# Those that PostgreSQL has a stemmer for. Chinese, Japanese and Korean are found by their characters and need none.
LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "ja": "simple", "ko": "simple", "lt": "lithuanian", "ne": "nepali",
    "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish", "zh": "simple",
}  # fmt: skip
# A category that calls itself a thread, as `hopgate_thread` in store/schema.sql has it.
_SESSION = re.compile("(session|conversation|thread|chat)[ _-]*[0-9]+", re.IGNORECASE | re.ASCII)
# A name, with or without the schema that it is in.
_LANGUAGE = re.compile(r"\w{1,63}(\.\w{1,63})?")


@dataclass(frozen=True, slots=True)
class Memory:
    r"""A short text with metadata.

    Parameters
    ----------
    external_id : str
        The id the owner knows it by.
    text : str
        What is remembered.
    title : str, optional
        Becomes the content's first line: it is searched and embedded with the text.
    tags, expanded_keywords : tuple of str
        Searched with weights C and B; both are mentions for the no-model extractor.
    importance : float
        A prior in 0..1, applied after fusion.
    is_sensitive : bool
        Never embedded, extracted, sent, cached or reported; findable lexically.
    scope : str, optional
        A session, user or conversation: recall may be limited to one.
    language : str, optional
        What it is searched in: a text-search configuration of PostgreSQL ("german", "simple") or a code ("de"); by
        default the store's language.
    created_at : datetime, optional
        When it was written down, by default when it arrives; without a time zone it is UTC.
    thread : str, optional
        The conversation it is part of, within its scope: what was said just before and after are its neighbours in the
        graph. A category that calls itself one, such as "session_3", is one, too; no other is.
    reply_to : str, optional
        The external id of the memory that it answers: a neighbour too, whatever lies between them.
    superseded_by, superseded_at : str and datetime, optional
        The external id of the memory that took its place, and since when; recall leaves it out by default.
    extra : dict
        Fields of the owner's own, as JSON has them: searched by their words, filtered by (`where`) and shown.
    source : dict, optional
        Its other fields as they came in, kept so that an export gives back what went in.

    Examples
    --------
    >>> memory = Memory("m1", "The NAS moved to the cellar.", title="NAS", tags=("homelab",))
    >>> memory.content
    'NAS\nThe NAS moved to the cellar.'
    """

    external_id: str
    text: str
    title: str = ""
    tags: tuple[str, ...] = ()
    category: str | None = None
    expanded_keywords: tuple[str, ...] = ()
    importance: float = DEFAULT_IMPORTANCE
    is_sensitive: bool = False
    scope: str | None = None
    created_at: datetime | None = None
    thread: str | None = None
    reply_to: str | None = None
    language: str | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    source: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_several(self.tags, "tags")
        check_several(self.expanded_keywords, "expanded_keywords")
        object.__setattr__(self, "created_at", utc(self.created_at))
        object.__setattr__(self, "language", configuration(self.language))
        object.__setattr__(self, "superseded_at", utc(self.superseded_at))
        for reason in _reasons_to_refuse(self):
            raise HopgateError(f"memory {self.external_id[:80]!r}: {reason}")

    @property
    def content(self) -> str:
        """The title, where there is one, as the first line; then the text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


def thread_of(memory: Memory) -> str | None:
    """The thread that a memory is part of: the one that it names, else a category that calls itself one.

    Examples
    --------
    >>> [thread_of(Memory("m1", "Hi.", category=category)) for category in ("session_3", "Chat 12", "homelab")]
    ['session_3', 'Chat 12', None]
    """
    is_session = memory.thread is None and memory.category and _SESSION.fullmatch(memory.category)
    return memory.category if is_session else memory.thread


def check_several(values: Iterable[str], name: str) -> None:
    """Refuse one text where several are meant: it would be taken letter by letter.

    Examples
    --------
    >>> check_several(("nas",), "tags")
    """
    if isinstance(values, str):
        raise HopgateError(f"{name} is a list of texts, not one text: write [{values[:40]!r}]")


def configuration(language: str | None) -> str | None:
    """The text-search configuration of a language, by its name or its code, whether the server has it or not.

    Examples
    --------
    >>> configuration("de"), configuration("pt-BR"), configuration("Simple")
    ('german', 'portuguese', 'simple')
    """
    if language is None:
        return None
    name = language.strip().lower()
    name = LANGUAGES.get(re.split("[-_]", name)[0], name)
    if not _LANGUAGE.fullmatch(name):
        raise HopgateError(f"{language[:40]!r} is no language: give one such as english, german or simple, or a code")
    return name


def cleared(rows: Iterable[tuple[Key, Memory]]) -> Iterator[tuple[Key, Cleared]]:
    """Pass the memories whose content may leave the store: each one's key, with that content.

    This is the sensitivity guard. Every embedder, extractor, cache, log and report gets a memory's text from here and
    from nowhere else: they accept `Cleared`, and only this function makes it.

    Parameters
    ----------
    rows : iterable of (key, Memory)
        The key is whatever the caller knows a memory by: its id in the store, its external id, or the memory itself.

    Examples
    --------
    >>> list(cleared([(1, Memory("a", "open")), (2, Memory("b", "secret", is_sensitive=True))]))
    [(1, 'open')]
    """
    for key, memory in rows:
        if not memory.is_sensitive:
            yield key, Cleared(memory.content)


def _reasons_to_refuse(memory: Memory) -> Iterator[str]:
    """Say why a memory cannot be stored, in the words the user sees after file and line."""
    if not memory.external_id:
        yield "its id is empty"
    keys = [(name, key) for name, key in _keys(memory) if key]
    for name, key in keys:
        if len(key.encode("utf-8", "replace")) > MAX_KEY_BYTES:
            yield f"its {name} is longer than {MAX_KEY_BYTES} bytes"
    if math.isnan(memory.importance) or not 0 <= memory.importance <= 1:
        yield f"importance must be between 0 and 1, not {memory.importance}"
    for name, moment in (("created_at", memory.created_at), ("superseded_at", memory.superseded_at)):
        if moment is not None and moment.year not in YEARS:
            yield f"{name} must be between the years {YEARS[0]} and {YEARS[-1]}, not {moment.isoformat()}"
    if memory.superseded_by is not None and memory.superseded_by == memory.external_id:
        yield "it cannot be superseded by itself"
    for name, fields in (("extra", memory.extra), ("source", memory.source)):
        if trouble := _not_json(fields):
            yield f"its {name} is not JSON ({trouble})"
    searchable = (memory.content, *memory.tags, *memory.expanded_keywords)
    yield from _reasons_of_texts((*(key for _, key in keys), *searchable), (*searchable, str(memory.extra)))


def _reasons_of_texts(texts: Sequence[str], searched: Sequence[str]) -> Iterator[str]:
    if any("\0" in text for text in texts):
        yield "it holds a NUL character, which PostgreSQL cannot store"
    try:
        size = sum(len(text.encode()) for text in searched)
        "".join(texts).encode()
    except UnicodeEncodeError:
        yield "it holds half of a surrogate pair, which is not text"
    else:
        if size > MAX_SEARCHABLE_BYTES:
            yield f"its text is {size:,} bytes; a memory is at most {MAX_SEARCHABLE_BYTES:,}"


def _not_json(source: dict[str, Any] | None) -> str:
    """Why a record cannot be stored as JSON, in a few words: NaN, a date, a list inside itself; else nothing."""
    if source is None:
        return ""
    try:
        json.dumps(source, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        return " ".join(str(error).split())[:80]
    return ""


def _keys(memory: Memory) -> Iterator[tuple[str, str]]:
    """What a memory is found or grouped by, each with its name."""
    yield "id", memory.external_id
    for name in ("scope", "category", "thread", "reply_to", "language", "superseded_by"):
        yield name, getattr(memory, name) or ""
