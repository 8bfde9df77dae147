"""Where walks start: the base's hits and statements, names in the query, and the nearest facts.

PageRank is linear in its restart, so that one walk from all of them is the mixture of a walk from each.
The numbers were measured on dev queries: docs/measurements.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from hopgate.graph.walk.config import COMMON_SHARES, Shares
from hopgate.graph.walk.matrix import GraphMatrix
from hopgate.graph.walk.walk_graph import WalkGraph

Scored = Sequence[tuple[int, float]]

# A hit of the base weighs exp((score - best score) / this); where hits have no neighbours the cosine's part of that is
# exp(cosine / COSINE_TEMPERATURE) (`by_cosine`).
BASE_TEMPERATURE, COSINE_TEMPERATURE = 0.15, 0.05
# So many facts are looked at; each weighs exp((cosine - best cosine) / this). One whose cosine is so far below that of
# the nearest memory seeds nothing.
NEAR_FACTS, FACT_TEMPERATURE, FACT_FLOOR = 20, 0.03, 0.25
# So many statements are looked at; their memories have this part of the memories' mass.
NEAR_STATEMENTS, STATEMENT_TEMPERATURE, STATEMENT_PART = 50, 0.05, 0.35
# A concept's weight is divided by its document frequency to this power.
SPECIFICITY = 0.75


class NearFact(NamedTuple):
    """A fact near the query: the two concepts it joins, numbered from 0, and its cosine."""

    source: int
    target: int
    similarity: float


def memory_mass(base: Scored, statements: Scored = ()) -> dict[int, float]:
    """Share the walks that start at memories out among the base's hits and the memories of the nearest statements.

    A memory adds up its statements. What is given sums to 1, or is nothing.
    """
    parts = [
        (1 - STATEMENT_PART if statements else 1.0, base, BASE_TEMPERATURE),
        (STATEMENT_PART if base else 1.0, statements, STATEMENT_TEMPERATURE),
    ]
    mass: dict[int, float] = {}
    for part, scored, temperature in parts:
        best = max((score for _, score in scored), default=0.0)
        weights = [(memory, exp((score - best) / temperature)) for memory, score in scored]
        whole = sum(weight for _, weight in weights)
        for memory, weight in weights:
            mass[memory] = mass.get(memory, 0.0) + part * weight / whole
    return mass


def part_alone(matrix: GraphMatrix, mass: Mapping[int, float]) -> float:
    """Give the part of some memories' mass, of those that the graph has, that is at memories without neighbours."""
    graph, weights, nodes = matrix.graph, np.array(list(mass.values())), matrix.memories(list(mass))
    linked = np.flatnonzero(nodes >= 0)
    linked = linked[~graph.dangling[nodes[linked]]]
    # A row is in order: memories come first.
    alone = graph.indices[graph.indptr[nodes[linked]]] >= graph.memories
    return float(weights[linked] @ alone / weights[linked].sum()) if len(linked) else 0.0


def by_cosine(base: Scored, cosines: Mapping[int, float], part: float, *, dense: float) -> Scored:
    """Give the base's scores with cosines as they are, which the base stretched from the pool's least to its most.

    In a conversation a weak hit is worth walking from: the turns around it are often hits too, and their walks meet. A
    passage that follows nothing brings itself alone, so that it starts walks only where it really is near. A hit
    without a cosine, which could not be seen, moves as the others do on average. Measured: docs/measurements.md.

    `cosines` are those of the pool, `dense` is the weight that the base gave them, and `part` how much of the base
    stands alone (`part_alone`): with 0 its scores stay.
    """
    span = max(cosines.values()) - min(cosines.values()) if cosines else 0.0
    if not span > 0:
        return base
    steeper = part * (BASE_TEMPERATURE / COSINE_TEMPERATURE - dense / span)
    moved = {memory: steeper * (cosines[memory] - max(cosines.values())) for memory, _ in base if memory in cosines}
    usual = sum(moved.values()) / len(moved) if moved else 0.0
    return [(memory, score + moved.get(memory, usual)) for memory, score in base]


def starts(
    graph: WalkGraph,
    *,
    memories: Mapping[int, float] | None = None,
    names: Iterable[int] = (),
    facts: Sequence[NearFact] = (),
    shares: Shares = COMMON_SHARES,
) -> dict[int, float]:
    """Give how much of the walks starts at each node: at memories, names and facts in these shares.

    A source that found nothing leaves its share to the others. All of it sums to 1, or to less by what of the memories'
    mass is outside the graph; nodes that nothing leaves start none. Memories' mass, the concepts that the query names
    and the nearest facts are numbered from 0, as in the graph.
    """
    near = sorted(facts, key=lambda fact: -fact.similarity)[:NEAR_FACTS]
    by_name, by_fact = (dict.fromkeys(sorted(set(names)), 1.0), defaultdict[int, float](float))
    for fact in near:
        for concept in {fact.source, fact.target}:
            by_fact[concept] += exp((fact.similarity - near[0].similarity) / FACT_TEMPERATURE)
    parts = [{at: mass for at, mass in (memories or {}).items() if mass > 0 and not graph.dangling[at]}]
    for of_concept in (by_name, by_fact):
        # A concept's weight is divided by its document frequency; one in no memory counts as in one.
        specific = {
            graph.memories + concept: weight * float(max(1, graph.mentioning[concept]) ** -SPECIFICITY)
            for concept, weight in of_concept.items()
            if not graph.dangling[graph.memories + concept]
        }
        whole = sum(specific.values())
        parts.append({node: weight / whole for node, weight in specific.items()})
    used = [share if part else 0.0 for share, part in zip(shares, parts, strict=True)]
    begun: dict[int, float] = defaultdict(float)
    for share, part in zip(used, parts, strict=True):
        for node, weight in part.items() if share else ():
            begun[node] += weight * share / sum(used)
    return dict(begun)
