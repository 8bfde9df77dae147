"""Arcs between memories: which were said just before one another, and which answers which.

They follow from the memories alone, so that nothing has to be kept in step: they are derived where the matrix is
loaded, by one sort of the memories that are in a thread. A memory that is added, deleted or made sensitive changes what
its neighbours are joined to at the next version of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopgate.store.bulk import Column, read

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
WITH placed AS (
  SELECT id, created_at, dated, thread IS NOT NULL AS named,
    lead(id) OVER thread AS next, lead(created_at) OVER thread AS next_at,
    lead(coalesce(is_sensitive, true)) OVER thread AS next_hidden,
    lead(id, 2) OVER thread AS later, lead(created_at, 2) OVER thread AS later_at
  FROM memories WHERE coalesce(thread::text, category::text) IS NOT NULL
  WINDOW thread AS (
    PARTITION BY scope, thread IS NOT NULL, coalesce(thread::text, category::text) ORDER BY created_at, id)
), steps AS (
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
_REPLYING = (
    "memories m JOIN memories o ON o.external_id = m.reply_to::text AND o.scope IS NOT DISTINCT FROM m.scope "
    "WHERE m.reply_to IS NOT NULL AND o.id <> m.id"
)


@dataclass(frozen=True, eq=False, slots=True)
class Arcs:
    """Pairs of memories: of those that follow each other the earlier is the source, of an answer the answer.

    `kind` is a number into `ARC_KINDS`.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float32]
    kind: NDArray[np.int32]


def arcs(connection: Connection[Any]) -> Arcs:
    """Every arc, those of sensitive or superseded memories too: whoever loads them leaves out what they do not show.

    Two memories are joined once: an answer that follows at once is an answer.
    """
    follows = read(
        connection,
        {"source": Column("i8", "id"), "target": Column("i8", "other"), "weight": Column("f4", "weight")},
        _FOLLOWING,
        {
            "full": FULL_WEIGHT,
            "step": STEP,
            "least": LEAST,
            "thread_half": THREAD_HALF_S,
            "thread_least": THREAD_LEAST,
            "category_half": CATEGORY_HALF_S,
        },
    )
    replies = read(connection, {"source": Column("i8", "m.id"), "target": Column("i8", "o.id")}, _REPLYING)
    answered = {frozenset(pair) for pair in zip(replies["source"].tolist(), replies["target"].tolist(), strict=True)}
    other = np.ones(len(follows["source"]), bool)
    if answered:
        pairs = zip(follows["source"].tolist(), follows["target"].tolist(), strict=True)
        other = np.array([frozenset(pair) not in answered for pair in pairs], bool)
    count = len(replies["source"])
    return Arcs(
        np.concatenate([follows["source"][other], replies["source"]]),
        np.concatenate([follows["target"][other], replies["target"]]),
        np.concatenate([follows["weight"][other], np.full(count, FULL_WEIGHT * STEP, np.float32)]),
        np.repeat(np.arange(2, dtype=np.int32), [int(other.sum()), count]),
    )
