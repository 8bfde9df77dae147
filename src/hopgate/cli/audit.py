"""`hopgate audit`: which legs can reach the top k at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hopgate.cli.output import opened, print_json, progress, say
from hopgate.cli.shared_options import AsJson, Data, Dsn

if TYPE_CHECKING:
    from hopgate.recall.reach import ListReach
    from hopgate.recall.settings import Settings


def command(
    leg: Annotated[str | None, typer.Option(help="Only this leg: lexical, dense or graph.")] = None,
    fuser: Annotated[str | None, typer.Option(help="The fuser as it prints, such as 'RRF(k=60)'.")] = None,
    lexical: Annotated[float | None, typer.Option(help="Weight of the lexical leg, 0 to 5.")] = None,
    dense: Annotated[float | None, typer.Option(help="Weight of the dense leg, 0 to 5.")] = None,
    graph: Annotated[float | None, typer.Option(help="Weight of the graph leg, 0 to 5.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="The top k in question.", show_default="10")] = None,
    depth: Annotated[int | None, typer.Option(help="How deep the legs go.", show_default="50")] = None,
    prior: Annotated[float | None, typer.Option(help="Floor of the importance prior; 1 is off.")] = None,
    queries: Annotated[Path | None, typer.Option(help="Also judge on the actual lists of these queries.jsonl.")] = None,
    data: Data = None,
    dsn: Dsn = None,
    as_json: AsJson = False,
) -> None:
    """Prove which legs can influence the top k: by closed form, and with --queries on a store's actual lists.

    A candidate seen by one leg only enters the top k when that leg's weight exceeds what is printed; a leg below its
    best case is barred, whatever it finds. Without --queries no store is opened.

    Example: hopgate audit --fuser "RRF(k=60, graph=0.35)" --json
    """
    from hopgate.recall.fuse import ExactMatch, Importance, active
    from hopgate.recall.reach import bound
    from hopgate.recall.settings import resolve_settings

    given = {"fuser": fuser, "lexical": lexical, "dense": dense, "graph": graph, "k": k, "depth": depth, "prior": prior}
    changes = {name: value for name, value in given.items() if value is not None}
    settings = resolve_settings(data, arguments=changes).settings
    legs = [leg] if leg else list(active(settings.fuser))
    extras: dict[str, Any] = {
        "prior": Importance(settings.prior) if settings.prior < 1 else None,
        "exact": ExactMatch(settings.exact_match) if settings.exact_match else None,
    }
    bounds = [bound(settings.fuser, leg=name, k=settings.k, depths=settings.depth, **extras) for name in legs]
    found = _on_lists(queries, settings, legs, extras, data, dsn) if queries else []
    if as_json:
        values: dict[str, Any] = {"bounds": {reach.leg: reach.to_dict() for reach in bounds}}
        if found:
            values["lists"] = {reach.leg: reach.to_dict() for reach in found}
        print_json(values)
        return
    for reach in [*bounds, *found]:
        say(str(reach))


def _on_lists(
    queries: Path, settings: Settings, legs: list[str], extras: dict[str, Any], data: Path | None, dsn: str | None
) -> list[ListReach]:
    from hopgate.eval.data.queries import read_queries
    from hopgate.recall.reach import on_lists

    read = read_queries(queries)
    with opened(data, dsn) as kb, progress("recalling", len(read)) as advance:
        lists, importance = {}, dict[int, float]()
        for query in read.values():
            given, weights = kb.legs(query.text, scope=query.scope, settings=settings)
            lists[query.id] = given.found
            importance |= weights
            advance(1)
    return [on_lists(settings.fuser, lists, leg=leg, k=settings.k, importance=importance, **extras) for leg in legs]
