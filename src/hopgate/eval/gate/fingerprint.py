"""What a saved gate consists of, piece by piece, each with its digest: a change is found, and named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

DIGITS = 12
# Sections of a gate whose entries are named one by one.
BY_ENTRY = ("qrels", "queries", "tuning", "slices")


def digest(value: Any) -> str:
    """Name a JSON value by its content.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}), digest(1.0) == digest(1.5)
    (True, False)
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def pieces(header: Mapping[str, Any], arms: Iterator[Mapping[str, Any]]) -> dict[str, str]:
    """Give every piece of a saved gate, in words, with its digest."""
    found: dict[str, str] = {}
    for section, value in header.items():
        if section in BY_ENTRY:
            entries = (
                value.items() if isinstance(value, dict) else ((row.get("id", row.get("name")), row) for row in value)
            )
            found |= {f"{section} of {name}": digest(entry) for name, entry in entries}
        else:
            found[section] = digest(value)
    for record in arms:
        found |= {f"{part} of the arm {record['name']}": digest(value) for part, value in record.items()}
    return found


def fingerprint_of(found: Mapping[str, str]) -> str:
    """Give the one fingerprint over all pieces.

    Examples
    --------
    >>> fingerprint_of({"k": "a1"}) != fingerprint_of({"k": "a2"})
    True
    """
    return digest(dict(found))


def changed_pieces(saved: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Name what was changed, added or taken away.

    Examples
    --------
    >>> changed_pieces({"k": "1", "space": "2"}, {"k": "9", "policy": "3"})
    ['k was changed', 'policy was added', 'space is missing']
    """
    told = {name: "was changed" for name in saved.keys() & now.keys() if saved[name] != now[name]}
    told |= dict.fromkeys(now.keys() - saved.keys(), "was added")
    told |= dict.fromkeys(saved.keys() - now.keys(), "is missing")
    return [f"{name} {what}" for name, what in sorted(told.items())]
