"""Arms that show what a gain rests on: a shuffled graph, a graph that may only re-rank, and the prototype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.data.runs import Run
from hopgate.eval.gate.evidence import BASE_LEGS, GRAPH, Arm
from hopgate.recall.fuse import RRF, AnyFuser

PROTOTYPE = "prototype"
CONCEPT_BOOST = "concept-boost"
# The prototype's configuration, fact by fact (spec §1): the graph's candidates were those the others had not found.
PROTOTYPE_FUSER = RRF(k=60, lexical=1, dense=1, graph=0.35)


def shuffle_name(number: int) -> str:
    """What the challenger on one shuffled graph is called, counting from 1.

    Examples
    --------
    >>> shuffle_name(3)
    'shuffle 3'
    """
    return f"shuffle {number}"


def prototype_arm(legs: Mapping[str, Run], queries: Sequence[str], settings: Mapping[str, Any]) -> Arm:
    """The earlier prototype's configuration: the graph's candidates without what the others found, at weight 0.35."""
    return _restricted(PROTOTYPE, PROTOTYPE_FUSER, legs, queries, settings, shared=False)


def concept_boost_arm(
    fuser: AnyFuser, legs: Mapping[str, Run], queries: Sequence[str], settings: Mapping[str, Any]
) -> Arm:
    """A graph that may only re-rank what the others found: how much of the gain is that."""
    return _restricted(CONCEPT_BOOST, fuser, legs, queries, settings, shared=True)


def _restricted(
    name: str,
    fuser: AnyFuser,
    legs: Mapping[str, Run],
    queries: Sequence[str],
    settings: Mapping[str, Any],
    *,
    shared: bool,
) -> Arm:
    """Fuse with only those graph candidates that the base legs found too (`shared`), or only those they did not."""
    kept = {}
    for query in queries:
        base = {memory for leg in BASE_LEGS for memory, _ in legs[leg].get(query, ())}
        kept[query] = [pair for pair in legs[GRAPH].get(query, ()) if (pair[0] in base) is shared]
    restricted = {**legs, GRAPH: kept}
    run = fused_run(fuser, restricted, queries)
    return Arm(name, run, repr(fuser), restricted, {GRAPH: legs[GRAPH]}, settings=settings)
