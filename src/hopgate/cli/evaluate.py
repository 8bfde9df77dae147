"""`hopgate gate`, `report`, `dataset`, `questions` and `slices`: whether the graph earns its place, on which data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopgate.cli import output, parameters
from hopgate.cli.output import counted, print_json, progress, say, stages, table
from hopgate.cli.parameters import PATH, Where, as_json, click_options, count, flag, on_store, path, several
from hopgate.errors import HopgateError
from hopgate.options import options_of

if TYPE_CHECKING:
    from hopgate.eval.data.dataset import Dataset
    from hopgate.eval.plan import Plan
    from hopgate.eval.verdict import Judgement

PAGE = "page.html"
# With --exit-code.
STATUS = {"OPEN": 0, "CLOSED": 10, "INCONCLUSIVE": 11, "INVALID": 12}
MEASURES = ("recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr")

folder_argument = click.argument("folder", help="A folder in the BEIR layout.", type=PATH, metavar="DIR")
dev_share = click.option("--dev", type=float, default=0.5, help="Share of the queries that go to the split dev.")


def _plan_options(function: Any) -> Any:
    """Give the gate an option for all that a plan can declare; imported here, as the gate is heavy."""
    from hopgate.eval.plan import Plan

    return click_options(options_of(Plan))(function)


@click.command("gate")
@click.argument(
    "datasets",
    help="Folders in the BEIR layout; with --store, one with queries and qrels.",
    nargs=-1,
    type=PATH,
    metavar="[DATASET]…",
)
@flag("--store", "Judge a store's graph as it is, read-only.")
@several("--runs", "Judge runs in TREC format: the bases', the challenger's last.", type=PATH)
@path("--qrels", "For --runs: judgements, as TREC or as BEIR's .tsv.")
@path("--queries", "For --runs: a queries.jsonl, for slices, scopes and clusters.")
@path("--plan", "Declare all this in a file: read where it is there, written where not.")
@path("--out", "Keep plan, runs, decision and page in this folder.")
@_plan_options
@flag("--exit-code", "Exit with 0 OPEN, 10 CLOSED, 11 INCONCLUSIVE, 12 INVALID.")
@flag("--apply", "Where a part opens, make the recommended arm the configuration of the store.")
@flag("--force", "For --apply: also where nothing opens.")
@on_store
@as_json
def gate(  # noqa: PLR0912 - the ways in, one after the other
    where: Where,
    datasets: tuple[Path, ...],
    store: bool,
    runs: tuple[Path, ...],
    qrels: Path | None,
    queries: Path | None,
    plan: Path | None,
    out: Path | None,
    exit_code: bool,
    apply: bool,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Test validly whether each part of the graph helps: OPEN, CLOSED, INCONCLUSIVE or INVALID.

    A data set is built in a throw-away store, from triples.jsonl where there is one; of several data sets the mean gain
    is given, too. With --store your own store is judged as it is, and nothing in it is changed. The exit status is 0
    for any verdict, unless --exit-code asks.

    Example: hopgate gate my-dataset --out gate-report
    """
    from hopgate.eval.gate import apply_settings, gate_runs
    from hopgate.eval.plan import declared
    from hopgate.eval.verdict import over_sets

    declaration = declared(plan, parameters.values(given))
    if force and not apply:
        raise HopgateError("--force belongs to --apply: add it, or leave --force out")
    if where.place is not None and not (store or apply):
        raise HopgateError("--data and --dsn name a store: add --store to judge its graph, or leave them out")
    if runs:
        if qrels is None:
            raise HopgateError("--runs needs --qrels: the judgements that the runs are scored with")
        # `--runs base challenger` gives the option its first word, and the argument the others.
        judgements = [gate_runs([*runs, *datasets], qrels, queries=queries, plan=declaration, out=out)]
    elif not datasets:
        raise HopgateError("name a data set, or runs with --runs and --qrels")
    else:
        if len(datasets) > 1 and (store or apply):
            raise HopgateError("--store and --apply are about one data set: name one")
        judgements = [
            _judge(where if store else None, folder, declaration, out / folder.name if out and datasets[1:] else out)
            for folder in datasets
        ]
    judgement = judgements[0]
    applied = None
    if apply and (judgement.opened or force):
        with where.opened() as kb:
            applied = apply_settings(judgement, kb)
    together = over_sets(judgements)
    if as_json:
        told = judgement.to_dict() if len(judgements) == 1 else {"sets": judgements, "together": together}
        print_json({**told, **({"applied": applied} if apply else {})})
    else:
        for each in judgements:
            show_judgement(each)
        for part, found in together.items():
            say(f"{part} {found}")
        if apply:
            none = "nothing was applied: no part opened (--force applies the recommended arm all the same)"
            say(f"\napplied to the store: {applied['fuser']}" if applied else f"\n{none}")
        if out is not None:
            say(f"\npage: {out / PAGE}" if len(judgements) == 1 else f"\npages: {out}/*/{PAGE}")
    if exit_code:
        sys.exit(max(STATUS[each.verdict] for each in judgements))


def _judge(where: Where | None, folder: Path, plan: Plan, out: Path | None) -> Judgement:
    """Judge a store's graph as it is where one is named, else that of a data set's own store."""
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.gate import gate_store, run_gate

    if where is None:
        with stages() as stage:
            return run_gate(read_dataset(folder), plan, out=out, stage=stage)
    for name in ("extractor", "statements", "embedder"):
        if getattr(plan, name):
            raise HopgateError(f"a store is judged as it is: leave --{name} out, or leave --store out")
    with where.opened() as kb, stages() as stage:
        return gate_store(kb, read_dataset(folder, kb.export()), plan, out=out, stage=stage)


def show_judgement(judgement: Judgement) -> None:
    """Print the headline, what to do, the ladder, the checks and the arms."""
    from hopgate.eval.report import headline, looks, todo

    say(headline(judgement))
    say(f"what to do now: {todo(judgement)}")
    rows = [
        (claim.part, claim.verdict.value, f"{claim.difference:+.3f}", f"{low:+.3f} to {high:+.3f}", claim.over,
         str(claim.cost))
        for claim in judgement.claims
        for low, high in (claim.interval,)
    ]  # fmt: skip
    say(table(("part", "verdict", "gain", "interval", "over", "cost"), rows, title="parts", right=("gain",)))
    checks = [(check.name, check.status.value, check.finding) for check in judgement.checks]
    say(table(("check", "status", "finding"), checks, title="checks"))
    measures = [str(measure) for measure in judgement.evidence.measures]
    arms = [[name, *(f"{own[measure]:.3f}" for measure in measures)] for name, own in judgement.values.items()]
    say(table(("arm", *measures), arms, title="arms", right=measures))
    say(f"{looks(judgement)}; fingerprint {judgement.fingerprint}")


@click.command("report")
@click.argument("folder", help="What hopgate gate --out wrote.", type=PATH, metavar="DIR")
@flag("--verify", "Check that nothing was changed; exit with 1 where something was.")
@click.option("--fingerprint", help="For --verify: the fingerprint that was printed when the gate was run.")
@path("--replay", "Compute everything anew from this data set and compare; exit with 1 where something differs.")
@as_json
def report(folder: Path, verify: bool, fingerprint: str | None, replay: Path | None, as_json: bool) -> None:
    """Recompute a saved gate from its runs, and show it.

    Example: hopgate report gate-report --verify
    """
    from hopgate.eval import record
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.gate import replay as replayed

    if verify or replay is not None:
        differs = record.verify(folder, fingerprint)
        if replay is not None:
            with stages() as stage:
                differs += replayed(folder, read_dataset(replay), stage=stage)
        state = "not as it was saved" if differs else "consistent"
        output.show(as_json, {"differs": differs}, [*differs, f"{folder}: {state}"])
        sys.exit(1 if differs else 0)
    judgement = record.judged(folder)
    if as_json:
        print_json(judgement.to_dict())
    else:
        show_judgement(judgement)


@click.group("dataset")
def dataset() -> None:
    """Public files into the BEIR layout, every check at once, and scores for any system's runs."""


@dataset.command("import")
@click.argument("layout", help="beir, trec, hotpotqa, musique, 2wiki, locomo or longmemeval.")
@click.argument(
    "file", help="The questions, as JSON or lines of it; for beir the folder, for trec judgements.", type=PATH
)
@click.argument("folder", help="The folder to write: new or empty.", type=PATH, metavar="DIR")
@path("--corpus", "For trec: a corpus.jsonl.")
@path("--queries", "For trec: a queries.jsonl, or lines of an id, a tab and a text.")
@dev_share
@as_json
def import_(layout: str, file: Path, folder: Path, as_json: bool, **given: Any) -> None:
    """Turn a public file into a BEIR folder that passes every check.

    Queries of one scope, with the same text or with gold in common stay together in a split. TREC judgements are lines
    of query, 0, document and grade.

    Example: hopgate dataset import musique musique_ans_v1.0_dev.jsonl my-dataset
    """
    from hopgate.eval.data.importers import import_dataset

    with progress("reading"):
        made = import_dataset(layout, file, folder, **given)
    _show_dataset(made, as_json)


@dataset.command("split")
@folder_argument
@click.argument("out", help="The folder to write: new or empty.", type=PATH)
@dev_share
@as_json
def split(folder: Path, out: Path, dev: float, as_json: bool) -> None:
    """Copy a data set with its queries divided anew into dev and test.

    Queries of one scope, with the same text or with gold in common stay together.

    Example: hopgate dataset split my-dataset my-split --dev 0.3
    """
    from hopgate.eval.data.dataset import split_dataset

    _show_dataset(split_dataset(folder, out, dev=dev), as_json)


@dataset.command("check")
@folder_argument
@as_json
def check(folder: Path, as_json: bool) -> None:
    """Read a data set with every check, and list all that a gate would refuse it for.

    The exit status is 2 where something is listed.

    Example: hopgate dataset check my-dataset
    """
    from hopgate.eval.data.dataset import check_dataset

    with progress("reading"):
        read, problems = check_dataset(folder)
    if read is None:
        output.show(as_json, {"problems": problems}, problems)
        raise HopgateError(f"{folder} has {counted(len(problems), 'problem')}: a gate would refuse it")
    _show_dataset(read, as_json, problems=[])


@dataset.command("score")
@folder_argument
@click.argument(
    "runs", help="TREC runs: query Q0 memory rank score tag.", nargs=-1, required=True, type=PATH, metavar="RUN…"
)
@click.option("--split", default="test", help="The split that is scored.")
@several("--measure", "recall@k, ndcg@k, mrr, map or success@k; again for more.", show_default="six of them")
@count("--relevant-from", "The least grade that counts as an answer.", 1)
@as_json
def score(
    folder: Path, runs: Sequence[Path], split: str, measure: Sequence[str], relevant_from: int, as_json: bool
) -> None:
    """Score runs of any system with the gate's measures.

    The score decides the order, and ties go by id; a query that a run lacks counts 0.

    Example: hopgate dataset score my-dataset bm25.run --measure recall@10
    """
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.data.runs import read_run
    from hopgate.eval.measures import mean_score, parse_measure

    rows: list[dict[str, Any]] = []
    measures, read = [parse_measure(name) for name in measure or MEASURES], read_dataset(folder)
    qrels, known = read.split(split), {memory.external_id for memory in read.memories}
    for file in runs:
        run = read_run(file)
        listed = {memory: query for query, ranking in run.items() for memory, _ in ranking}
        if unknown := listed.keys() - known:
            told = f"the query {listed[min(unknown)]!r} ranks {min(unknown)!r}"
            raise HopgateError(f"{file}: {told}, which is not in the data set's corpus")
        figures = {str(each): mean_score(each, run, qrels, relevant_from) for each in measures}
        missing = len(qrels.keys() - run.keys())
        rows.append({"run": str(file), "queries": len(qrels), "missing": missing, "measures": figures})
    lines = [
        f"{row['run']}: {'  '.join(f'{name} {figure:.3f}' for name, figure in row['measures'].items())}  "
        f"({counted(row['queries'], 'query')}, {row['missing']} not in the run)"
        for row in rows
    ]
    output.show(as_json, rows, lines)


def _show_dataset(read: Dataset, as_json: bool, **more: Any) -> None:
    """Print how much of everything there is in a data set that was written."""
    counts = {**read.counts(), **more}
    output.show(as_json, {"folder": str(read.folder), **counts}, [str(read.folder), *output.pairs(counts)])


@click.command("questions")
@click.argument("file", help="The file of questions; it is made where it is not there.", type=PATH)
@path("--out", "Write the judged questions here, for hopgate gate DIR --store.", metavar="DIR")
@dev_share
@on_store
@as_json
def questions(where: Where, file: Path, out: Path | None, dev: float, as_json: bool) -> None:
    """Write and judge questions about your own memories: a file to fill in, with candidates to tick.

    Run it once to get the file, again when questions are in it to get candidates from every leg, and with --out when
    the boxes are ticked.

    Example: hopgate questions questions.md
    """
    from hopgate.eval.data import questions as own

    if not file.exists():
        file.write_text(own.questions_text([], {}), encoding="utf-8")
        line = f"{file}: write your questions into it, and run this again for candidates to tick"
        output.show(as_json, {"questions": 0, "judged": 0}, line)
        return
    asked = own.read_questions(file)
    if not asked:
        raise HopgateError(f"{file} holds no question yet: write one after each ##")
    judged = sum(bool(question.gold) for question in asked)
    with where.opened() as kb:
        if out is not None:
            written, left = own.write_judged(out, asked, set(kb.id_map().values()), dev=dev)
            # Without questions to tune on a gate is told to use what the store has.
            tune = "" if (out / "qrels" / "dev.tsv").exists() else " --tune none"
            line = f"{out}: {written} judged questions, {left} without a tick; now hopgate gate {out} --store{tune}"
        else:
            asked, pool, texts = own.with_candidates(kb, asked)
            own.keep_pool(file, pool)
            file.write_text(own.questions_text(asked, texts), encoding="utf-8")
            line = f"{file}: {counted(len(asked), 'question')}, {judged} judged; tick what answers, then add --out DIR"
    output.show(as_json, {"questions": len(asked), "judged": judged}, line)


@click.group("slices")
def slices() -> None:
    """Multi-hop questions from one's own facts."""


@slices.command("build")
@path("--out", "The data set to write: a new or empty folder.", required=True)
@path("--dataset", "Make them from this data set's triples.jsonl instead of a store's graph.")
@count("--limit", "How many questions at most.", 200)
@count("--neighbours", "Memories among each other's nearest so many are adjacent; such hops are left out.", 1)
@dev_share
@click.option("--seed", type=int, default=0, help="Which of the paths come first.")
@on_store
@as_json
def build(where: Where, out: Path, dataset: Path | None, as_json: bool, **given: Any) -> None:
    """Make a data set of multi-hop questions whose hops are not adjacent, from a graph's own facts in force.

    It is for exploring: a gate on made questions never opens. The facts they were made from are left out of its
    triples.jsonl, and so are sensitive memories.

    Example: hopgate slices build --dataset my-dataset --out my-hops --hops 2
    """
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.made_questions import made_dataset, store_triples

    if dataset is not None:
        if where.place is not None:
            raise HopgateError("--dataset is made from files: leave --data and --dsn out, or leave it out")
        read = read_dataset(dataset)
        if not read.triples:
            raise HopgateError(f"{dataset} has no triples.jsonl: questions are made from the facts in it")
        memories, triples = list(read.memories), list(read.triples)
    else:
        with where.opened() as kb:
            memories, triples = list(kb.export()), store_triples(kb)
    with progress("making questions"):
        made, dropped = made_dataset(memories, triples, out, **given)
    _show_dataset(made, as_json, left_out=dict(dropped))
