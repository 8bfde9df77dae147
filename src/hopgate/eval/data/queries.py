"""`queries.jsonl`: the questions, with what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as member
from datetime import datetime
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.jsonl import field, json_lines, refuse
from hopgate.times import utc


@dataclass(frozen=True)
class Query:
    """A question to recall for.

    Parameters
    ----------
    id, text : str
        Its id, and what is asked.
    metadata : mapping
        `type`, `hops`, `stratum`, `scope`, and whatever else was written beside it.

    Examples
    --------
    >>> Query("q1", "Who owns the NAS?", {"hops": 2, "type": "bridge"}).hops
    2
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = member(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of a saved gate."""
        return {"id": self.id, "text": self.text, "metadata": dict(self.metadata)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Query:
        """Make it from a saved gate's record."""
        return cls(record["id"], record["text"], record["metadata"])

    @property
    def hops(self) -> int | None:
        """How many memories must be put together, where it is known."""
        hops = self.metadata.get("hops")
        return hops if isinstance(hops, int) else None

    @property
    def type(self) -> str | None:
        """The kind of question, where it is known."""
        return _text(self.metadata.get("type"))

    @property
    def stratum(self) -> str | None:
        """`exact`, `paraphrase` or `multi-hop`, where it is known."""
        return _text(self.metadata.get("stratum"))

    def moment(self, name: str) -> datetime | None:
        """Give the date that it is asked `as_of` or `known_at`, where its metadata has one."""
        date = self.metadata.get(name)
        return utc(datetime.fromisoformat(date)) if isinstance(date, str) else None

    @property
    def scope(self) -> str | None:
        """The only scope it may be answered from, where there is one."""
        return _text(self.metadata.get("scope"))


def read_queries(path: Path) -> dict[str, Query]:
    """Read a file of queries."""
    queries: dict[str, Query] = {}
    lines: dict[str, int] = {}
    for line, row in json_lines(path):
        name, text = field(row, "_id", path, line), field(row, "text", path, line)
        metadata = row.get("metadata") or {}
        if name in queries:
            refuse(path, line, f"_id {name!r} stands already on line {lines[name]}")
        if not isinstance(metadata, dict):
            refuse(path, line, "metadata must be an object")
        hops = metadata.get("hops")
        if hops is not None and (isinstance(hops, bool) or not isinstance(hops, int) or hops < 1):
            refuse(path, line, f"hops must be a whole number of at least 1, not {hops!r}")
        for key in ("type", "stratum", "scope"):
            if not isinstance(metadata.get(key), str | None):
                refuse(path, line, f"{key} must be a text")
        queries[name] = Query(name, text, metadata)
        lines[name] = line
    if not queries:
        raise HopgateError(f"{path} holds no queries")
    return queries


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
