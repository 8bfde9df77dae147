"""`hopgate recall`, `settings` and `audit`: a query in, memories out, and what decides their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopgate.cli import parameters
from hopgate.cli.output import Shown, Table, one_line, progress
from hopgate.cli.parameters import (
    Location,
    click_options,
    flag,
    on_store,
    path,
    printed,
    read_text,
    with_new_store,
    with_store,
)
from hopgate.errors import HopgateError
from hopgate.options import typed
from hopgate.recall.filters import check_query
from hopgate.recall.settings import OPTIONS, Settings, resolve_settings
from hopgate.store.sqlite import SqliteLexical

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.hit import Hit
    from hopgate.recall.reachability import Bound

SNIPPET = 200
AUDITED = ("fuser", "lexical", "dense", "late", "graph", "k", "depth", "prior", "exact_match")


@click.command("recall", epilog='Example: hopgate recall "where does the backup job run" --k 5 --explain')
@click.argument("query", help="What to recall, in plain words; - for standard input.", callback=read_text)
@click_options(OPTIONS.values(), switchable=True)
@parameters.filters
@click.option("--cluster", type=int, help="Only memories linked to this cluster of concepts: see concepts clusters.")
@flag("--include-superseded", "Give memories that others took the place of, too.", default=None)
@flag("--explain", "Show what each leg did for each hit.")
@click.option("--why-not", metavar="ID", help="Say instead why this memory is not among the hits, or where it is.")
@path("--sqlite", "Search this SQLite FTS5 database, read-only, instead of a store.")
@on_store
@printed
def recall(
    location: Location, query: str, explain: bool, why_not: str | None, sqlite: Path | None, **given: Any
) -> Any:
    """Recall memories for a query."""
    asked = parameters.values(given)
    if sqlite is not None:
        return _recall_from_sqlite(sqlite, query, asked | parameters.values({"why_not": why_not}))
    with location.opened() as kb:
        if why_not is not None:
            return kb.explain(query, why_not, **asked)
        hits = kb.recall(query, explain=explain, **asked)
        if not hits:
            return hits, "nothing found" if len(kb) else "the store is empty: run hopgate ingest first"
    return hits, _hit_lines(query, hits, explain)


def _recall_from_sqlite(path: Path, query: str, asked: dict[str, Any]) -> Shown:
    """Search an SQLite database, which has its words alone: no vectors, no graph and no settings."""
    scope, exclude = asked.pop("scope", (None,)), asked.pop("exclude", ())
    depth = resolve_settings(arguments={"k": asked.pop("k", None)}).settings.k
    if len(scope) > 1:
        raise HopgateError("an SQLite database is searched in one scope: give --scope once")
    if asked:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(asked))
        raise HopgateError(f"an SQLite database has its words alone: leave {names} out")
    with SqliteLexical(path) as database:
        leg = database.leg(check_query(query), depth=depth, scope=scope[0], exclude=exclude)
    hits = [{"rank": rank, "_id": key, "score": score} for rank, (key, score) in enumerate(leg, 1)]
    lines = [f"{hit['rank']:>3}  {hit['_id']}  {hit['score']:.4f}" for hit in hits]
    return hits, lines or "nothing found"


def _hit_lines(query: str, hits: list[Hit], explain: bool) -> Iterator[object]:
    """Hits as a table, and below it what holds for all of them."""
    rows = []
    for hit in hits:
        # Of a long memory the passage that speaks for it, from where it speaks of the query's words.
        text = one_line(hit.memory) if hit.passage is None else fitting_part(hit.passage.text, query)
        content = ("[over] " if hit.outdated else "") + " ".join(text.split())
        snippet = content if len(content) <= SNIPPET else content[: SNIPPET - 1] + "…"
        rows.append([str(hit.rank), hit.external_id, f"{hit.score:.4f}", snippet, *([why(hit)] if explain else [])])
    heads = ["", "memory", "score", "content", *(["why"] if explain else [])]
    yield Table(heads, rows, right=("", "score"))
    # A query has one date, whatever the hit.
    if as_of := max(hit.as_of for hit in hits):
        yield f"as of {as_of}"


def fitting_part(text: str, query: str) -> str:
    """Cut a text before the sentence from which on a snippet holds most words of the query."""
    words = set(re.findall(r"\w{3,}", query.lower()))
    starts = [0, *(match.end() for match in re.finditer(r"[.!?]\s+|\n+", text))]

    def shared(start: int) -> int:
        return len(words.intersection(re.findall(r"\w+", text[start : start + SNIPPET].lower())))

    return text[max(reversed(starts), key=shared) :]


def why(hit: Hit) -> str:
    """Say in a few lines what put a hit where it is."""
    lines = []
    for name, part in hit.legs.items():
        place = f"#{part.rank}" if part.rank is not None else "below its list"
        score = f" ({part.score:.3f})" if part.score is not None else ""
        lines.append(f"{name} {place}{score} +{part.contribution:.4f}")
    lines += [f"{name} could not see it, granted +{granted:.4f}" for name, granted in hit.unseen.items()]
    if hit.bonus:
        lines.append(f"exact match +{hit.bonus:.4f}")
    lines.append(f"prior ×{hit.prior:.2f}")
    if not hit.in_graph:
        lines.append("the graph does not have it")
    if hit.rerank_score is not None:
        lines.append(f"reranked {hit.rerank_score:.2f}")
    if hit.rerank_cost is not None and hit.rank == 1:
        lines.append(f"({hit.rerank_cost})")
    if hit.passage is not None:
        lines.append(f"characters {hit.passage.start}–{hit.passage.end}")
    if hit.outdated:
        lines.append(hit.over)
    if hit.matches:
        lines.append(f"matched {', '.join(map(str, hit.matches))}")
    if hit.path:
        lines.append(" → ".join(hit.path))
    return "\n".join(lines)


@click.group("settings", invoke_without_command=True, epilog="Example: hopgate settings --json")
@on_store
@printed
@click.pass_context
def settings(context: click.Context, location: Location) -> Shown | None:
    """Show every setting of recall, where its value comes from, and what it is for.

    Defaults come first, then what the store holds (set here, or by a gate), then settings.toml, then the environment;
    the later one wins.
    """
    if context.invoked_subcommand is not None:
        return None
    with location.opened() as kb:
        rows, stale = kb.store_settings.rows(), kb.store_settings.stale_gate()
    cells = [[row["name"], typed(row["value"]), row["source"], row["meaning"]] for row in rows]
    changed = f"the graph was changed since {stale}: run hopgate gate again to see whether it still holds"
    lines = [Table(["setting", "value", "from", "what it is"], cells), *([changed] if stale else [])]
    return {"settings": rows, "graph_changed_since": stale}, lines


@settings.command("set", epilog="Example: hopgate settings set graph 0")
@click.argument("name", help="The setting, as hopgate settings names it.")
@click.argument("value", help="Its value.")
@with_new_store
def set_value(kb: KnowledgeBase, name: str, value: str) -> Shown:
    """Set a value for this store, from the next query on."""
    kb.store_settings.set({name: OPTIONS[name].read(value) if name in OPTIONS else value})
    source = kb.store_settings.resolve().sources.get(name, "hopgate settings")
    wins = [] if source == "hopgate settings" else [f"{source} sets it too, and wins"]
    return {"name": name, "value": value, "source": source}, [f"set {name} to {value}", *wins]


@settings.command("unset", epilog="Example: hopgate settings unset graph")
@click.argument("name", help="The setting to forget.")
@with_store
def unset_value(kb: KnowledgeBase, name: str) -> Shown:
    """Forget what this store sets: the file, the environment or the default decides again."""
    kb.store_settings.unset([name])
    source = kb.store_settings.resolve().sources.get(name, "default")
    return {"name": name, "source": source}, f"{name} comes from {source} again"


@click.command("audit", epilog='Example: hopgate audit --fuser "RRF(k=60, graph=0.35)" --json')
@click.option("--leg", help="Only this leg: lexical, dense, late or graph.")
@click_options(OPTIONS.values(), only=AUDITED)
@path("--queries", "Also judge on the actual lists of these queries.jsonl.")
@on_store
@printed
def audit(location: Location, leg: str | None, queries: Path | None, **given: Any) -> Shown:
    """Prove which legs can influence the top k: by closed form, and with --queries on a store's actual lists.

    A candidate seen by one leg only enters the top k when that leg's weight exceeds what is printed; a leg below its
    best case is barred, whatever it finds. Without --queries no store is opened.
    """
    from hopgate.recall.reachability import bounds, on_lists

    directory = location.place if isinstance(location.place, Path) else None
    chosen = resolve_settings(directory, arguments=given).settings
    legs = [leg] if leg else list(chosen.fuser.active)
    proven: list[Bound] = bounds(chosen, legs)
    values: dict[str, Any] = {"bounds": {reach.leg: reach for reach in proven}}
    if queries:
        pools, importance = _pools(location, queries, chosen)
        judged = [
            on_lists(chosen.fuser, pools, leg=name, k=chosen.k, prior=chosen.floor, importance=importance)
            for name in legs
        ]
        values["lists"] = {reach.leg: reach for reach in judged}
        proven += judged
    return values, proven


def _pools(location: Location, queries: Path, chosen: Settings) -> tuple[dict[str, Any], dict[int, float]]:
    """What the legs give for each query, and the importance of what is listed."""
    from hopgate.eval.data.dataset import read_queries

    pools: dict[str, Any] = {}
    importance: dict[int, float] = {}
    read = read_queries(queries)
    with location.opened() as kb, progress("recalling", len(read)) as advance:
        for query in read.values():
            found, weights = kb.legs(query.text, scope=query.scope, settings=chosen)
            pools[query.id] = found.pool(chosen.fuser)
            importance |= weights
            advance(1)
    return pools, importance
