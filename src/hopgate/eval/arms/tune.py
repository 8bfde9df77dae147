"""Choosing a configuration on development queries: fuse the saved lists with every candidate, keep the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.evidence import Tuning
from hopgate.eval.measures import NDCG, Measure, Recall, score_all
from hopgate.recall.fuse import AnyFuser, Importance, active
from hopgate.recall.reach import on_lists


@dataclass(frozen=True)
class Tuned:
    """The configuration chosen, and the record that the audit looks at."""

    chosen: AnyFuser
    tuning: Tuning


def fused_run(
    fuser: AnyFuser,
    legs: Mapping[str, Run],
    queries: Iterable[str],
    *,
    prior: Importance | None = None,
    importance: Mapping[str, float] | None = None,
) -> dict[str, list[tuple[str, float]]]:
    """Fuse saved lists into a run.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> fused_run(RRF(k=0), {"dense": {"q": [("a", 0.9), ("b", 0.8)]}}, ["q"])
    {'q': [('a', 1.0), ('b', 0.5)]}
    """
    run = {}
    names = [leg for leg in active(fuser) if leg in legs]
    for query in queries:
        hits = fuser.fuse({leg: legs[leg].get(query, ()) for leg in names})
        ranked = prior.apply(hits, importance or {}) if prior else hits
        run[query] = [(hit.id, hit.score) for hit in ranked]
    return run


def heard(
    fusers: Iterable[AnyFuser], legs: Mapping[str, Run], queries: Iterable[str], *, k: int = 10, share: float = 0.5
) -> list[AnyFuser]:
    """Keep the configurations in which a graph-only memory could enter the top k on this share of the queries.

    Tuning a challenger over others would let it choose not to be tested.
    """
    lists = {query: {leg: list(run.get(query, ())) for leg, run in legs.items()} for query in queries}
    return [fuser for fuser in fusers if on_lists(fuser, lists, k=k).entering >= max(1, share * len(lists))]


def tune(
    fusers: Sequence[AnyFuser],
    legs: Mapping[str, Run],
    qrels: Qrels,
    measures: Sequence[Measure] = (Recall(10), Recall(5), NDCG(10)),
    *,
    prior: Importance | None = None,
    importance: Mapping[str, float] | None = None,
) -> Tuned:
    """Try every configuration on the development queries.

    The first measure decides; ties go to the next, and then to the configuration named first, so that the simplest
    should come first.

    Examples
    --------
    >>> from hopgate.recall.fuse import RRF
    >>> legs = {"lexical": {"q": [("x", 1.0), ("a", 0.5)]}, "dense": {"q": [("a", 0.9), ("x", 0.1)]}}
    >>> found = tune([RRF(graph=0), RRF(lexical=0.5, graph=0)], legs, {"q": {"a": 1}}, [Recall(1)])
    >>> found.chosen, found.tuning.tried
    (RRF(k=60, lexical=1, dense=1, graph=0), {'RRF(k=60, lexical=1, dense=1, graph=0)': 1.0,
     'RRF(k=60, lexical=0.5, dense=1, graph=0)': 1.0})
    """
    if not fusers:
        raise HopgateError("there is no configuration to tune: none lets the graph leg be heard")
    scored: dict[AnyFuser, tuple[float, ...]] = {}
    for fuser in dict.fromkeys(fusers):
        run = fused_run(fuser, legs, qrels, prior=prior, importance=importance)
        values = score_all(run, qrels, measures)
        scored[fuser] = tuple(sum(values[measure].values()) / max(1, len(qrels)) for measure in measures)
    best = max(scored.values())
    chosen = next(fuser for fuser, score in scored.items() if score == best)
    tried = {repr(fuser): score[0] for fuser, score in scored.items()}
    return Tuned(chosen, Tuning(frozenset(qrels), tried))
