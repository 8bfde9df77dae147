"""`hopgate recall`: a query in, memories out."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hopgate.cli.common import AsJson, Data, Dsn, cell, console, one_line, opened, print_json, say
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.recall.hit import Hit
    from hopgate.recall.settings import RecallOptions
    from hopgate.recall.why_not import Explanation

SNIPPET = 200


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
    as_of: Annotated[datetime | None, typer.Option(help="Walk the graph as it was true on this date.")] = None,
    known_at: Annotated[datetime | None, typer.Option(help="Use only what was known by this date.")] = None,
    cluster: Annotated[
        int | None, typer.Option(help="Only memories linked to this cluster of concepts: see concepts clusters.")
    ] = None,
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
    given: dict[str, Any] = {
        "k": k, "sort_by": sort_by, "lexical": lexical, "dense": dense, "graph": graph, "fuser": fuser,
        "depth": depth, "prior": prior, "exact_match": exact_match, "min_score": min_score, "rerank": rerank,
        "rerank_model": rerank_model, "rerank_depth": rerank_depth, "rerank_timeout": rerank_timeout, "stages": stages,
        "lexical_ranker": lexical_ranker,
    }  # fmt: skip
    if sqlite is not None:
        if why_not is not None:
            raise HopgateError("an SQLite database has one leg and no graph: --why-not is for a store")
        if scope and len(scope) > 1:
            raise HopgateError("an SQLite database is searched in one scope: give --scope once")
        if cluster is not None:
            raise HopgateError("an SQLite database has no graph, and so no clusters: leave --cluster out")
        _from_sqlite(sqlite, query, k, scope[0] if scope else None, exclude or [], as_json)
        return
    changes = cast("RecallOptions", {name: value for name, value in given.items() if value is not None})
    narrowed: dict[str, Any] = {
        "scope": scope or None, "exclude": exclude or (), "as_of": as_of, "known_at": known_at, "cluster": cluster,
    }  # fmt: skip
    with opened(data, dsn) as kb:
        if why_not is not None:
            found = kb.explain(query, why_not, **narrowed, **changes)
            print_json(found.to_dict()) if as_json else _show_absence(found)
            return
        hits = kb.recall(query, explain=explain, **narrowed, **changes)
        empty = not hits and len(kb) == 0
    if as_json:
        print_json([hit.to_dict() for hit in hits])
    elif hits:
        _show(query, hits, explain)
    else:
        say("the store is empty: run hopgate ingest first" if empty else "nothing found")


def _show(query: str, hits: list[Hit], explain: bool) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("memory")
    table.add_column("score", justify="right")
    table.add_column("content", overflow="fold", ratio=1)
    if explain:
        table.add_column("why")
    for hit in hits:
        # Of a long memory the passage that speaks for it, from where it speaks of the query's words.
        shown = one_line(hit.memory) if hit.passage is None else fitting_part(hit.passage.text, query)
        content = " ".join(shown.split())
        row = [
            cell(str(hit.rank)),
            cell(hit.external_id),
            cell(marked_score(hit)),
            cell(content if len(content) <= SNIPPET else content[: SNIPPET - 1] + "…"),
        ]
        table.add_row(*row, *([cell(why(hit))] if explain else []))
    console().print(table)
    if any(hit.lifted for hit in hits):
        say("↑ lifted: a leg, or lexical and dense together, has it first")
    # A query has one mixture of walks and one date, whatever the hit.
    for what, said in (("walks from", [hit.mixture for hit in hits]), ("as of", [hit.as_of for hit in hits])):
        if any(said):
            say(f"{what} {max(said)}")


def marked_score(hit: Hit) -> str:
    """A hit's score, marked where the hit stands higher than it says: else the column would look out of order.

    Examples
    --------
    >>> from hopgate.memory import Memory
    >>> from hopgate.recall.hit import Hit
    >>> memory = Memory("m1", "The NAS moved to the cellar.")
    >>> [marked_score(Hit(3, "m1", 0.91, memory, {}, lifted=lifted)) for lifted in (False, True)]
    ['0.9100', '↑ 0.9100']
    """
    return f"{'↑ ' if hit.lifted else ''}{hit.score:.4f}"


def _show_absence(found: Explanation) -> None:
    say(found.sentence)
    for name, sight in found.legs.items():
        place = "–" if sight.rank is None else f"rank {sight.rank}" + (f" ({sight.score:.3f})" if sight.score else "")
        say(f"  {name}: {place}: {sight.reason}")


def fitting_part(text: str, query: str) -> str:
    """Cut a text before the sentence from which on a snippet holds most words of the query.

    Examples
    --------
    >>> fitting_part("It rained. " * 40 + "The key is in the shed.", "where is the key")
    'The key is in the shed.'
    """
    words = set(re.findall(r"\w{3,}", query.lower()))
    starts = [0, *(match.end() for match in re.finditer(r"[.!?]\s+|\n+", text))]

    def shared(start: int) -> int:
        return len(words.intersection(re.findall(r"\w+", text[start : start + SNIPPET].lower())))

    return text[max(reversed(starts), key=shared) :]


def why(hit: Hit) -> str:
    """Say in a few lines what put a hit where it is."""
    lines = [f"{name} #{part.rank} ({part.score:.3f}) +{part.contribution:.4f}" for name, part in hit.legs.items()]
    if hit.unseen:
        lines += [f"{name} could not see it +{granted:.4f}" for name, granted in hit.unseen.items()]
        lines.append(f"scaled ×{hit.scale:.2f} for that")
    if hit.bonus:
        lines.append(f"exact match +{hit.bonus:.4f}")
    lines.append(f"prior ×{hit.prior:.2f}")
    if not hit.in_graph:
        lines.append("the graph does not have it: scored by its place in the base")
    if hit.lifted:
        lines.append("lifted: first in a leg or in the base")
    if hit.rerank_score is not None:
        lines.append(f"reranked {hit.rerank_score:.2f}")
    if hit.rerank_cost is not None and hit.rank == 1:
        lines.append(f"({hit.rerank_cost})")
    if hit.walk_score is not None:
        lines.append(f"walk {hit.walk_score:.4f}")
    if hit.passage is not None:
        lines.append(f"characters {hit.passage.start}–{hit.passage.end}")
    if hit.path:
        lines.append(" → ".join(hit.path))
    return "\n".join(lines)


def _from_sqlite(path: Path, query: str, k: int | None, scope: str | None, exclude: list[str], as_json: bool) -> None:
    from hopgate.recall.filters import check_query
    from hopgate.recall.fuse import RRF
    from hopgate.recall.settings import load_settings
    from hopgate.store.sqlite.fts5 import SqliteLexical

    depth = load_settings(arguments={"k": k}).k
    with SqliteLexical(path) as database:
        leg = database.leg(check_query(query), depth=depth, scope=scope, exclude=exclude)
    scores = dict(leg)
    hits = [
        {"rank": rank, "_id": hit.id, "score": scores[hit.id]}
        for rank, hit in enumerate(RRF().fuse({"lexical": leg}), 1)
    ]
    if as_json:
        print_json(hits)
        return
    for hit in hits:
        say(f"{hit['rank']:>3}  {hit['_id']}  {hit['score']:.4f}")
    if not hits:
        say("nothing found")
