"""Arms that show what a gain rests on: a shuffled graph, a graph that may only re-rank, and the prototype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopgate.eval.arms.fused_runs import fused_arm
from hopgate.eval.arms.leg_lists import GraphLists, LegLists
from hopgate.eval.gate.evidence import BASE_LEGS, GRAPH, Arm
from hopgate.recall.fuse import RRF, AnyFuser

PROTOTYPE = "prototype"
REBUILT = "prototype (its own graph)"
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


def prototype_arm(lists: LegLists, queries: Sequence[str], settings: Mapping[str, Any], name: str = PROTOTYPE) -> Arm:
    """The earlier prototype's configuration: the graph's candidates without what the others found, at weight 0.35.

    It fused lists as the legs found them: nothing was completed or lifted, and there was no prior.
    """
    plain = lists.plain()
    arm = fused_arm(name, PROTOTYPE_FUSER, _restricted(plain, queries, shared=False), queries, settings)
    return replace(arm, found={GRAPH: plain.scores[GRAPH]})


def concept_boost_arm(fuser: AnyFuser, lists: LegLists, queries: Sequence[str], settings: Mapping[str, Any]) -> Arm:
    """A graph that may only re-rank what the others found: how much of the gain is that."""
    return fused_arm(CONCEPT_BOOST, fuser, _restricted(lists, queries, shared=True), queries, settings)


def _restricted(lists: LegLists, queries: Sequence[str], *, shared: bool) -> LegLists:
    """Keep only those graph candidates that the base legs found too (`shared`), or only those they did not."""
    kept = {}
    for query in queries:
        base = {memory for leg in BASE_LEGS for memory, _ in lists.found_by(leg).get(query, ())}
        kept[query] = [pair for pair in lists.found_by(GRAPH).get(query, ()) if (pair[0] in base) is shared]
    scores = lists.scores[GRAPH] if lists.into else kept
    return lists.with_graph(GraphLists(kept, scores, lists.blind))
