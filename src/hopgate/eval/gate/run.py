"""The gate: a data set in, a verdict out. Builds in a throw-away store, so that nothing of yours is touched."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hopgate.errors import HopgateError
from hopgate.eval.arms import further_arms
from hopgate.eval.arms.ablation import BASE, CONTROL, Ablation, ablate
from hopgate.eval.arms.collect import Collected, collect
from hopgate.eval.arms.grid import sweep
from hopgate.eval.arms.tune import fused_run
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.data.runs import Qrels
from hopgate.eval.gate.evidence import Arm, Evidence, Graph
from hopgate.eval.gate.judge import Judgement, judge
from hopgate.eval.gate.plan import Policy
from hopgate.eval.gate.saved import recomputed, save_gate
from hopgate.eval.measures import Recall, score_all
from hopgate.eval.report import Notes, write_report
from hopgate.eval.slices import All, HopCount, Known, NonAdjacent, Slice, Stratum, Type
from hopgate.eval.slices.hop_questions import fact_key, fingerprint
from hopgate.eval.slices.latent import latent_space
from hopgate.memory import cleared

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

Stage = Callable[[str, int | None], Callable[[int], None]]
"""Told what begins and how much of it there is; gives a function that is told how much is done."""

Arms = Literal["quick", "default", "full"]
# A slice of fewer queries than this is not reported on its own.
SMALLEST_SLICE = 8
LATENT = "latent"


@dataclass(frozen=True)
class GateOptions:
    """How a gate is run; saved beside its result.

    Parameters
    ----------
    tune : str
        The split that configurations are chosen on; empty for none.
    split : str
        The split that is reported.
    k : int
        The top k that is judged.
    arms : {"quick", "default", "full"}
        How many arms; `full` adds a graph made by no model, k of RRF swept, and the exact-match bonus.
    seed : int
        Of the shuffled control and the statistics.
    """

    tune: str = "dev"
    split: str = "test"
    k: int = 10
    depth: int = 50
    arms: Arms = "default"
    seed: int = 0


def quiet(_title: str, _total: int | None = None) -> Callable[[int], None]:
    """Show no progress."""
    return lambda _: None


def run_gate(
    dataset: Dataset, options: GateOptions | None = None, *, out: Path | None = None, stage: Stage = quiet
) -> Judgement:
    """Build, collect, tune, report, audit and decide.

    Parameters
    ----------
    out : Path, optional
        Where the runs, settings and report are kept; `hopgate report` recomputes everything from there.
    """
    options = options or GateOptions()
    reported = dataset.split(options.split)
    dev = dataset.split(options.tune) if options.tune else {}
    _check(dataset, options, reported, dev)
    with built(dataset, stage) as kb:
        asked = [dataset.queries[name] for name in (*dev, *reported)]
        graphs = {"shuffled": kb.graph.variant(shuffle=options.seed)}
        if options.arms != "quick":
            from hopgate.graph.walk.hops import Hops

            graphs["hops"] = kb.graph.variant(hops=Hops())
        told = stage("asking", len(asked))
        collected = collect(kb, asked, depth=options.depth, graphs=graphs, progress=told)
        if options.arms == "full" and dataset.triples:
            with built(replace(dataset, triples=()), stage) as plain:
                ruled = collect(plain, asked, depth=options.depth, progress=stage("asking without a model", len(asked)))
            collected.lists["no-model"] = ruled.lists["graph"]
        evidence, about = assemble(dataset, collected, options, kb)
        with _kept(out) as folder:
            save_gate(folder, evidence, about)
            evidence = replace(evidence, saved=recomputed(folder))
            stage("judging", None)
            judgement = judge(evidence)
            if out is not None:
                write_report(out, judgement, _notes(dataset, about, kb, judgement, options))
    return judgement


@contextmanager
def built(dataset: Dataset, stage: Stage = quiet) -> Iterator[KnowledgeBase]:
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


def assemble(
    dataset: Dataset, collected: Collected, options: GateOptions, kb: KnowledgeBase
) -> tuple[Evidence, dict[str, Any]]:
    """Put together everything a verdict rests on."""
    reported = dataset.split(options.split)
    dev = dataset.split(options.tune) if options.tune else {}
    source = "triples.jsonl" if dataset.triples else "phrases"
    settings = {"embedder": kb.embedder_name(), "walk": repr(kb.graph.walk), "depth": options.depth, "graph": source}
    made = ablate(collected, dev, reported, k=options.k, settings=settings, more=options.arms != "quick")
    arms = dict(made.arms)
    if options.arms == "full":
        arms |= _further(dataset, collected, made, settings, options)
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
        challenger=made.challenger,
        base=BASE,
        control=CONTROL,
        k=options.k,
        primary=Recall(options.k),
        slices=_slices(dataset, reported, kb.embedder_name(), quick=options.arms == "quick"),
        tuning=made.tuning,
        graph=Graph(
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
    dataset: Dataset, collected: Collected, made: Ablation, settings: dict[str, Any], options: GateOptions
) -> dict[str, Arm]:
    reported = dataset.split(options.split)
    legs = {name: collected.lists[name] for name in ("lexical", "dense", "graph")}
    texts = {memory.external_id: text for memory, text in cleared(dataset.memories)}
    bonus = further_arms.exact_match(made.fuser, legs, [dataset.queries[name] for name in reported], texts, settings)
    arms = {**further_arms.swept_k(made.fuser, legs, list(reported), settings), bonus.name: bonus}
    if "no-model" in collected.lists:
        dev = dataset.split(options.tune) if options.tune else {}
        arms |= further_arms.no_model(collected.lists, dev, list(reported), made.base, settings, options.k)
    return arms


def _check(dataset: Dataset, options: GateOptions, reported: Qrels, dev: Qrels) -> None:
    if options.tune == options.split:
        raise HopgateError(f"{options.tune!r} cannot be both tuned on and reported: name two splits")
    if not reported:
        raise HopgateError(
            f"{dataset.folder / 'qrels' / options.split}.tsv judges no query: there is nothing to report"
        )
    if options.tune and not dev:
        raise HopgateError(f"{dataset.folder / 'qrels' / options.tune}.tsv judges no query: use --tune none")


def _slices(dataset: Dataset, reported: Qrels, space: str, *, quick: bool) -> dict[Slice, frozenset[str]]:
    """All queries first, then each type, stratum and number of hops there is, and hops that are not adjacent."""
    queries = [dataset.queries[name] for name in reported]
    slices: list[Slice] = [All()]
    slices += [Stratum(value) for value in sorted({query.stratum for query in queries if query.stratum})]
    slices += [Type(value) for value in sorted({query.type for query in queries if query.type})]
    slices += [HopCount(value) for value in sorted({query.hops for query in queries if query.hops})]
    spaces = {}
    if not quick and space != LATENT and any((query.hops or 1) > 1 for query in queries):
        spaces[LATENT] = latent_space(dataset.memories)
        slices.append(NonAdjacent(LATENT))
    known = Known(dataset.queries, reported, {m.external_id: text for m, text in cleared(dataset.memories)}, spaces)
    held = {part: part.select(known) for part in slices}
    distinct: dict[frozenset[str], Slice] = {}
    for part, names in held.items():
        if len(names) >= SMALLEST_SLICE or isinstance(part, All):
            distinct.setdefault(names, part)
    return {part: names for names, part in distinct.items()}


def _sweep(collected: Collected, qrels: Qrels, k: int) -> dict[float, float]:
    """Plain RRF over the graph's weight, for the plot with the reachability threshold drawn in."""
    legs = {name: collected.lists[name] for name in ("lexical", "dense", "graph")}
    found = {}
    for fuser in sweep():
        values = score_all(fused_run(fuser, legs, qrels), qrels, (Recall(k),))[Recall(k)]
        found[fuser.graph] = sum(values.values()) / max(1, len(values))
    return found


@contextmanager
def _kept(out: Path | None) -> Iterator[Path]:
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
    ours, theirs = evidence.subject.run, evidence.arms[evidence.base].run
    paths = {}
    for name in evidence.qrels:
        top = [[key for key, _ in run.get(name, ())[: options.k]] for run in (ours, theirs)]
        if set(top[0]) != set(top[1]):
            query = dataset.queries[name]
            hits = kb.recall(query.text, legs=("graph",), scope=query.scope, k=options.k, explain=True, prior=1.0)
            paths[name] = {hit.external_id: " → ".join(hit.path) for hit in hits if hit.path}
    return Notes(
        title=dataset.name,
        about=about,
        texts={memory.external_id: text for memory, text in cleared(dataset.memories)},
        sensitive=frozenset(memory.external_id for memory in dataset.memories if memory.is_sensitive),
        paths=paths,
    )
