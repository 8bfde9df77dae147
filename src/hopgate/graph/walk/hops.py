"""Hops in SQL: from seed concepts over one to three edges to memories, in one statement and without a matrix.

A recursive `UNION ALL` over edges explodes on hubs, and PostgreSQL allows no aggregate inside a recursion. So each hop
is a step of its own: join, sum by concept, keep the heaviest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hopgate.errors import HopgateError
from hopgate.store.graph.visible import View

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.graph.walk.matrix import GraphMatrix
    from hopgate.graph.walk.seeds import Restart

MOST_HOPS = 3
EVERYTHING = View()
NONE: Mapping[Any, Any] = {}


@dataclass(frozen=True, kw_only=True)
class Hops:
    """How far mass goes from the seed concepts, and how it spreads.

    A concept passes ``mass × decay × weight / strength ** degree`` along each of its edges, in either direction, where
    its strength is the weight of all its edges; a memory gets ``mass × weight / frequency ** degree`` from each concept
    it mentions, where its frequency is the number of memories that do.

    Parameters
    ----------
    hops : int
        How many edges to follow, 0 to 3; with 0 the seeds' own memories are ranked.
    decay : float
        What a hop keeps.
    degree : float
        1 shares a concept's mass out, as a random walk does; 0 gives each neighbour all of it, so that hubs win.
    beam : int
        How many concepts go on after each hop, the heaviest; 1,000 kept 92–100 % of the top 100 at 3 hops on the
        prototype's graph.
    depth : int
        How many memories the leg returns.

    Examples
    --------
    >>> Hops(hops=1)
    Hops(hops=1, decay=0.5, degree=1.0, beam=1000, depth=50)
    """

    hops: int = 2
    decay: float = 0.5
    degree: float = 1.0
    beam: int = 1000
    depth: int = 50

    def __post_init__(self) -> None:
        if not 0 <= self.hops <= MOST_HOPS:
            raise HopgateError(f"hops must be between 0 and {MOST_HOPS}, not {self.hops}")
        if not 0 < self.decay <= 1:
            raise HopgateError(f"decay must be above 0 and at most 1, not {self.decay}")
        if not (np.isfinite(self.degree) and self.degree >= 0):
            raise HopgateError(f"degree must be 0 or more, not {self.degree}")
        if self.beam < 1 or self.depth < 1:
            raise HopgateError(f"beam and depth count from 1, not {self.beam} and {self.depth}")


def hop_memories(
    connection: Connection[Any],
    seeds: Mapping[int, float],
    hops: Hops | None = None,
    view: View = EVERYTHING,
    *,
    namesakes: Mapping[int, int] = NONE,
    condition: str = "true",
    parameters: Mapping[str, Any] = NONE,
) -> list[tuple[int, float]]:
    """Rank memories by the mass that reaches them, best first; ties by id. Empty when nothing seeds.

    Parameters
    ----------
    seeds : mapping of concept id to weight
        Where the mass starts; it is scaled to 1. Concepts that are not there, and weights of 0, are left out.
    view : View, optional
        Only edges of these scopes, true then and known then, and only mentions of memories that were known then.
    namesakes : mapping of concept id to concept id
        Concepts of several scopes that are one, as in a `GraphMatrix`: each with the one that stands for it.
    condition, parameters : str and mapping
        Which memories may be returned: a condition on the columns of `memories` and its parameters, such as
        `Filters.sql` gives. What it leaves out is walked over and counted, and does not use up the depth.
    """
    hops = hops or Hops()
    start = {int(concept): float(weight) for concept, weight in seeds.items() if weight != 0}
    if not start:
        return []
    if not (np.isfinite(list(start.values())).all() and min(start.values()) > 0):
        raise HopgateError("a seed's weight must be a finite number and not negative")
    whole = sum(start.values())
    values = {
        **view.parameters(),
        **parameters,
        "hop_concepts": list(start),
        "hop_masses": [weight / whole for weight in start.values()],
        "hop_others": list(namesakes),
        "hop_firsts": list(namesakes.values()),
        "hop_decay": hops.decay,
        "hop_degree": hops.degree,
        "hop_beam": hops.beam,
        "hop_depth": hops.depth,
    }
    return [(row[0], row[1]) for row in connection.execute(_statement(hops.hops, view, condition), values)]


def concept_mass(matrix: GraphMatrix, start: Restart) -> dict[int, float]:
    """Give the concepts' ids where a walk would start, and how much of it; a memory's part goes to what it mentions."""
    split = matrix.graph.memories
    mentions = matrix.graph.matrix[:split, split:]
    mass = start.vector[split:] + mentions.T @ (start.vector[:split] / np.maximum(mentions.sum(axis=1), 1e-12))
    return {int(matrix.concept_ids[at]): float(mass[at]) for at in mass.nonzero()[0]}


# Sums of floats depend on the order of the rows; rounded, equal masses stay equal and ties are broken by id.
_BEST = "ORDER BY round(mass::numeric, 12) DESC, id"


def _statement(hops: int, view: View, condition: str) -> str:
    every = " UNION ALL ".join(f"SELECT id, mass FROM hop{number}" for number in range(hops + 1))
    steps = [
        "namesakes AS (SELECT * FROM unnest(%(hop_others)s::bigint[], %(hop_firsts)s::bigint[]) AS n (id, first))",
        "seeds AS (SELECT * FROM unnest(%(hop_concepts)s::bigint[], %(hop_masses)s::float8[]) AS s (id, mass))",
        f"hop0 AS ({_heaviest('SELECT id, mass FROM seeds WHERE id IN (SELECT id FROM concepts)')})",
        *(_hop(number, view.edges("e")) for number in range(1, hops + 1)),
        f"reached AS ({_heaviest(f'SELECT id, sum(mass) AS mass FROM ({every}) AS hops GROUP BY id')})",
        "mentioned AS (SELECT mc.memory_id AS id, r.mass * mc.weight / "
        "power(count(*) OVER (PARTITION BY r.id), %(hop_degree)s::float8) AS mass "
        f"FROM {_all_of('reached')} r JOIN memory_concepts mc ON mc.concept_id = r.concept "
        f"WHERE mc.memory_id IN (SELECT id FROM memories WHERE {view.memories()}))",
        "ranked AS (SELECT id, sum(mass) AS mass FROM mentioned GROUP BY id)",
    ]
    return (
        f"WITH {', '.join(steps)} SELECT id, mass FROM ranked WHERE mass > 0 AND id IN "
        f"(SELECT id FROM memories WHERE {condition}) {_BEST} LIMIT %(hop_depth)s"
    )


def _hop(number: int, visible: str) -> str:
    """One hop: the edges of the frontier both ways, a self-loop once, each with its share of the mass."""
    ways = [
        f"SELECT f.id AS source, e.{there} AS id, f.mass, e.weight FROM {_all_of(f'hop{number - 1}')} f "
        f"JOIN concept_edges e ON e.{here} = f.concept WHERE e.weight > 0 AND {visible}"
        for here, there in (("src_id", "dst_id"), ("dst_id", "src_id"))
    ]
    summed = (
        f"SELECT coalesce(n.first, s.id) AS id, %(hop_decay)s::float8 * sum(mass) AS mass FROM shared{number} s "
        "LEFT JOIN namesakes n USING (id) GROUP BY 1"
    )
    return (
        f"ways{number} AS ({ways[0]} UNION ALL {ways[1]} AND e.src_id <> e.dst_id), "
        f"shared{number} AS (SELECT id, mass * weight / power(sum(weight::float8) OVER (PARTITION BY source), "
        f"%(hop_degree)s::float8) AS mass FROM ways{number}), "
        f"hop{number} AS ({_heaviest(summed)})"
    )


def _all_of(frontier: str) -> str:
    """A frontier's rows, once for each of the concepts that are one."""
    return (
        f"(SELECT id, id AS concept, mass FROM {frontier} UNION ALL "
        f"SELECT f.id, n.id, f.mass FROM {frontier} f JOIN namesakes n ON n.first = f.id)"
    )


def _heaviest(select: str) -> str:
    return f"SELECT id, mass FROM ({select}) AS summed {_BEST} LIMIT %(hop_beam)s"
