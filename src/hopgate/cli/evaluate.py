"""`hopgate gate`, `report`, `dataset` and `questions`: whether the graph earns its place, on which data."""

from pathlib import Path
from typing import Any

import click

from hopgate.cli.output import Shown, Table, counted, pairs, progress, stages
from hopgate.cli.parameters import PATH, Location, click_options, flag, on_store, path, printed, several, values
from hopgate.errors import HopgateError
from hopgate.eval import Dataset, Judgement, Plan, gate_runs, gate_store, read_dataset, record, run_gate
from hopgate.eval.data import questions as own_questions
from hopgate.eval.data.dataset import check_dataset, split_dataset
from hopgate.eval.data.importers import import_dataset
from hopgate.eval.gate import apply_settings
from hopgate.eval.gate import replay as replayed
from hopgate.eval.plan import declared
from hopgate.eval.verdict import over_sets

PAGE = "page.html"
# With --exit-code.
STATUS = {"OPEN": 0, "CLOSED": 10, "INCONCLUSIVE": 11, "INVALID": 12}

folder_argument = click.argument("folder", help="A folder in the BEIR layout.", type=PATH, metavar="DIR")
dev_share = click.option("--dev", type=float, default=0.5, help="Share of the queries that go to the split dev.")


@click.command("gate")
@click.argument("datasets", help="Folders in the BEIR layout; with --store, queries and qrels.", nargs=-1, type=PATH)
@flag("--store", "Judge a store's graph as it is, read-only.")
@several("--runs", "Judge runs in TREC format: the bases', the challenger's last.", type=PATH)
@path("--qrels", "For --runs: judgements, as TREC or as BEIR's .tsv.")
@path("--queries", "For --runs: a queries.jsonl, for slices, scopes and clusters.")
@path("--plan", "Declare all this in a file: read where it is there, written where not.")
@path("--out", "Keep plan, runs, decision and page in this folder.")
@click_options(Plan)
@flag("--exit-code", "Exit with 0 OPEN, 10 CLOSED, 11 INCONCLUSIVE, 12 INVALID.")
@flag("--apply", "Where a part opens, make the recommended arm the configuration of the store.")
@flag("--force", "For --apply: also where nothing opens.")
@on_store
@printed
def gate(
    location: Location,
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
    **given: Any,
) -> Shown:
    """Test validly whether each part of the graph helps: OPEN, CLOSED, INCONCLUSIVE or INVALID.

    A data set is built in a throw-away store, from triples.jsonl where there is one; of several data sets the mean gain
    is given, too. With --store your own store is judged as it is, and nothing in it is changed. The exit status is 0
    for any verdict, unless --exit-code asks.

    Example: hopgate gate my-dataset --out gate-report
    """
    for is_wrong, reason in (
        (force and not apply, "--force belongs to --apply: add it, or leave --force out"),
        (location.place and not store and not apply, "--data and --dsn name a store: add --store, or leave them out"),
        (runs and qrels is None, "--runs needs --qrels: the judgements that the runs are scored with"),
        (not runs and not datasets, "name a data set, or runs with --runs and --qrels"),
        (datasets[1:] and (store or apply), "--store and --apply are about one data set: name one"),
    ):
        if is_wrong:
            raise HopgateError(reason)
    declaration, applied = declared(plan, values(given)), None
    if runs and qrels:
        # `--runs base challenger` gives the option its first word, and the argument the others.
        judgements = [gate_runs([*runs, *datasets], qrels, queries=queries, plan=declaration, out=out)]
    else:
        outs = [out / dataset.name if out and datasets[1:] else out for dataset in datasets]
        place = location if store else None
        judgements = [_judge(place, *each, declaration) for each in zip(datasets, outs, strict=True)]
    if apply and (judgements[0].opened or force):
        with location.opened() as kb:
            applied = apply_settings(judgements[0], kb)
    pooled = over_sets(judgements)
    lines = [line for judgement in judgements for line in _lines(judgement)]
    lines += [f"{part} {mean}" for part, mean in pooled.items()]
    if apply:
        none = "nothing was applied: no part opened (--force applies the recommended arm all the same)"
        lines.append(f"\napplied to the store: {applied['fuser']}" if applied else f"\n{none}")
    if out is not None:
        lines.append(f"\npages: {out}/*/{PAGE}" if judgements[1:] else f"\npage: {out / PAGE}")
    value = {"sets": judgements, "together": pooled} if judgements[1:] else judgements[0].to_dict()
    status = max(STATUS[judgement.verdict] for judgement in judgements) if exit_code else 0
    return {**value, **({"applied": applied} if apply else {})}, lines, status


def _judge(location: Location | None, folder: Path, out: Path | None, plan: Plan) -> Judgement:
    """Judge a store's graph as it is where one is named, else that of a data set's own store."""
    if location is None:
        with stages() as stage:
            return run_gate(read_dataset(folder), plan, out=out, stage=stage)
    for name in ("extractor", "statements", "embedder"):
        if getattr(plan, name):
            raise HopgateError(f"a store is judged as it is: leave --{name} out, or leave --store out")
    with location.opened() as kb, stages() as stage:
        return gate_store(kb, read_dataset(folder, kb.export()), plan, out=out, stage=stage)


def _lines(judgement: Judgement) -> list[object]:
    """The headline, what to do, the ladder, the checks and the arms."""
    claims = []
    for claim in judgement.claims:
        gain, interval = f"{claim.difference:+.3f}", "{:+.3f} to {:+.3f}".format(*claim.interval)
        claims.append((claim.part, claim.verdict.value, gain, interval, claim.over, str(claim.cost)))
    checks = [(check.name, check.status.value, check.finding) for check in judgement.checks]
    measures = [str(measure) for measure in judgement.evidence.measures]
    arms = [[name, *(f"{own[measure]:.3f}" for measure in measures)] for name, own in judgement.values.items()]
    return [
        judgement.headline,
        f"what to do now: {judgement.todo}",
        Table(("part", "verdict", "gain", "interval", "over", "cost"), claims, title="parts", right=("gain",)),
        Table(("check", "status", "finding"), checks, title="checks"),
        Table(("arm", *measures), arms, title="arms", right=measures),
        f"{judgement.looks}; fingerprint {judgement.fingerprint}",
    ]


@click.command("report")
@click.argument("folder", help="What hopgate gate --out wrote.", type=PATH, metavar="DIR")
@flag("--verify", "Check that nothing was changed; exit with 1 where something was.")
@click.option("--fingerprint", help="For --verify: the fingerprint that was printed when the gate was run.")
@path("--replay", "Compute everything anew from this data set and compare; exit with 1 where something differs.")
@printed
def report(folder: Path, verify: bool, fingerprint: str | None, replay: Path | None) -> Shown:
    """Recompute a saved gate from its runs, and show it.

    Example: hopgate report gate-report --verify
    """
    if not verify and replay is None:
        judgement = record.judged(folder)
        return judgement, _lines(judgement)
    differs = record.verify(folder, fingerprint)
    if replay is not None:
        with stages() as stage:
            differs += replayed(folder, read_dataset(replay), stage=stage)
    state = "not as it was saved" if differs else "consistent"
    return {"differs": differs}, [*differs, f"{folder}: {state}"], int(bool(differs))


@click.group("dataset")
def dataset() -> None:
    """Public files into the BEIR layout, and every check at once."""


@dataset.command("import")
@click.argument("layout", help="beir, trec, hotpotqa, musique, 2wiki, locomo or longmemeval.")
@click.argument("file", help="The questions, as JSON (lines); for beir its folder, for trec judgements.", type=PATH)
@click.argument("folder", help="The folder to write: new or empty.", type=PATH, metavar="DIR")
@path("--corpus", "For trec: a corpus.jsonl.")
@path("--queries", "For trec: a queries.jsonl, or lines of an id, a tab and a text.")
@dev_share
@printed
def import_(layout: str, file: Path, folder: Path, **given: Any) -> Shown:
    """Turn a public file into a BEIR folder that passes every check.

    Queries of one scope, with the same text or with gold in common stay together in a split. TREC judgements are lines
    of query, 0, document and grade.

    Example: hopgate dataset import musique musique_ans_v1.0_dev.jsonl my-dataset
    """
    with progress("reading"):
        return _counts(import_dataset(layout, file, folder, **given))


@dataset.command("split")
@folder_argument
@click.argument("out", help="The folder to write: new or empty.", type=PATH)
@dev_share
@printed
def split(folder: Path, out: Path, dev: float) -> Shown:
    """Copy a data set with its queries divided anew into dev and test.

    Queries of one scope, with the same text or with gold in common stay together.

    Example: hopgate dataset split my-dataset my-split --dev 0.3
    """
    return _counts(split_dataset(folder, out, dev=dev))


@dataset.command("check")
@folder_argument
@printed
def check(folder: Path) -> Shown:
    """Read a data set with every check, and list all that a gate would refuse it for.

    The exit status is 2 where something is listed.

    Example: hopgate dataset check my-dataset
    """
    with progress("reading"):
        read, problems = check_dataset(folder)
    return _counts(read, problems=[]) if read else ({"problems": problems}, problems, 2)


def _counts(read: Dataset, **more: Any) -> Shown:
    """How much of everything there is in a data set."""
    counts = {**read.counts(), **more}
    return {"folder": str(read.folder), **counts}, [str(read.folder), *pairs(counts)]


@click.command("questions")
@click.argument("file", help="The file of questions; it is made where it is not there.", type=PATH)
@path("--out", "Write the judged questions here, for hopgate gate DIR --store.", metavar="DIR")
@dev_share
@on_store
@printed
def questions(location: Location, file: Path, out: Path | None, dev: float) -> Shown:
    """Write and judge questions about your own memories: a file to fill in, with candidates to tick.

    Run it once to get the file, again when questions are in it to get candidates from every leg, and with --out when
    the boxes are ticked.

    Example: hopgate questions questions.md
    """
    if not file.exists():
        file.write_text(own_questions.questions_text({}, {}), encoding="utf-8")
        line = f"{file}: write your questions into it, and run this again for candidates to tick"
        return {"questions": 0, "judged": 0}, line
    asked = own_questions.read_questions(file)
    if not asked:
        raise HopgateError(f"{file} holds no question yet: write one after each ##")
    judged = sum(any(boxes.values()) for boxes in asked.values())
    line = f"{file}: {counted(len(asked), 'question')}, {judged} judged; tick what answers, then add --out DIR"
    with location.opened() as kb:
        if out is None:
            own_questions.add_candidates(kb, file, asked)
        else:
            written = own_questions.write_judged(out, asked, set(kb.id_map().values()), dev=dev)
            # Without questions to tune on a gate is told to use what the store has.
            tune = "" if (out / "qrels" / "dev.tsv").exists() else " --tune none"
            without = f"{written} judged questions, {len(asked) - written} without a tick"
            line = f"{out}: {without}; now hopgate gate {out} --store{tune}"
    return {"questions": len(asked), "judged": judged}, line
