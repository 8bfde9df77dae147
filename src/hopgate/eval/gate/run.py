"""The gate: a data set or a store in, a verdict out. Nothing of yours is written to but the ledger and the report."""

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
from hopgate.eval.gate.assemble import assemble, graph_source, statements_path
from hopgate.eval.gate.evidence import Evidence
from hopgate.eval.gate.hidden_ids import labelled, with_hidden_ids
from hopgate.eval.gate.judge import Judgement, judge
from hopgate.eval.gate.ledger import Ledger
from hopgate.eval.gate.plan import FILE, GateOptions, Policy, plan_hash, plan_problems, plan_text
from hopgate.eval.gate.saved import recomputed, save_gate
from hopgate.eval.report import Notes, write_report
from hopgate.eval.report.page import detailed_queries
from hopgate.eval.report.text_marks import marks
from hopgate.memory import cleared
from hopgate.recall.settings import DEFAULT_FUSER, Settings
from hopgate.scale.engine import Engine, session

if TYPE_CHECKING:
    from hopgate.extract.extraction import Extractor
    from hopgate.kb import KnowledgeBase

Stage = Callable[[str, int | None], Callable[[int], None]]
"""Called with the title of each stage and its size; gives a function to call with how much is done."""


def quiet(_title: str, _total: int | None = None) -> Callable[[int], None]:
    """Show no progress."""
    return lambda _: None


def run_gate(
    dataset: Dataset,
    options: GateOptions | None = None,
    *,
    policy: Policy | None = None,
    plan: str | None = None,
    out: Path | None = None,
    stage: Stage = quiet,
    engine: Engine | None = None,
) -> Judgement:
    """Build a throw-away store, collect the legs' lists, tune and fuse the arms, audit and decide.

    Parameters
    ----------
    dataset : Dataset
    options : GateOptions, optional
        The splits, the arms and the seed.
    policy : Policy, optional
        What counts as enough.
    plan : str, optional
        The text of the plan that declared them, where there is a file.
    out : Path, optional
        Where the runs, settings and report are kept; `hopgate report` recomputes everything from there.
    stage : callable
        Shows progress.
    engine : Engine, optional
        Who asks, walks, tunes and draws: the verdict is the same, bit for bit.
    """
    options, policy = _planned(dataset, options, policy, plan, out)
    engine = engine or Engine()
    with throwaway_store(dataset, stage, options) as kb, session(engine):
        source = graph_source(dataset, options)
        return _gate(kb, Settings(), dataset, options, policy, plan, out, stage, source, engine, kb)


def gate_store(
    kb: KnowledgeBase,
    dataset: Dataset,
    options: GateOptions | None = None,
    *,
    policy: Policy | None = None,
    plan: str | None = None,
    out: Path | None = None,
    stage: Stage = quiet,
    engine: Engine | None = None,
    marked: bool = False,
) -> Judgement:
    """Judge a store's graph, vectors and merges as they are: read-only, in one snapshot.

    Its walk, its prior and its lexical ranker are the store's own; legs and weights are what is judged.

    Parameters
    ----------
    kb : KnowledgeBase
        The store; it may be in use meanwhile.
    dataset : Dataset
        Queries and judgements about its memories: `read_dataset(folder, kb.export())`.
    engine : Engine, optional
        Who asks, walks, tunes and draws, as for `run_gate`.
    marked : bool
        Whether the report has marks in the place of texts and no paths, for who keeps it and shows it later: see
        `hopgate.eval.report.text_marks`.
    """
    from hopgate.kb import KnowledgeBase
    from hopgate.store.store import FrozenStore

    options, policy = _planned(dataset, options, policy, plan, out)
    settings = kb.settings()
    engine = engine or Engine()
    with KnowledgeBase(FrozenStore(kb.store)) as frozen, session(engine):
        if settings.walk is not None:
            frozen.graph_leg.walk = settings.walk
        source = "the store's graph"
        return _gate(frozen, settings, dataset, options, policy, plan, out, stage, source, engine, kb, marked)


def _planned(
    dataset: Dataset, options: GateOptions | None, policy: Policy | None, plan: str | None, out: Path | None
) -> tuple[GateOptions, Policy]:
    """Check the plan against the data, and save it before anything is run."""
    options = options or GateOptions()
    policy = policy or Policy(seed=options.seed)
    for problem in plan_problems(dataset, options):
        raise HopgateError(problem)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / FILE).write_text(plan or plan_text(options, policy), encoding="utf-8")
    return options, policy


def _gate(
    kb: KnowledgeBase,
    settings: Settings,
    dataset: Dataset,
    options: GateOptions,
    policy: Policy,
    plan: str | None,
    out: Path | None,
    stage: Stage,
    source: str,
    engine: Engine,
    live: KnowledgeBase,
    marked: bool = False,
) -> Judgement:
    """Collect, assemble, judge, save and report; what turned sensitive meanwhile is neither saved nor reported."""
    splits = [options.tune, options.split] if options.tune else [options.split]
    queries = [dataset.queries[name] for split in splits for name in dataset.split(split)]
    progress = stage("asking", len(queries))
    settings = replace(settings, fuser=DEFAULT_FUSER, k=options.k, depth=options.depth)
    full = options.arms == "full"
    collected = collect(
        kb,
        queries,
        settings=settings,
        shuffles=options.shuffle_seeds,
        parts=full,
        progress=progress,
        engine=engine,
    )
    if full and dataset.triples:
        with throwaway_store(replace(dataset, triples=()), stage) as plain:
            progress = stage("asking without a model", len(queries))
            no_model = collect(plain, queries, settings=settings, progress=progress, engine=engine)
        collected = replace(collected, no_model=no_model.lists)
    stage("choosing weights", None)
    evidence, about = assemble(dataset, collected, options, kb, policy=policy, source=source, engine=engine)
    about["plan"] = plan_hash(plan or plan_text(options, policy))
    sensitive = frozenset(memory.external_id for memory in dataset.memories if memory.is_sensitive)
    evidence = with_hidden_ids(evidence, sensitive | _sensitive_now(live))
    judgement, about = look(dataset.folder, evidence, about, options.split, out, stage, engine)
    if out is not None:
        write_report(out, judgement, _notes(dataset, about, live, judgement, options, marked=marked))
    return judgement


def _sensitive_now(live: KnowledgeBase) -> frozenset[str]:
    """The memories that are sensitive at this moment: a gate reads a snapshot, and takes minutes."""
    memories = live.sensitivity().applied(live.export())
    return frozenset(memory.external_id for memory in memories if memory.is_sensitive)


def look(
    folder: Path,
    evidence: Evidence,
    about: dict[str, Any],
    split: str,
    out: Path | None,
    stage: Stage = quiet,
    engine: Engine | None = None,
) -> tuple[Judgement, dict[str, Any]]:
    """Save the evidence, judge it, and write the look down in the ledger beside the data."""
    ledger = Ledger.beside(folder)
    evidence = replace(evidence, looks=ledger.looks(evidence.qrels) + 1)
    about = {**about, "ledger": f"{ledger.path.name}: look {evidence.looks} at these queries"}
    with _result_folder(out) as kept:
        fingerprint = save_gate(kept, evidence, about)
        stage("judging", None)
        judgement = replace(judge(replace(evidence, saved=recomputed(kept)), engine), fingerprint=fingerprint)
    ledger.record(
        evidence.qrels,
        split=split,
        verdict=judgement.decision.verdict.value,
        challenger=evidence.challenger_arm.configuration,
        plan=about.get("plan", ""),
        fingerprint=fingerprint,
    )
    return judgement, {**about, "gate fingerprint": fingerprint}


@contextmanager
def throwaway_store(
    dataset: Dataset, stage: Stage = quiet, options: GateOptions | None = None
) -> Iterator[KnowledgeBase]:
    """A throw-away store with the data set's memories, vectors and graph."""
    import hopgate
    from hopgate.store.server import throwaway_folder

    options = options or GateOptions()
    with throwaway_folder() as folder, hopgate.open(folder, linger=60) as kb:
        kb.add(*dataset.memories)
        kb.embed(options.embedder or None, progress=stage("embedding memories", len(dataset.memories)))
        stage("building the graph", None)
        kb.build(_extractor(dataset, options), embed_concepts=False, statements=statements_path(dataset, options))
        yield kb


def _extractor(dataset: Dataset, options: GateOptions) -> Extractor:
    """The extractor that is asked for; else the data set's triples, or the rules where it has none."""
    from hopgate.extract.spec import extractor_from

    known = {memory.external_id for memory in dataset.memories}
    if options.extractor:
        return extractor_from(options.extractor, model=options.model or None, url=options.url or None, known=known)
    if dataset.triples:
        return extractor_from("replay", model=str(dataset.folder / "triples.jsonl"), known=known)
    return extractor_from("phrases")


@contextmanager
def _result_folder(out: Path | None) -> Iterator[Path]:
    """The folder of the result: the user's, or one that goes when the verdict is given."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _notes(
    dataset: Dataset, about: dict[str, Any], kb: KnowledgeBase, judgement: Judgement, options: GateOptions, *,
    marked: bool,
) -> Notes:  # fmt: skip
    """What the report shows beside the figures: cleared texts, and the graph's paths where the arms differ.

    Both as they are now: what was read at the beginning may have turned since, changed or gone.
    """
    paths: dict[str, dict[str, str]] = {}
    texts = dict(cleared((memory.external_id, memory) for memory in kb.sensitivity().applied(kb.export())))
    texts = {name: text for name, text in dataset.texts.items() if texts.get(name) == text}
    for name in () if marked else sorted(detailed_queries(judgement.evidence)):
        query = dataset.queries[name]
        hits = kb.recall(query.text, legs=("graph",), scope=query.scope, k=options.k, explain=True, prior=1.0)
        paths[name] = {hit.external_id: " → ".join(hit.path) for hit in hits if hit.path}
    return Notes(
        title=dataset.name,
        about=about,
        texts=marks(texts) if marked else texts,
        sensitive=labelled(judgement.evidence),
        paths=paths,
    )
