"""Ends that a language model judges: which open facts of earlier memories no longer hold after a new one.

"Moved to europa" ends "hosted on atlas" though no relation of theirs is the same. Each end is a fact that knows both
memories: what was, with its end. What that makes of edges is the interval code's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hopgate.errors import WithdrawnError
from hopgate.extract.extraction import ExtractorIdentity, Fact, Source
from hopgate.extract.model.answer import MODEL_CONFIDENCE
from hopgate.extract.model.judge import Ended, Judge
from hopgate.extract.runner import Progress
from hopgate.graph.build.changes import rederive_groups
from hopgate.graph.build.sink import read_alone
from hopgate.sending import guarded
from hopgate.store import extractions
from hopgate.store.build_lock import share
from hopgate.store.graph import changes, fact_rows, name_rows
from hopgate.store.graph.changes import OpenFact
from hopgate.store.graph.fact_rows import FactRow
from hopgate.times import moment

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

# Memories of one call, and open facts that each is asked about.
TOGETHER, MOST_OPEN = 16, 10


def read_judged_ends(
    store: Store, judge: Judge, identity: ExtractorIdentity, show: Callable[[Progress], object] = str
) -> None:
    """Ask about every memory that waits for it, in the order of their days; edges follow at once.

    Those of which one may not be read any more by then, or about which the model gives no answer, wait for the next
    build.
    """
    began, progress = time.monotonic(), Progress(stage="judging changes")
    waiting = store.run(lambda connection: changes.waiting(connection, identity.hash))
    for start in range(0, len(waiting), TOGETHER):
        ids = waiting[start : start + TOGETHER]
        sources = store.run(lambda connection, ids=ids: read_alone(connection, ids))  # type: ignore[misc]
        open_facts = store.run(
            lambda connection, ids=ids: changes.open_facts(connection, ids, limit=MOST_OPEN)  # type: ignore[misc]
        )
        try:
            ended = _asked(store, judge, sources, open_facts)
        except WithdrawnError:
            continue
        store.run(partial(_write, sources, open_facts, ended))
        done = start + len(ids)
        progress = replace(progress, memories=done, total=len(waiting), seconds=time.monotonic() - began)
        show(progress)


def _asked(
    store: Store, judge: Judge, sources: Mapping[int, Source], open_facts: Mapping[int, Sequence[OpenFact]]
) -> dict[int, Ended | None]:
    """What each memory ends; nothing where no fact is open."""
    asked = [key for key in sources if open_facts.get(key)]
    ended: dict[int, Ended | None] = dict.fromkeys(sources, Ended())
    if asked:
        read = [sources[key] for key in asked]
        facts = [[Fact(row.subject, row.relation, row.object) for row in open_facts[key]] for key in asked]
        with guarded(extractions.guard(store, read)):
            ended |= zip(asked, judge.ends(read, facts), strict=True)
    return ended


def _write(
    sources: Mapping[int, Source],
    open_facts: Mapping[int, Sequence[OpenFact]],
    ended: Mapping[int, Ended | None],
    connection: Connection[Any],
) -> None:
    """Write the ends that memories tell which are still what they were."""
    deriving = share(connection)
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    known = {row.id: row.recorded_at for row in extractions.readable(connection, list(sources.values())).values()}
    name_rows.lock(connection)
    there = fact_rows.existing(connection, [row.id for rows in open_facts.values() for row in rows])
    answered = {key: answer for key, answer in ended.items() if answer is not None and key in known}
    rows = []
    for key, answer in answered.items():
        for fact in (open_facts[key][place] for place in answer.places):
            if fact.id not in there:
                continue
            since = moment(answer.since) or known[key]
            start = fact.valid_from if fact.valid_from and fact.valid_from < since else None
            rows.append(
                FactRow(fact.memory_id, fact.subject_id, fact.relation, fact.object_id, MODEL_CONFIDENCE, start, since,
                        known[key], fact.scope, key)
            )  # fmt: skip
    fact_rows.add_facts(connection, rows)
    changes.set_compared(connection, list(answered), "judge")
    if deriving and rows:
        rederive_groups(connection, [row.memory_id for row in rows])
