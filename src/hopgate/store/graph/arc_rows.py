"""Arcs between memories: which were said just before one another, and which answers which.

They follow from the memories alone, so that nothing has to be kept in step: they are derived where the matrix is
loaded, by one sort of the memories that are in a thread. A memory that is added, deleted or made sensitive changes what
its neighbours are joined to at the next version of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.store.bulk import Column, read
from hopgate.store.memories import in_scopes

if TYPE_CHECKING:
    from psycopg import Connection

FOLLOWS = "follows"
REPLIES = "replies to"
ARC_KINDS = (FOLLOWS, REPLIES)

# A mention weighs 1. Measured on locomo (docs/research/neighbours.md): twice that, 0.6 a step and up to two steps; a
# weight of 1 to 3 and one step more or less are alike within 0.01.
FULL_WEIGHT = 2.0
STEP = 0.6
# What is left of an arc after a gap in time: half after an hour between memories that only share a category, which is
# how chats without a thread look and how notes filed under "homelab" do not; half after a day in a thread that was
# named, and never less than a quarter there.
CATEGORY_HALF_S = 3600.0
THREAD_HALF_S = 86400.0
THREAD_LEAST = 0.25
# An arc with less than this left is none: in a category, four hours and a half.
LEAST = 0.05

# Sensitive memories keep their places, so that nobody is joined over them: an arc of two steps is left out where the
# one between is sensitive. Memories that came undated in one load have one time, which says nothing about their order.
_FOLLOWING = """(
WITH {placed}, steps AS (
  SELECT id, next AS other, 1 AS steps, named, dated, extract(epoch FROM next_at - created_at)::float8 AS gap
  FROM placed WHERE next IS NOT NULL
  UNION ALL
  SELECT id, later, 2, named, dated, extract(epoch FROM later_at - created_at)::float8
  FROM placed WHERE later IS NOT NULL AND NOT next_hidden
), faded AS (
  SELECT id, other, steps, CASE
    WHEN named THEN greatest(%(thread_least)s, power(0.5::float8, least(gap / %(thread_half)s, 60)))
    WHEN gap = 0 AND NOT dated THEN 0
    ELSE power(0.5::float8, least(gap / %(category_half)s, 60)) END AS left_over
  FROM steps
)
SELECT id, other, (%(full)s * power(%(step)s::float8, steps) * left_over)::real AS weight
FROM faded WHERE left_over >= %(least)s) AS arcs"""
_ALL_PLACED = """placed AS (
  SELECT id, created_at, dated, thread IS NOT NULL AS named,
    lead(id) OVER thread AS next, lead(created_at) OVER thread AS next_at,
    lead(is_sensitive) OVER thread AS next_hidden,
    lead(id, 2) OVER thread AS later, lead(created_at, 2) OVER thread AS later_at
  FROM memories WHERE coalesce(thread::text, category::text) IS NOT NULL AND created_at IS NOT NULL{within}
  WINDOW thread AS (
    PARTITION BY scope, thread IS NOT NULL, coalesce(thread::text, category::text) ORDER BY created_at, id)
)"""
_REPLYING = (
    "memories m JOIN memories o ON o.external_id = m.reply_to::text AND o.scope IS NOT DISTINCT FROM m.scope "
    "WHERE m.reply_to IS NOT NULL AND o.id <> m.id"
)
_VALUES = {
    "full": FULL_WEIGHT,
    "step": STEP,
    "least": LEAST,
    "thread_half": THREAD_HALF_S,
    "thread_least": THREAD_LEAST,
    "category_half": CATEGORY_HALF_S,
}


@dataclass(frozen=True, eq=False, slots=True)
class Arcs:
    """Pairs of memories: of those that follow each other the earlier is the source, of an answer the answer.

    `kind` is a number into `ARC_KINDS`.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float32]
    kind: NDArray[np.int32]

    def joined_once(self) -> Arcs:
        """Give them without those that follow each other and are joined as an answer too."""
        answers = self.kind == ARC_KINDS.index(REPLIES)
        if not answers.any():
            return self
        _, place = np.unique(np.concatenate([self.source, self.target]), return_inverse=True)
        first, second = np.split(place.astype(np.int64), 2)
        pair = np.minimum(first, second) * len(place) + np.maximum(first, second)
        kept = answers | ~np.isin(pair, pair[answers])
        return Arcs(self.source[kept], self.target[kept], self.weight[kept], self.kind[kept])


def arcs(connection: Connection[Any], scopes: Sequence[str] | None = None) -> Arcs:
    """Every arc, those of sensitive or superseded memories too: whoever loads them leaves out what they do not show.

    Two memories may be joined twice: an answer that follows at once. `Arcs.joined_once` leaves the answer. A memory
    without a time follows nothing.

    Parameters
    ----------
    scopes : sequence of str, optional
        Only those of these scopes: an arc joins memories of one.
    """
    asked = {"scopes": None if scopes is None else list(scopes)}
    placed = _ALL_PLACED.format(within=in_scopes(scopes))
    follows = read(connection, _ARC, _FOLLOWING.format(placed=placed), {**_VALUES, **asked})
    both = "" if scopes is None else " AND m.scope = ANY(%(scopes)s) AND o.scope = ANY(%(scopes)s)"
    return _joined(follows, read(connection, _ENDS, f"{_REPLYING}{both}", asked))


_ARC = {"source": Column("i8", "id"), "target": Column("i8", "other"), "weight": Column("f4", "weight")}
_ENDS = {"source": Column("i8", "m.id"), "target": Column("i8", "o.id")}


def _joined(follows: Mapping[str, NDArray[Any]], replies: Mapping[str, NDArray[Any]]) -> Arcs:
    count = len(replies["source"])
    return Arcs(
        np.concatenate([follows["source"], replies["source"]]),
        np.concatenate([follows["target"], replies["target"]]),
        np.concatenate([follows["weight"], np.full(count, FULL_WEIGHT * STEP, np.float32)]),
        np.repeat(np.arange(2, dtype=np.int32), [len(follows["source"]), count]),
    )
