"""A line of `corpus.jsonl`, the exchange format of memories: what it may say, and how it is written as it came in."""

import difflib
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from hopgate.errors import HopgateError
from hopgate.memory import DEFAULT_IMPORTANCE, Memory, configuration
from hopgate.times import utc


def parse_memory(record: object, keep_unknown: bool = False) -> Memory:
    """Make a memory of a parsed line; a field that is not a memory's is refused, or kept in `extra`.

    Well-known fields lie in `metadata` or at the top level; an export writes them into `metadata`.

    Examples
    --------
    >>> parse_memory({"_id": "m1", "title": "NAS", "text": "It hums.", "metadata": {"tags": ["homelab"]}}).tags
    ('homelab',)
    >>> parse_memory({"_id": "m1", "text": "It hums.", "isSensitive": True})
    Traceback (most recent call last):
    hopgate.errors.HopgateError: 'isSensitive' is not a field of a memory: did you mean 'is_sensitive'?
    """
    if not isinstance(record, dict):
        raise HopgateError("a memory is a JSON object")
    metadata = record.get("metadata")
    if not isinstance(metadata, dict | None):
        raise HopgateError("metadata must be an object")
    inside = metadata or {}
    top = {name: value for name, value in record.items() if name not in ("_id", "text", "title", "metadata")}
    for name in top.keys() & inside.keys() if top else ():
        raise HopgateError(f"{name!r} is given twice, at the top level and in metadata: keep one of them")
    known: dict[str, Any] = {}
    for place, fields, names in (("", top, TOP), ("metadata", inside, INSIDE)):
        if unknown := [name for name in fields if name not in names]:
            check_unknown(unknown, place, kept=keep_unknown)
        known.update(fields)
    for name in REQUIRED:
        if record.get(name) is None:
            raise HopgateError(f"the field {name!r} is missing" if name not in record else f"{name} must be a string")
    if not isinstance(extra := known.get(EXTRA), dict | None):
        raise HopgateError(f"{EXTRA} must be an object, not {kind(extra)}")
    if "is_sensitive" in known and known["is_sensitive"] is None:
        raise HopgateError("is_sensitive is empty: say true or false")
    # An id, a text or another field may hold texts alone; what else there is is kept, and looked into.
    for name, value in known.items():
        if isinstance(value, dict | list):
            check_flags(value, name)
    for name in NOTED:
        read_key(known.get(name), name)
    values = {name: READERS[name](value, name) for name, value in known.items() if name in READERS}
    return Memory(
        read_text(record["_id"], "_id"),
        read_text(record["text"], "text"),
        title=read_text(record.get("title"), "title"),
        **{**values, "thread": values.get("thread") or known.get("session")},
        extra={**(extra or {}), **{name: value for name, value in known.items() if name not in INSIDE}},
        source={name: value for name, value in known.items() if name in INSIDE and not (name == EXTRA and value)},
    )


def to_record(memory: Memory, *, dated: bool = False) -> dict[str, Any]:
    """Give a memory back as it came in; only fields that changed since are written anew.

    Where it is `dated`, the date of arrival is written for a memory that came without one: another store has it too.
    """
    metadata = {**(memory.source or {}), **({EXTRA: memory.extra} if memory.extra else {})}
    # A field that is the same now as it was read is not written anew.
    before = {name: read(metadata.get(name), name) for name, read in READERS.items()}
    before["thread"] = before["thread"] or metadata.get("session")
    for name in READERS:
        now, old = getattr(memory, name), before[name]
        # A memory that came without a date has the date of its arrival, which was not in the file.
        arrived = name == "created_at" and memory.source is not None and old is None and not dated
        if now == (utc(old) if isinstance(old, datetime) else old) or arrived:
            continue
        metadata[name] = now.isoformat() if isinstance(now, datetime) else list(now) if isinstance(now, tuple) else now
    record = {"_id": memory.external_id, "title": memory.title, "text": memory.text, "metadata": metadata}
    return {name: value for name, value in record.items() if value or name in REQUIRED}


# ---- Fields ----------------------------------------------------------------------------------------------------------

REQUIRED = ("_id", "text")
EXTRA = "extra"
"""Where what hopgate does not know is kept: an object with anything in it."""


def read_text(value: Any, name: str) -> str:
    """Read a text; nothing is the empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise HopgateError(f"{name} must be a string, not {kind(value)}")
    return value


def read_key(value: Any, name: str) -> str | None:
    """Read a text that may be missing."""
    return None if value is None else read_text(value, name)


def read_list(value: Any, name: str) -> tuple[str, ...]:
    """Read a list of texts; one text is a list of one."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise HopgateError(f"{name} must be a list of strings")
    return tuple(value)


def read_share(value: Any, name: str) -> float:
    """Read a number between 0 and 1."""
    if value is None:
        return DEFAULT_IMPORTANCE
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HopgateError(f"{name} must be a number between 0 and 1, not {kind(value)}")
    if not 0 <= value <= 1:
        raise HopgateError(f"{name} must be between 0 and 1, not {value}")
    return float(value)


def read_flag(value: Any, name: str) -> bool:
    """Read true or false, and nothing that only looks like it."""
    if not isinstance(value, bool | None):
        raise HopgateError(f"{name} must be true or false, not {kind(value)}")
    return bool(value)


def read_moment(value: Any, name: str) -> datetime | None:
    """Read an ISO 8601 date or time."""
    text = read_key(value, name)
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise HopgateError(f"{name} must be an ISO 8601 date or time, not {text[:40]!r}") from None


def read_language(value: Any, name: str) -> str | None:
    """Read a language's name or code, as PostgreSQL calls it."""
    return configuration(read_key(value, name))


# Every field of a memory but its id, text and title; each may lie in `metadata` or at the top.
READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "tags": read_list,
    "category": read_key,
    "expanded_keywords": read_list,
    "importance": read_share,
    "is_sensitive": read_flag,
    "scope": read_key,
    "created_at": read_moment,
    "thread": read_key,
    "reply_to": read_key,
    "language": read_language,
    "superseded_by": read_key,
    "superseded_at": read_moment,
}
# What a memory is read with and does not keep as a field: another word for its thread, and who "I" is in it.
NOTED = ("session", "owner")
TOP = (*REQUIRED, "title", "metadata", EXTRA, *READERS, *NOTED)
INSIDE = (*READERS, *NOTED, EXTRA)
# The columns of a table of memories.
COLUMNS = ("_id", "title", "text", *READERS, EXTRA)
# What a spreadsheet takes for a formula, and would run.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def no_formula(cell: str) -> str:
    """Give a cell that begins as a formula does a quotation mark before it; `as_written` takes it away.

    Examples
    --------
    >>> no_formula("=1+1"), as_written("'=1+1"), as_written(no_formula("'-x")), no_formula("'tis")
    ("'=1+1", '=1+1', "'-x", "'tis")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def as_written(cell: str) -> str:
    """Give back what `no_formula` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


# What other programs call these fields: never taken for them in silence, only offered.
SYNONYMS = {
    "is_sensitive": "sensitive private secret confidential hidden is_private is_secret sensitivity nsfw",
    "created_at": "date created timestamp time datetime created_on when created_time ctime",
    "_id": "id uuid key identifier external_id doc_id docid",
    "text": "body content message note contents",
    "importance": "priority weight score rating salience",
    "expanded_keywords": "keywords keyword aliases",
    "tags": "tag labels label hashtags",
    "category": "type kind",
    "title": "subject heading name headline",
    "scope": "user user_id session_id namespace",
    "thread": "thread_id conversation conversation_id chat_id channel",
    "reply_to": "in_reply_to parent parent_id replyto",
    "language": "lang locale",
    "metadata": "meta",
}
_MEANT = {other: name for name, others in SYNONYMS.items() for other in others.split()}
# Two names of which this share of letters agrees are one name misspelt: importnace is 0.9, weight and height 0.83.
ALIKE = 0.84


def lookalike(name: str) -> str | None:
    """Give the field that a name is a misspelling of, by its letters alone.

    Examples
    --------
    >>> lookalike("isSensitive"), lookalike("Importnace"), lookalike("url")
    ('is_sensitive', 'importance', None)
    """
    plain = _plain(name)
    best = max(TOP, key=lambda known: _likeness(plain, known))
    return best if _likeness(plain, best) >= ALIKE else None


def nearest(name: str) -> str | None:
    """Give the field that a name most likely means: misspelt, or called so by another program."""
    in_small_letters = re.sub(r"[\s\-.]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).lower()
    return lookalike(name) or _MEANT.get(in_small_letters)


def check_unknown(names: list[str], place: str, *, kept: bool) -> None:
    """Refuse the first of some unknown fields; where they are kept, only what may be a known one in disguise.

    `place` is where they lie: "" for the top level. Where they are kept, a misspelt field is refused still, and any
    that speaks of sensitivity.
    """
    for name in names:
        if name in TOP:
            raise HopgateError(f"{name!r} belongs at the top level of a memory, not in {place}")
        near = nearest(name)
        # A further id beside the memory's own is no mistake.
        if kept and near != "is_sensitive" and (lookalike(name) is None or near == "_id"):
            continue
        advice = f"did you mean {near!r}?" if near else f"put it into {EXTRA!r}, or keep such fields: --keep-unknown"
        raise HopgateError(f"{name[:80]!r} is not a field of {place or 'a memory'}: {advice}")


def check_flags(value: Any, place: str) -> None:
    """Refuse what speaks of sensitivity at any depth of a value that is only kept: nobody would look there.

    Examples
    --------
    >>> check_flags({"meta": [{"private": True}]}, "extra")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: 'private' in extra is not read: write is_sensitive at the top level of the memory
    """
    left = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, dict):
            for name in inner:
                if _is_flag(str(name)):
                    sentence = f"{str(name)[:80]!r} in {place} is not read: write is_sensitive at the top level"
                    raise HopgateError(f"{sentence} of the memory")
            left += inner.values()
        elif isinstance(inner, list):
            left += inner


@lru_cache(maxsize=4096)
def _is_flag(name: str) -> bool:
    return len(name) < 100 and nearest(name) == "is_sensitive"


def kind(value: object) -> str:
    """Say what a JSON value is."""
    return {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}.get(
        type(value), "an object"
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _likeness(plain: str, known: str) -> float:
    # No more letters can agree than the shorter has: a name of a megabyte need not be compared.
    if 2 * len(_plain(known)) < ALIKE * (len(plain) + len(_plain(known))):
        return 0.0
    return difflib.SequenceMatcher(None, plain, _plain(known), autojunk=False).ratio()
