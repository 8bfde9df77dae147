"""`triples.jsonl`: facts and mentions with the memory that says so, checked against the corpus."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.jsonl import field, json_lines, refuse


@dataclass(frozen=True, slots=True)
class Triple:
    """A typed fact and the memory that is its evidence; a mention has a subject alone.

    Examples
    --------
    >>> Triple("m1", "immich", "runs on", "nas-2").is_fact
    True
    """

    memory: str
    subject: str
    relation: str = ""
    object: str = ""

    @property
    def is_fact(self) -> bool:
        """Whether it relates two concepts, or only mentions one."""
        return bool(self.relation)


def read_triples(path: Path, known: AbstractSet[str]) -> tuple[Triple, ...]:
    """Read the facts and mentions of the known memories.

    Raises
    ------
    HopgateError
        For a line that is neither a fact nor a mention, that names a memory not in the corpus, or whose confidence is
        not a number in 0..1.
    """
    triples = []
    for line, row in json_lines(path):
        memory = field(row, "doc_id", path, line)
        if memory not in known:
            refuse(path, line, f"doc_id {memory!r} is not in the corpus: these triples are of other documents")
        triples.append(_triple(row, memory, path, line))
    if not triples:
        raise HopgateError(f"{path} is empty: remove it to have the facts extracted from the corpus")
    return tuple(triples)


def _triple(row: dict[str, Any], memory: str, path: Path, line: int) -> Triple:
    if "entity" in row:
        return Triple(memory, field(row, "entity", path, line))
    if not {"subject", "relation", "object"} <= row.keys():
        refuse(path, line, "neither a fact (subject, relation, object) nor a mention (entity)")
    confidence = row.get("confidence", 1.0)
    if (
        isinstance(confidence, bool)
        or not isinstance(confidence, int | float)
        or not 0 <= confidence <= 1
        or math.isnan(confidence)
    ):
        refuse(path, line, f"confidence must be a number between 0 and 1, not {confidence!r}")
    return Triple(memory, *(field(row, name, path, line) for name in ("subject", "relation", "object")))
