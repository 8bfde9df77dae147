"""The gate: a data set in, a verdict out. Builds in a throw-away store, so that nothing of yours is touched."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.eval.arms.collect import collect
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.gate.assemble import assemble
from hopgate.eval.gate.judge import Judgement, judge
from hopgate.eval.gate.plan import GateOptions, plan_problems
from hopgate.eval.gate.saved import recomputed, save_gate
from hopgate.eval.report import Notes, write_report

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

Stage = Callable[[str, int | None], Callable[[int], None]]
"""Called with the title of each stage and its size; gives a function to call with how much is done."""


def quiet(_title: str, _total: int | None = None) -> Callable[[int], None]:
    """Show no progress."""
    return lambda _: None


def run_gate(
    dataset: Dataset, options: GateOptions | None = None, *, out: Path | None = None, stage: Stage = quiet
) -> Judgement:
    """Build a throw-away store, collect the legs' lists, tune and fuse the arms, audit and decide.

    Parameters
    ----------
    dataset : Dataset
    options : GateOptions, optional
        The splits, the arms and the seed.
    out : Path, optional
        Where the runs, settings and report are kept; `hopgate report` recomputes everything from there.
    stage : callable
        Shows progress.
    """
    options = options or GateOptions()
    for problem in plan_problems(dataset, options):
        raise HopgateError(problem)
    splits = [options.tune, options.split] if options.tune else [options.split]
    with throwaway_store(dataset, stage) as kb:
        queries = [dataset.queries[name] for split in splits for name in dataset.split(split)]
        graphs = {}
        if options.arms != "quick":
            from hopgate.graph.walk.hops import Hops

            graphs["hops"] = kb.graph_leg.variant(hops=Hops())
        progress = stage("asking", len(queries))
        collected = collect(
            kb, queries, depth=options.depth, graphs=graphs, shuffles=options.shuffle_seeds, progress=progress
        )
        if options.arms == "full" and dataset.triples:
            with throwaway_store(replace(dataset, triples=()), stage) as plain:
                progress = stage("asking without a model", len(queries))
                no_model = collect(plain, queries, depth=options.depth, progress=progress)
            collected.lists["no-model"] = no_model.lists["graph"]
        evidence, about = assemble(dataset, collected, options, kb)
        with _result_folder(out) as folder:
            save_gate(folder, evidence, about)
            evidence = replace(evidence, saved=recomputed(folder))
            stage("judging", None)
            judgement = judge(evidence)
            if out is not None:
                write_report(out, judgement, _notes(dataset, about, kb, judgement, options))
    return judgement


@contextmanager
def throwaway_store(dataset: Dataset, stage: Stage = quiet) -> Iterator[KnowledgeBase]:
    """A throw-away store with the data set's memories, vectors and graph."""
    import hopgate
    from hopgate.extract.replay import Replay
    from hopgate.extract.rules.phrases import Phrases

    known = {memory.external_id for memory in dataset.memories}
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        kb.add(*dataset.memories)
        kb.embed(progress=stage("embedding memories", len(dataset.memories)))
        triples = str(dataset.folder / "triples.jsonl")
        extractor = Replay(triples, known) if dataset.triples else Phrases()
        stage("building the graph", None)
        kb.build(extractor, embed_concepts=False)
        yield kb


@contextmanager
def _result_folder(out: Path | None) -> Iterator[Path]:
    """The folder of the result: the user's, or one that goes when the verdict is given."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _notes(
    dataset: Dataset, about: dict[str, Any], kb: KnowledgeBase, judgement: Judgement, options: GateOptions
) -> Notes:
    """What the report shows beside the figures: cleared texts, and the graph's paths where the arms differ."""
    evidence = judgement.evidence
    paths = {}
    for name in evidence.qrels:
        challenger, base = (
            {memory for memory, _ in arm.run.get(name, ())[: options.k]}
            for arm in (evidence.challenger_arm, evidence.base_arm)
        )
        if challenger != base:
            query = dataset.queries[name]
            hits = kb.recall(query.text, legs=("graph",), scope=query.scope, k=options.k, explain=True, prior=1.0)
            paths[name] = {hit.external_id: " → ".join(hit.path) for hit in hits if hit.path}
    return Notes(
        title=dataset.name,
        about=about,
        texts=dataset.texts,
        sensitive=frozenset(memory.external_id for memory in dataset.memories if memory.is_sensitive),
        paths=paths,
    )
