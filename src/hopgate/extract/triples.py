"""`triples.jsonl`: facts and mentions, each with the memory that is its evidence. This is its one reader."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hopgate.extract.dates import iso
from hopgate.jsonl import field, json_lines, parse_json_lines, refuse

_FACT = ("subject", "relation", "object")
_OPTIONAL_TEXTS = ("type", "subject_type", "object_type", "valid_from", "valid_to")


@dataclass(frozen=True, slots=True)
class Triple:
    """A typed fact and the memory that is its evidence; a mention has a subject alone.

    Parameters
    ----------
    doc_id : str
        The memory's external id.
    subject, relation, object : str
        The fact; `relation` and `object` are empty for a mention.
    subject_type, object_type : str
        The kinds of the two names, empty where they are not given.
    valid_from, valid_to : str, optional
        The interval in which it is true, in ISO form, as precise as it was given.
    confidence : float, optional
        In 0..1; None where it was not given, which ``"confidence": null`` means too.

    Examples
    --------
    >>> Triple("m1", "immich", "runs on", "nas-2").is_fact, Triple("m1", "immich").is_fact
    (True, False)
    """

    doc_id: str
    subject: str
    relation: str = ""
    object: str = ""
    subject_type: str = ""
    object_type: str = ""
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float | None = None

    @property
    def is_fact(self) -> bool:
        """Whether it relates two concepts, or only mentions one."""
        return bool(self.relation)


def read_triples(path: Path | str, known: Collection[str] | None = None) -> tuple[Triple, ...]:
    """Read a file of facts and mentions.

    Parameters
    ----------
    path : path
        The `triples.jsonl`.
    known : collection of str, optional
        The ids that exist; a row about another is refused.

    Raises
    ------
    HopgateError
        For the first line that is neither a fact nor a mention, that names an unknown memory, or whose fields are not
        what they should be, naming file, line and reason.
    """
    return tuple(_triples(json_lines(path), path, known))


def parse_triples(stream: IO[bytes], name: Path | str, known: Collection[str] | None = None) -> Iterator[Triple]:
    """Read facts and mentions from an open stream, as `read_triples` does from a file; errors call it `name`.

    Examples
    --------
    >>> import io
    >>> rows = b'{"doc_id": "m1", "entity": "NAS", "type": "device"}'
    >>> [(triple.subject, triple.subject_type) for triple in parse_triples(io.BytesIO(rows), "triples.jsonl")]
    [('NAS', 'device')]
    """
    return _triples(parse_json_lines(stream, name), name, known)


def _triples(
    rows: Iterable[tuple[int, dict[str, Any]]], path: Path | str, known: Collection[str] | None
) -> Iterator[Triple]:
    for line, row in rows:
        doc_id = field(row, "doc_id", path, line)
        if known is not None and doc_id not in known:
            refuse(path, line, f"doc_id {doc_id[:80]!r} is not in the corpus: these triples are of other documents")
        for name in _OPTIONAL_TEXTS:
            if not isinstance(row.get(name), str | None):
                refuse(path, line, f"{name} must be a text")
        if any("\0" in value for value in row.values() if isinstance(value, str)):
            refuse(path, line, "it holds a NUL character")
        yield _mention(row, doc_id, path, line) if "entity" in row else _fact(row, doc_id, path, line)


def _mention(row: dict[str, Any], doc_id: str, path: Path | str, line: int) -> Triple:
    if any(name in row for name in _FACT):
        refuse(path, line, "both a fact (subject, relation, object) and a mention (entity): write two lines")
    return Triple(doc_id, _name(row, "entity", path, line), subject_type=row.get("type") or "")


def _fact(row: dict[str, Any], doc_id: str, path: Path | str, line: int) -> Triple:
    if not all(name in row for name in _FACT):
        refuse(path, line, "neither a fact (subject, relation, object) nor a mention (entity)")
    subject, relation, target = (_name(row, name, path, line) for name in _FACT)
    begin, end = (read_date(row, name, path, line) for name in ("valid_from", "valid_to"))
    if begin and end and begin > end:
        refuse(path, line, f"valid_to {end} is before valid_from {begin}")
    return Triple(
        doc_id,
        subject,
        relation,
        target,
        row.get("subject_type") or "",
        row.get("object_type") or "",
        begin,
        end,
        read_confidence(row, path, line),
    )


def _name(row: dict[str, Any], name: str, path: Path | str, line: int) -> str:
    return " ".join(field(row, name, path, line).split())


def read_confidence(row: dict[str, Any], path: Path | str, line: int) -> float | None:
    """The confidence of a row, in 0..1; none where it has none."""
    value = row.get("confidence")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        refuse(path, line, f"confidence must be a number between 0 and 1, not {value!r}")
    return float(value)


def read_date(row: dict[str, Any], name: str, path: Path | str, line: int) -> str | None:
    """A date of a row in ISO form, as precise as it was given; none where it has none."""
    value: str | None = row.get(name)
    if not value:
        return None
    # The first ten characters are the day of a date with a time.
    date = iso(value) or iso(value[:10])
    if date is None:
        refuse(path, line, f"{name} must be an ISO date, not {value[:40]!r}")
    return date
