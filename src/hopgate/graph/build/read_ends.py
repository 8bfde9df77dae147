"""What ends something, as the rules have it, read together with what it ends: where that does not, nothing is over.

"The gym is on Fridays" after "the gym is on Tuesdays" is a change, and "the gym course is on Fridays" is none: by their
words the two are the same to a rule. `derive` notes who ends what, and leaves out what this says to end nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.embed.bundled import cores
from hopgate.extract.extraction import Source
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.progress import Progress
from hopgate.extract.tagger.ended_values import may_end
from hopgate.graph.build.follow import follow_change
from hopgate.graph.build.store_context import read_alone
from hopgate.store import extractions
from hopgate.store.build_lock import share
from hopgate.store.graph import end_rows, fact_rows, name_rows
from hopgate.store.graph.end_rows import NotedEnd

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

# Pairs that are read at a time.
BATCH = 64
_FIRST = NotedEnd(0, 0)


class _Ends(NamedTuple):
    """Ends, and the texts of their memories by their ids; one that may not be read has none."""

    ends: list[NotedEnd]
    texts: dict[int, Source]


def read_ends(store: Store, identity: ExtractorIdentity, show: Callable[[Progress], object] = str) -> None:
    """Read every end that was noted of an extractor's memories; where one is none, edges follow after all are read.

    What is derived anew may end by another memory, which is read in its turn.
    """
    began, done = time.monotonic(), 0

    def count(read: int) -> None:
        nonlocal done
        done += read
        show(Progress(stage="reading ends", memories=done, seconds=time.monotonic() - began))

    with ThreadPoolExecutor(cores(), thread_name_prefix="hopgate-ends") as pool:
        while (refuted := _read_all(store, identity, pool, count)).ends:
            store.run(partial(_take_back, refuted))


def _read_all(
    store: Store, identity: ExtractorIdentity, pool: ThreadPoolExecutor, count: Callable[[int], None]
) -> _Ends:
    """Read what was noted, let stand what may be an end, and give the others."""
    none = _Ends([], {})
    after = _FIRST
    while ends := (page := store.run(partial(_unread, identity, after))).ends:
        answers = list(pool.map(partial(_may_end, page.texts), ends))
        store.run(partial(_let_stand, [end for end, may in zip(ends, answers, strict=True) if may]))
        for end, may in zip(ends, answers, strict=True):
            if not may:
                none.ends.append(end)
                none.texts.update((key, page.texts[key]) for key in end)
        after = ends[-1]
        count(len(ends))
    return none


def _unread(identity: ExtractorIdentity, after: NotedEnd, connection: Connection[Any]) -> _Ends:
    ends = end_rows.unread(connection, identity.hash, after, BATCH)
    return _Ends(ends, read_alone(connection, {key for end in ends for key in end}))


def _may_end(texts: dict[int, Source], end: NotedEnd) -> bool:
    earlier, later = (texts.get(key) for key in end)
    return earlier is None or later is None or may_end(earlier, later)


def _let_stand(ends: Sequence[NotedEnd], connection: Connection[Any]) -> None:
    end_rows.set_read(connection, ends, is_end=None)


def _take_back(refuted: _Ends, connection: Connection[Any]) -> None:
    """Write of which memories nothing is ended, where both are still what they were, and derive what follows.

    Who changed meanwhile has taken what was noted of it along.
    """
    share(connection)
    # Every writer of both locks memories first and the graph second, so that no two wait for each other.
    readable = extractions.readable(connection, list(refuted.texts.values()))
    name_rows.lock(connection)
    unchanged = {row.id for row in readable.values()}
    sure = [end for end in refuted.ends if unchanged.issuperset(end)]
    end_rows.set_read(connection, refuted.ends, is_end=None)
    end_rows.set_read(connection, sure, is_end=False)
    later = sorted({end.later_id for end in sure})
    follow_change(connection, groups=fact_rows.groups_of_memories(connection, later))
