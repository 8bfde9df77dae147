"""`hopgate dataset`: public files into the BEIR layout, every check at once, and scores for any system's runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hopgate.cli.output import counted, print_json, progress, say
from hopgate.cli.shared_options import AsJson
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.eval.data.dataset import Dataset
    from hopgate.eval.measures import Measure

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Folder = Annotated[Path, typer.Argument(help="A folder in the BEIR layout.", metavar="DIR")]
# More problems than this are counted and not listed: they are usually one and the same.
LISTED = 50


@app.command("import")
def import_(
    layout: Annotated[
        str, typer.Argument(help="beir, trec, hotpotqa, musique, 2wiki, locomo or longmemeval.", metavar="LAYOUT")
    ],
    file: Annotated[
        Path,
        typer.Argument(
            help="The questions, as JSON or lines of it; for beir the folder, for trec judgements.", metavar="FILE"
        ),
    ],
    folder: Annotated[Path, typer.Argument(help="The folder to write: new or empty.", metavar="DIR")],
    corpus: Annotated[
        Path | None,
        typer.Option(help="HippoRAG's corpus.json; for trec a corpus.jsonl.", show_default="what the questions carry"),
    ] = None,
    queries: Annotated[
        Path | None, typer.Option(help="For trec: a queries.jsonl, or lines of an id, a tab and a text.")
    ] = None,
    triples: Annotated[Path | None, typer.Option(help="HippoRAG's extraction results.")] = None,
    dev: Annotated[float, typer.Option(help="Share of the queries that go to the split dev.")] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Turn a public file into a BEIR folder that passes every check.

    A query goes to dev or test by a hash of its id. TREC judgements are lines of query, 0, document and grade.

    Example: hopgate dataset import musique musique_ans_v1.0_dev.jsonl my-dataset
    """
    from hopgate.eval.data.importers import import_dataset

    with progress("reading"):
        made = import_dataset(layout, file, folder, corpus=corpus, queries=queries, triples=triples, dev=dev)
    show_counts(made, as_json)


@app.command()
def split(
    folder: Folder,
    out: Annotated[Path, typer.Argument(help="The folder to write: new or empty.", metavar="OUT")],
    dev: Annotated[float, typer.Option(help="Share of the queries that go to the split dev.")] = 0.5,
    by_scope: Annotated[
        bool, typer.Option("--by-scope", help="Keep the queries of one scope together in a split.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy a data set with its queries divided anew into dev and test, by a hash of their ids.

    Example: hopgate dataset split my-dataset my-split --dev 0.3
    """
    from hopgate.eval.data.split import split_dataset

    show_counts(split_dataset(folder, out, dev=dev, by_scope=by_scope), as_json)


@app.command()
def check(
    folder: Folder,
    tune: Annotated[str, typer.Option(help="The split that a gate would tune on; none for none.")] = "dev",
    split: Annotated[str, typer.Option(help="The split that a gate would report.")] = "test",
    as_json: AsJson = False,
) -> None:
    """Read a data set with every check, and list all that a gate would refuse it for.

    The exit status is 2 where something is listed.

    Example: hopgate dataset check my-dataset
    """
    from hopgate.eval.data.dataset import check_dataset
    from hopgate.eval.gate.plan import GateOptions, plan_problems

    with progress("reading"):
        dataset, problems = check_dataset(folder)
    if dataset is not None:
        problems = plan_problems(dataset, GateOptions(tune="" if tune == "none" else tune, split=split))
    if as_json:
        print_json({**(dataset.counts() if dataset else {}), "problems": problems})
    elif dataset is not None and not problems:
        show_counts(dataset, as_json)
    else:
        for problem in problems[:LISTED]:
            say(problem)
        if len(problems) > LISTED:
            say(f"… and {len(problems) - LISTED:,} more")
    if problems:
        many = "one problem" if len(problems) == 1 else counted(len(problems), "problem")
        raise HopgateError(f"{folder} has {many}: a gate would refuse it")


@app.command()
def score(
    folder: Folder,
    runs: Annotated[list[Path], typer.Argument(help="TREC runs: query Q0 memory rank score tag.", metavar="RUN…")],
    split: Annotated[str, typer.Option(help="The split that is scored.")] = "test",
    measure: Annotated[
        list[str] | None,
        typer.Option(help="recall@k, ndcg@k, mrr, map or success@k; again for more.", show_default="six of them"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score runs of any system with the gate's measures.

    The score decides the order, and ties go by id; a query that a run lacks counts 0.

    Example: hopgate dataset score my-dataset bm25.run --measure recall@10
    """
    from hopgate.eval.data.dataset import read_dataset
    from hopgate.eval.measures import parse_measure

    names = measure or ["recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr"]
    measures = [parse_measure(name) for name in names]
    dataset = read_dataset(folder)
    rows = [_scored(dataset, split, path, measures) for path in runs]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        values = "  ".join(f"{name} {value:.3f}" for name, value in row["measures"].items())
        missing = f", {row['missing']} of them not in the run" if row["missing"] else ""
        say(f"{row['run']}: {values}  ({counted(row['queries'], 'query')}{missing})")


def _scored(dataset: Dataset, split: str, path: Path, measures: list[Measure]) -> dict[str, Any]:
    from hopgate.eval.data.trec import read_run

    qrels, run = dataset.split(split), read_run(path)
    known = {memory.external_id for memory in dataset.memories}
    for query, ranking in run.items():
        if unknown := next((memory for memory, _ in ranking if memory not in known), None):
            raise HopgateError(f"{path}: the query {query!r} ranks {unknown!r}, which is not in the data set's corpus")
    return {
        "run": str(path),
        "queries": len(qrels),
        "missing": len(qrels.keys() - run.keys()),
        "measures": {str(measure): measure.mean(run, qrels) for measure in measures},
    }


def show_counts(dataset: Dataset, as_json: bool) -> None:
    """Print how much of everything there is in a data set that was written or checked."""
    counts = dataset.counts()
    if as_json:
        print_json({"folder": str(dataset.folder), **counts})
        return
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts["types"].items())
    hops = ", ".join(f"{count:,} of {number}" for number, count in counts["hops"].items())
    say(f"{dataset.folder}: {counted(counts['memories'], 'memory')}, {counts['sensitive']:,} of them sensitive")
    say(f"  queries: {', '.join(f'{count:,} {split}' for split, count in counts['splits'].items())}")
    for title, line in (("types", kinds), ("hops", hops)):
        if line:
            say(f"  {title}: {line}")
    facts = (
        f"{counted(counts['facts'], 'fact')} and {counted(counts['mentions'], 'mention')}"
        if dataset.triples
        else "none"
    )
    say(f"  triples: {facts}")
