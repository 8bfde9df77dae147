"""Choosing a configuration on development queries: one standard error, nearest the default, where they carry it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hopgate.errors import HopgateError
from hopgate.eval.arms.leg_lists import LegLists
from hopgate.eval.arms.score_table import score_table
from hopgate.eval.data.runs import Qrels
from hopgate.eval.gate.evidence import BASE_LEGS, Tuning
from hopgate.eval.statistics import carried
from hopgate.recall.fuse import AnyFuser
from hopgate.recall.reach import on_lists


@dataclass(frozen=True)
class Choice:
    """The configuration chosen, and the record of the tuning that the audit looks at."""

    fuser: AnyFuser
    tuning: Tuning


def choose(fusers: Sequence[AnyFuser], lists: LegLists, qrels: Qrels, k: int = 10) -> Choice:
    """Try every configuration on the development queries; what counts is the mean of recall@5 and recall@k.

    Of the configurations as good as the best to one standard error the first is taken, so they are to be given from
    the plainest on; the first of all is the default, which stays where the queries do not carry a choice. The rule is
    the same for the base, the challenger and every shuffle.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> legs = {"dense": {f"q{i}": [("x", 0.9), ("a", 0.8)] for i in range(20)}}
    >>> legs["graph"] = {query: [("b", 0.5)] for query in legs["dense"]}
    >>> gold = {query: {"b": 1} for query in legs["dense"]}
    >>> choose([RRF(graph=0), RRF(graph=2)], LegLists(legs), gold, k=1).fuser
    RRF(k=60, lexical=1, dense=1, graph=2)
    """
    unique = list(dict.fromkeys(fusers))
    if not unique:
        raise HopgateError("there is no configuration to choose from: none lets the graph leg reach the top k")
    default = repr(unique[0])
    if not qrels:
        return Choice(unique[0], Tuning(default=default))
    table = score_table(unique, lists, qrels, k)
    found = carried(table)
    scores = dict(zip(map(repr, unique), table.mean(axis=0).tolist(), strict=True))
    record = Tuning(frozenset(qrels), scores, default, found.carries, found.gain, found.error, found.agreement)
    return Choice(unique[found.chosen], record)


def reachable_fusers(
    fusers: Iterable[AnyFuser], lists: LegLists, queries: Iterable[str], *, k: int = 10, share: float = 0.5
) -> list[AnyFuser]:
    """Keep the configurations in which a graph-only memory could enter the top k on this share of the queries.

    Tuning a challenger over others would let it choose not to be tested.
    """
    base = {query: lists.of(query, BASE_LEGS)[0] for query in queries}
    return [fuser for fuser in fusers if on_lists(fuser, base, k=k).entering >= max(1, share * len(base))]
