"""The evidence of a gate, put together from a data set, the collected lists and the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.eval.arms import further_arms
from hopgate.eval.arms.ablation import BASE, Ablation, ablate
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.controls import SHUFFLED
from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.arms.grid import swept_fusers
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.data.fact_keys import fact_key, fingerprint
from hopgate.eval.data.runs import Qrels
from hopgate.eval.gate.evidence import LEGS, Arm, Evidence, GraphSource
from hopgate.eval.gate.plan import GateOptions, Policy
from hopgate.eval.measures import Recall
from hopgate.eval.slices.reported_slices import reported_slices

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase


def assemble(
    dataset: Dataset, collected: Collected, options: GateOptions, kb: KnowledgeBase
) -> tuple[Evidence, dict[str, Any]]:
    """Put together everything a verdict rests on, and what is written about it in the report."""
    reported = dataset.split(options.split)
    dev = dataset.split(options.tune) if options.tune else {}
    source = "triples.jsonl" if dataset.triples else "phrases"
    walk = repr(kb.graph_leg.walk)
    settings = {"embedder": kb.embedder_name(), "walk": walk, "depth": options.depth, "graph": source}
    ablation = ablate(collected, dev, reported, k=options.k, settings=settings, more=options.arms != "quick")
    arms = dict(ablation.arms)
    if options.arms == "full":
        arms |= _further(dataset, collected, ablation, settings, options, kb)
    about = {
        "data set": dataset.name,
        "fingerprint": dataset.fingerprint,
        "memories": len(dataset.memories),
        "options": repr(options),
        **{name: str(value) for name, value in settings.items()},
    }
    facts = [triple for triple in dataset.triples if triple.is_fact]
    evidence = Evidence(
        queries=dataset.queries,
        qrels=reported,
        arms=arms,
        challenger=ablation.challenger,
        base=BASE,
        control=SHUFFLED,
        k=options.k,
        primary=Recall(options.k),
        slices=reported_slices(
            dataset, reported, tested_space=kb.embedder_name(), non_adjacent=options.arms != "quick"
        ),
        tuning=ablation.tuning,
        graph=GraphSource(
            fingerprint(dataset.triples) if dataset.triples else source,
            source,
            frozenset(map(fact_key, facts)) if facts else None,
        ),
        space=kb.embedder_name(),
        corpus_size=len(dataset.memories),
        importance=collected.importance,
        sweep=_sweep(collected, dev or reported, options.k),
        policy=Policy(seed=options.seed),
    )
    return evidence, about


def _further(
    dataset: Dataset,
    collected: Collected,
    ablation: Ablation,
    settings: dict[str, Any],
    options: GateOptions,
    kb: KnowledgeBase,
) -> dict[str, Arm]:
    reported = dataset.split(options.split)
    legs = {leg: collected.lists[leg] for leg in LEGS}
    queries = [dataset.queries[name] for name in reported]
    bonus = further_arms.exact_match(ablation.fuser, legs, queries, kb, settings)
    arms = {**further_arms.swept_k(ablation.fuser, legs, list(reported), settings), bonus.name: bonus}
    if "no-model" in collected.lists:
        dev = dataset.split(options.tune) if options.tune else {}
        arms |= further_arms.no_model(collected.lists, dev, list(reported), ablation.base, settings, options.k)
    return arms


def _sweep(collected: Collected, qrels: Qrels, k: int) -> dict[float, float]:
    """Plain RRF over the graph's weight, for the plot with the reachability threshold drawn in."""
    legs = {leg: collected.lists[leg] for leg in LEGS}
    return {fuser.graph: Recall(k).mean(fused_run(fuser, legs, qrels), qrels) for fuser in swept_fusers()}
