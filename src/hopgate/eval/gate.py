"""The gate: a data set, a store or somebody's runs in, a verdict out. Nothing of yours is written to."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.eval import record
from hopgate.eval.checks import Status, compared_facts, related
from hopgate.eval.data.dataset import Dataset, Query, read_queries
from hopgate.eval.data.runs import Run, ranks_against_scores, read_qrels, read_run, relevant
from hopgate.eval.evidence import RUNS, Arm, Cost, Evidence, Rung
from hopgate.eval.ladder import Asking, Ladder, Reader, Stage, quiet
from hopgate.eval.ledger import Ledger
from hopgate.eval.plan import OWN_STATEMENTS, Plan
from hopgate.eval.slices import reported_slices
from hopgate.eval.verdict import Judgement
from hopgate.recall.settings import Settings

if TYPE_CHECKING:
    from hopgate.extract.extraction import Extractor
    from hopgate.kb import KnowledgeBase


def run_gate(
    dataset: Dataset, plan: Plan | None = None, *, out: Path | None = None, stage: Stage = quiet,
    ledger: Ledger | None = None,
) -> Judgement:  # fmt: skip
    """Build a throw-away store of a data set, climb its graph's ladder, and decide.

    Parameters
    ----------
    out : Path, optional
        Where plan, runs, decision and page are kept.
    stage : callable
        Shows progress.
    ledger : Ledger, optional
        Where looks at the reported questions are counted; the user's by default.
    """
    import hopgate
    from hopgate.store.server import throwaway_folder

    plan, ledger = plan or Plan(), ledger or Ledger.of_user()
    known = _known(dataset, plan)
    if dataset.triples and not plan.extractor:
        known = replace(known, provenance=compared_facts(known, dataset.memories, dataset.triples))
    elif plan.extractor != "replay":
        finding = f"the graph was read out of the memories by {plan.extractor or 'phrases'}"
        known = replace(known, provenance=(Status.PASS, finding))
    own = dataset.folder / "statements.jsonl"
    statements = own if plan.statements == OWN_STATEMENTS else Path(plan.statements) if plan.statements else None
    if statements is not None and not statements.is_file():
        raise HopgateError(f"{statements} is missing: write it, or name another file after --statements")
    with throwaway_folder() as folder, hopgate.open(folder, linger=60) as kb:
        kb.add(*dataset.memories)
        kb.embed(plan.embedder or None, progress=stage("embedding memories", len(dataset.memories)))
        stage("building the graph", None)
        began = time.perf_counter()
        built = kb.build(_extractor(dataset, plan), statements=statements)
        cost = Cost(time.perf_counter() - began, built.extraction.tokens)
        evidence = _climbed(kb, dataset, known, Settings(), cost, stage)
        return _kept(_labelled(evidence, dataset, kb), out, ledger)


def gate_store(
    kb: KnowledgeBase, dataset: Dataset, plan: Plan | None = None, *, out: Path | None = None, stage: Stage = quiet,
    ledger: Ledger | None = None,
) -> Judgement:  # fmt: skip
    """Judge a store's graph, vectors and merges as they are: read-only, in one snapshot, while it may be in use.

    The data set has queries and judgements about its memories: `read_dataset(folder, kb.export())`.
    """
    from hopgate.kb import KnowledgeBase
    from hopgate.store.store import FrozenStore

    ledger, known = ledger or Ledger.of_user(), _known(dataset, plan or Plan())
    with KnowledgeBase(FrozenStore(kb.store)) as frozen:
        evidence = _climbed(frozen, dataset, known, kb.settings(), Cost(), stage)
        return _kept(_labelled(evidence, dataset, kb), out, ledger)


def gate_runs(
    paths: Sequence[Path], qrels: Path, *, queries: Path | None = None, plan: Plan | None = None,
    out: Path | None = None, ledger: Ledger | None = None,
) -> Judgement:  # fmt: skip
    """Judge TREC runs that any system made: the last over every other one.

    Judgements are TREC's or BEIR's .tsv; a queries.jsonl is for slices, scopes and clusters.
    """
    if len(paths) < 2 or len(set(paths)) < len(paths):
        raise HopgateError("name two runs or more, each once: the bases, and the challenger last")
    plan, judgements = plan or Plan(), read_qrels(qrels)
    known = read_queries(queries) if queries else {name: Query(name, name) for name in judgements}
    if missing := [name for name in judgements if name not in known]:
        raise HopgateError(f"{queries} lacks the judged question {missing[0]!r}")
    stems = Counter(path.stem for path in paths)
    runs = {path.stem if stems[path.stem] == 1 else str(path): read_run(path) for path in paths}
    *bases, challenger = runs
    evidence = Evidence(
        title=qrels.stem,
        plan=plan,
        queries=known,
        qrels=judgements,
        arms={
            name: Arm({query: [memory for memory, _ in ranking] for query, ranking in run.items()})
            for name, run in runs.items()
        },
        bases=tuple(bases),
        rungs=(Rung(RUNS, challenger, tuple(bases)),),
        slices=reported_slices(known, judgements, declared=plan.slices),
        doubts=_doubts(dict(zip(paths, runs.values(), strict=True)), judgements, plan),
    )
    return _kept(evidence, out, ledger or Ledger.of_user())


def replay(folder: Path, dataset: Dataset, *, stage: Stage = quiet) -> list[str]:
    """Compute a saved gate of a data set anew, everything from the data on; give what came out otherwise."""
    kept = record.load(folder)
    fresh = run_gate(dataset, kept.plan, stage=stage, ledger=Ledger(None)).evidence
    names = ("queries", "qrels", "tuned", "bases", "rungs", "slices", "provenance")
    before, after = ({**{name: getattr(each, name) for name in names}, **each.arms} for each in (kept, fresh))
    return [f"the data give other {name}" for name in {**before, **after} if before.get(name) != after.get(name)]


def apply_settings(judgement: Judgement, kb: KnowledgeBase) -> dict[str, Any]:
    """Make the recommended arm the store's configuration, with the gate's fingerprint, and give it."""
    arm, depth = judgement.evidence.arms[judgement.recommended], judgement.evidence.plan.depth
    if not arm.configuration:
        raise HopgateError("somebody's own runs have no configuration to apply: gate a data set or a store")
    kb.store_settings.apply_gate(judgement.fingerprint, fuser=arm.configuration, depth=depth, parts=arm.parts)
    if arm.reread:
        kb.store_settings.set({"rerank": True}, source=f"gate {judgement.fingerprint}")
    return {"fuser": arm.configuration, "depth": depth, "parts": arm.parts, "rerank": arm.reread}


def _known(dataset: Dataset, plan: Plan) -> Evidence:
    """What is known before anything is asked: questions, judgements and slices."""
    reported, tuned = dataset.split(plan.split), dataset.split(plan.tune) if plan.tune else {}
    left = related(dataset.queries, tuned, reported, plan.relevant_from)
    return Evidence(
        title=dataset.name,
        plan=plan,
        queries={name: dataset.queries[name] for name in (*tuned, *reported) if name not in left},
        qrels=reported,
        tuned={name: gold for name, gold in tuned.items() if name not in left},
        slices=reported_slices(dataset.queries, reported, declared=plan.slices, memories=dataset.memories),
        left_out=len(left),
    )


def _climbed(
    kb: KnowledgeBase, dataset: Dataset, known: Evidence, settings: Settings, cost: Cost, stage: Stage
) -> Evidence:
    """Ask a store, and climb the parts of its graph."""
    queries, plan = list(known.queries.values()), known.plan
    settings = replace(settings, k=plan.k, depth=plan.depth)
    if settings.walk is not None:
        kb.graph_leg.walk = settings.walk
    asking = Asking(kb, queries, settings, stage("asking", len(queries)), late=not plan.without_late)
    reader = Reader(queries, dataset.texts) if plan.rerank else None
    return Ladder(asking, known, cost, stage, reader).climb()


def _labelled(evidence: Evidence, dataset: Dataset, live: KnowledgeBase) -> Evidence:
    """The evidence with labels for what is sensitive, also by now."""
    memories = [*dataset.memories, *live.sensitivity().applied(live.export())]
    return record.without_ids(evidence, frozenset(memory.external_id for memory in memories if memory.is_sensitive))


def _kept(evidence: Evidence, out: Path | None, ledger: Ledger) -> Judgement:
    """Count the look, save the evidence and judge what was saved."""
    texts = {name: evidence.queries[name].text for name in evidence.reported}
    # Ids alone, as 1 to 50, are the same in many sets: with the answers they are not.
    asked = [
        text if text != name else f"{name} {sorted(relevant(evidence.qrels[name]))}" for name, text in texts.items()
    ]
    evidence = replace(evidence, look=ledger.look(asked))
    with tempfile.TemporaryDirectory() as folder:
        judgement = record.save(out or Path(folder), evidence)
    ledger.record(asked, f"{evidence.title}: {judgement.fingerprint}")
    return judgement


def _extractor(dataset: Dataset, plan: Plan) -> Extractor:
    """The extractor that is asked for; else the data set's triples, or the rules where it has none."""
    from hopgate.extract.spec import extractor_from

    known, name, model = {memory.external_id for memory in dataset.memories}, plan.extractor, plan.model
    if not name:
        name, model = ("replay", str(dataset.folder / "triples.jsonl")) if dataset.triples else ("phrases", "")
    return extractor_from(name, model=model or None, url=plan.url or None, known=known)


def _doubts(runs: Mapping[Path, Run], qrels: Mapping[str, Mapping[str, int]], plan: Plan) -> tuple[str, ...]:
    """What is wrong with brought runs and no longer seen in their ids: ranks against scores, ties across the k."""
    doubts, answered = [], {name: gold for name, gold in qrels.items() if relevant(gold, plan.relevant_from)}
    for path, run in runs.items():
        if ranks_against_scores(path):
            doubts.append(f"the ranks of {path.name} go against its scores: write scores of which more is better")
        apart = 0.0
        for name, gold in answered.items():
            answers = relevant(gold, plan.relevant_from)
            for sign in (1, -1):  # of equal scores the answers first, and the answers last
                listed = sorted(run.get(name, ()), key=lambda pair: (-pair[1], sign * (pair[0] not in answers)))
                value = plan.primary.score([id for id, _ in listed], gold, plan.relevant_from)
                apart += sign * value / len(answered)
        if apart > plan.worthwhile / 2:  # of the base and of the challenger
            doubts.append(f"equal scores leave {plan.primary} of {path.name} open by {apart:.3f}")
    return tuple(doubts)
