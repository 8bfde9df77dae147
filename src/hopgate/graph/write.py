"""A batch of extractions becomes part of the graph: names, mentions, facts, and the edges that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.extract.extraction import Extraction
from hopgate.graph.derive import derive
from hopgate.graph.linking import link, link_names
from hopgate.graph.moments import moment
from hopgate.graph.names import normalise
from hopgate.store import names, said, version
from hopgate.store.names import NameRow
from hopgate.store.said import FactRow

if TYPE_CHECKING:
    from psycopg import Connection

# A name of more characters is a sentence that a model mistook for one; an index entry could not hold it.
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Said:
    """What an extractor said of one memory; it became known when the memory was made."""

    memory_id: int
    recorded_at: datetime
    extraction: Extraction


def add(connection: Connection[Any], batch: Sequence[Said], *, deriving: bool = True) -> list[NameRow]:
    """Write what was said, in the caller's transaction; give the names that were not known before.

    Parameters
    ----------
    deriving : bool
        Whether edges and memories' concepts follow at once. A backfill derives once, after canonicalisation.
    """
    names.lock(connection)
    wanted = _names(batch)
    known = names.ensure(connection, wanted)
    fresh = [row for row in known.values() if row.is_new]
    mentions, facts = [], []
    for one in batch:
        for mention in one.extraction.mentions:
            if row := known.get(normalise(mention.name)):
                mentions.append((one.memory_id, row.id, mention.kind or None))
        for fact in one.extraction.facts:
            subject, object_ = known.get(normalise(fact.subject)), known.get(normalise(fact.object))
            start, end = moment(fact.valid_from), moment(fact.valid_to)
            if subject is None or object_ is None or not fact.relation.strip() or _backwards(start, end):
                continue
            facts.append(
                FactRow(one.memory_id, subject.id, fact.relation[:MAX_NAME], object_.id, fact.confidence, start, end,
                        one.recorded_at)
            )  # fmt: skip
    said.ensure_relations(connection, (fact.relation for fact in facts))
    said.add_mentions(connection, mentions)
    said.add_facts(connection, facts)
    if deriving:
        memory_ids = [one.memory_id for one in batch]
        link(connection, memory_ids)
        derive(connection, said.groups_of_memories(connection, memory_ids))
        link_names(connection, fresh)
    version.bump(connection)
    return fresh


def _backwards(start: datetime | None, end: datetime | None) -> bool:
    return start is not None and end is not None and end < start


def _names(batch: Sequence[Said]) -> dict[str, tuple[str, str | None]]:
    """Every name of a batch by its normal form; the first spelling and the first kind win."""
    wanted: dict[str, tuple[str, str | None]] = {}
    for one in batch:
        told = [(mention.name, mention.kind or None) for mention in one.extraction.mentions]
        told += [(name, None) for fact in one.extraction.facts for name in (fact.subject, fact.object)]
        for name, kind in told:
            normal = normalise(name)
            if not normal or len(normal) > MAX_NAME or len(name) > 2 * MAX_NAME:
                continue
            spelling, first = wanted.get(normal, (name, None))
            wanted[normal] = (spelling, first or kind)
    return wanted
