"""`hopgate recall`: a query in, memories out. Plain words do not come this way (plain_options.py)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from hopgate.cli.recall_answer import answer
from hopgate.cli.shared_options import AsJson, Data, Dsn, read_date


def command(
    query: Annotated[str, typer.Argument(help="What to recall, in plain words.")],
    k: Annotated[int | None, typer.Option("--k", help="How many memories.", show_default="10")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Only memories of this scope; may be given again.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave out this _id; may be given again.")] = None,
    sort_by: Annotated[
        str | None, typer.Option(help="relevance, importance or recency.", show_default="relevance")
    ] = None,
    lexical: Annotated[float | None, typer.Option(help="Weight of the lexical leg, 0 to 5; 0 skips it.")] = None,
    dense: Annotated[float | None, typer.Option(help="Weight of the dense leg, 0 to 5; 0 skips it.")] = None,
    graph: Annotated[float | None, typer.Option(help="Weight of the graph leg, 0 to 5; 0 skips it.")] = None,
    fuser: Annotated[str | None, typer.Option(help="The fuser as it prints, such as 'MinMax(graph=4)'.")] = None,
    depth: Annotated[int | None, typer.Option(help="How deep each leg goes.", show_default="50")] = None,
    prior: Annotated[
        float | None, typer.Option(help="What importance 0 keeps of a score; 1 is no prior.", show_default="0.7")
    ] = None,
    exact_match: Annotated[
        float | None, typer.Option(help="Bonus of an exact match, as a leg's weight.", show_default="0")
    ] = None,
    min_score: Annotated[float | None, typer.Option(help="Leave out hits that score less.")] = None,
    rerank: Annotated[
        bool | None, typer.Option("--rerank/--no-rerank", help="Let a cross-encoder read the fused top again.")
    ] = None,
    rerank_model: Annotated[
        str | None,
        typer.Option(help="Its cross-encoder: a sentence-transformers name or path.", show_default="bundled"),
    ] = None,
    lexical_ranker: Annotated[
        str | None, typer.Option(help="How the lexical leg ranks: bm25 or ts_rank.", show_default="bm25")
    ] = None,
    rerank_depth: Annotated[int | None, typer.Option(help="How many of the top it reads.", show_default="30")] = None,
    rerank_timeout: Annotated[
        float | None, typer.Option(help="Seconds it may take; what it read by then is used.", show_default="2")
    ] = None,
    stages: Annotated[
        str | None, typer.Option(help="What follows the legs with --rerank.", show_default="fuse > rerank > walk")
    ] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(help="Walk the graph as it was true on this date.", parser=read_date, metavar="DATE"),
    ] = None,
    known_at: Annotated[
        datetime | None, typer.Option(help="Use only what was known by this date.", parser=read_date, metavar="DATE")
    ] = None,
    cluster: Annotated[
        int | None, typer.Option(help="Only memories linked to this cluster of concepts: see concepts clusters.")
    ] = None,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Give memories that others took the place of, too.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each leg did for each hit.")] = False,
    why_not: Annotated[
        str | None, typer.Option(help="Say instead why the memory of this _id is not among the hits, or where it is.")
    ] = None,
    sqlite: Annotated[
        Path | None, typer.Option(help="Search this SQLite FTS5 database, read-only, instead of a store.")
    ] = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Recall memories for a query.

    Example: hopgate recall "where does the backup job run" --k 5 --explain
    """
    answer(
        query, k=k, scope=scope, exclude=exclude, sort_by=sort_by, lexical=lexical, dense=dense, graph=graph,
        fuser=fuser, depth=depth, prior=prior, exact_match=exact_match, min_score=min_score, rerank=rerank,
        rerank_model=rerank_model, lexical_ranker=lexical_ranker, rerank_depth=rerank_depth,
        rerank_timeout=rerank_timeout, stages=stages, as_of=as_of, known_at=known_at, cluster=cluster,
        include_superseded=include_superseded, explain=explain, why_not=why_not, sqlite=sqlite, data=data,
        dsn=dsn, as_json=as_json,
    )  # fmt: skip
