"""What `hopgate recall` does with its options: ask a store, or an SQLite database, and print what was found."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hopgate.cli.output import opened, print_json, say
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.recall.settings import RecallOptions
    from hopgate.recall.why_not import Explanation


def answer(
    query: str,
    *,
    k: int | None = None,
    scope: list[str] | None = None,
    exclude: list[str] | None = None,
    sort_by: str | None = None,
    lexical: float | None = None,
    dense: float | None = None,
    graph: float | None = None,
    fuser: str | None = None,
    depth: int | None = None,
    prior: float | None = None,
    exact_match: float | None = None,
    min_score: float | None = None,
    rerank: bool | None = None,
    rerank_model: str | None = None,
    lexical_ranker: str | None = None,
    rerank_depth: int | None = None,
    rerank_timeout: float | None = None,
    stages: str | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    cluster: int | None = None,
    include_superseded: bool = False,
    explain: bool = False,
    why_not: str | None = None,
    sqlite: Path | None = None,
    data: Path | None = None,
    dsn: str | None = None,
    as_json: bool = False,
) -> None:
    """Answer a query; the parameters are the options of `recall.command`, and their kinds are read by plain_options."""
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
        of_a_store = {
            "as_of": as_of, "known_at": known_at, "include_superseded": include_superseded, "explain": explain,
            **{name: value for name, value in given.items() if name != "k"},
        }  # fmt: skip
        if named := [
            f"--{name.replace('_', '-')}"
            for name, value in of_a_store.items()
            if value is not None and value is not False
        ]:
            raise HopgateError(f"an SQLite database has its words alone: leave {', '.join(named)} out")
        _from_sqlite(sqlite, query, k, scope[0] if scope else None, exclude or [], as_json)
        return
    changes = cast("RecallOptions", {name: value for name, value in given.items() if value is not None})
    narrowed: dict[str, Any] = {
        "scope": scope or None, "exclude": exclude or (), "as_of": as_of, "known_at": known_at, "cluster": cluster,
        "include_superseded": include_superseded,
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
        from hopgate.cli.hit_table import show_hits

        show_hits(query, hits, explain)
    else:
        say("the store is empty: run hopgate ingest first" if empty else "nothing found")


def _show_absence(found: Explanation) -> None:
    say(found.sentence)
    for name, sight in found.legs.items():
        place = "–" if sight.rank is None else f"rank {sight.rank}" + (f" ({sight.score:.3f})" if sight.score else "")
        say(f"  {name}: {place}: {sight.reason}")


def _from_sqlite(path: Path, query: str, k: int | None, scope: str | None, exclude: list[str], as_json: bool) -> None:
    from hopgate.recall.filters import check_query
    from hopgate.recall.fuse import RRF
    from hopgate.recall.settings import resolve_settings
    from hopgate.store.sqlite import SqliteLexical

    depth = resolve_settings(arguments={"k": k}).settings.k
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
