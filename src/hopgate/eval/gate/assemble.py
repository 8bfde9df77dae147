"""The evidence of a gate, put together from a data set, the collected lists and the plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.eval.arms import further_arms
from hopgate.eval.arms.ablation import Ablation, ablate
from hopgate.eval.arms.belief_walks import BeliefWalks
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.cross_reading import CrossReading, bundled_reading
from hopgate.eval.arms.fused_runs import fused_run
from hopgate.eval.arms.grid import SWEPT_WEIGHTS
from hopgate.eval.data.dataset import Dataset, fact_key, fingerprint
from hopgate.eval.data.runs import Qrels
from hopgate.eval.gate.evidence import LEGS, MEASURES, Arm, Evidence, GraphSource
from hopgate.eval.gate.plan import OWN_STATEMENTS, GateOptions, Policy
from hopgate.eval.measures import Measure, Recall, mean_score
from hopgate.eval.slices import reported_slices
from hopgate.recall.fuse import AnyFuser
from hopgate.recall.settings import Settings

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.scale.engine import Engine


TRIPLES, STATEMENTS = "triples.jsonl", "statements.jsonl"


def graph_source(dataset: Dataset, options: GateOptions) -> str:
    """Name what makes a data set's graph: the extractor that is asked for, its triples, or the no-model extractor."""
    source = options.extractor or (TRIPLES if dataset.triples else "phrases")
    statements = statements_path(dataset, options)
    return f"{source} and {statements.name}" if statements else source


def statements_path(dataset: Dataset, options: GateOptions) -> Path | None:
    """Give the file of statements that the graph is built with, none where none is asked for."""
    if not options.statements:
        return None
    path = dataset.folder / STATEMENTS if options.statements == OWN_STATEMENTS else Path(options.statements)
    if not path.is_file():
        raise HopgateError(f"{path} is missing: write it, or name another file after --statements")
    return path


def assemble(
    dataset: Dataset,
    collected: Collected,
    options: GateOptions,
    kb: KnowledgeBase,
    *,
    policy: Policy | None = None,
    source: str = "",
    engine: Engine | None = None,
) -> tuple[Evidence, dict[str, Any]]:
    """Put together everything a verdict rests on, and what is written about it in the report.

    Parameters
    ----------
    source : str
        What the graph was made by; by default what a data set's own graph is.
    engine : Engine, optional
        Who tunes the shuffles, where it is not this process.
    """
    reported = dataset.split(options.split)
    dev = dataset.split(options.tune) if options.tune else {}
    source = source or graph_source(dataset, options)
    walk = asdict(kb.graph_leg.walk)
    settings = {"embedder": kb.embedder_name(), "walk": walk, "depth": options.depth, "graph": source}
    ablation = ablate(
        collected,
        dev,
        reported,
        k=options.k,
        settings=settings,
        more=options.arms != "quick",
        reading=_reading(dataset, options, kb) if options.rerank else None,
        engine=engine,
    )
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
        base=ablation.base,
        rivals=ablation.rivals,
        shuffles=ablation.shuffles,
        k=options.k,
        primary=options.primary,
        measures=tuple(measure for measure in (Recall(options.k), *MEASURES) if measure != options.primary),
        slices=reported_slices(dataset, reported, tested_space=kb.embedder_name(), declared=options.slices),
        tuning=ablation.tuning,
        graph=GraphSource(
            fingerprint(dataset.triples) if source.startswith(TRIPLES) else source,
            source,
            frozenset(map(fact_key, facts)) if facts and source.startswith(TRIPLES) else None,
        ),
        space=kb.embedder_name(),
        corpus_size=len(dataset.memories),
        importance=collected.lists.importance,
        sweep=_sweep(collected, dev or reported, ablation.fuser, options.primary),
        policy=policy or Policy(seed=options.seed),
    )
    return evidence, about


def _reading(dataset: Dataset, options: GateOptions, kb: KnowledgeBase) -> CrossReading:
    """Recall's own stages: the cross-encoder over every arm, and after it a walk where there is a graph."""
    walks = BeliefWalks(kb, dataset.queries, options.depth, options.shuffle_seeds)
    return bundled_reading(dataset.queries, dataset.texts, walks)


def _further(
    dataset: Dataset,
    collected: Collected,
    ablation: Ablation,
    settings: dict[str, Any],
    options: GateOptions,
    kb: KnowledgeBase,
) -> dict[str, Arm]:
    reported = list(dataset.split(options.split))
    lists = collected.lists.only(reported, LEGS)
    queries = [dataset.queries[name] for name in reported]
    bonus = further_arms.exact_match(ablation.fuser, lists, queries, kb, settings)
    arms = {**further_arms.swept_k(ablation.fuser, lists, reported, settings), bonus.name: bonus}
    if collected.no_model is not None:
        dev = dataset.split(options.tune) if options.tune else {}
        base, default = ablation.fused_base, Settings().fuser
        arms |= further_arms.no_model(collected.no_model, dev, reported, base, settings, options.k, default)
    return arms


def _sweep(collected: Collected, qrels: Qrels, fuser: AnyFuser, measure: Measure) -> dict[float, float]:
    """The challenger's fusion over the graph's weight, from none on; the weight that was chosen is among them."""
    weights = sorted({0.0, *SWEPT_WEIGHTS, fuser.graph})
    lists = collected.lists
    return {
        weight: mean_score(measure, fused_run(fuser.reweighed(graph=weight), lists, qrels), qrels) for weight in weights
    }
