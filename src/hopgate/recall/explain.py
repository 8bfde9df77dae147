"""Why a memory is not among a query's hits: where each leg has it, and what left it out."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from hopgate.errors import UnknownMemoryError
from hopgate.memory import Memory
from hopgate.recall.asked import Asked, AskOptions
from hopgate.recall.dense import dense_scores
from hopgate.recall.filters import Filters, Query, check_query
from hopgate.recall.fusion import shared_ranks
from hopgate.recall.legs import Legs, RecallPipeline, run_legs
from hopgate.recall.recall import recall
from hopgate.recall.settings import MAX_DEPTH, Settings, StoreSettings
from hopgate.store import memories
from hopgate.store.rows import Connection
from hopgate.store.store import Store
from hopgate.store.vectors import tokens_of


@dataclass(frozen=True, slots=True)
class LegReport:
    """Where a leg has a memory, and why there or not at all."""

    rank: int | None
    score: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a memory is among a query's hits, or why it is not there."""

    external_id: str  # the memory
    present: bool  # whether it is a hit
    rank: int | None  # its rank; where it is no hit, the one it would have if nothing were filtered and cut
    legs: Mapping[str, LegReport]  # where each leg has it, within a larger depth than recall's where it needs one
    removed_by: tuple[str, ...]  # what left it out, a sentence each: filters, k, the least score
    sentence: str  # all of it in short

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values."""
        values = asdict(self)
        return {"_id": values.pop("external_id"), **values, "removed_by": list(self.removed_by)}

    def __str__(self) -> str:
        lines = [self.sentence]
        for name, leg in self.legs.items():
            place = "–" if leg.rank is None else f"rank {leg.rank}" + (f" ({leg.score:.3f})" if leg.score else "")
            lines.append(f"  {name}: {place}: {leg.reason}")
        return "\n".join(lines)


def explain(
    pipeline: RecallPipeline, stored: StoreSettings, query: str, external_id: str, options: AskOptions
) -> Explanation:
    """Ask a query as recall does, and look for one memory in all that happens; an unknown id is refused."""
    text, asked = check_query(query), Asked.of(pipeline, stored, options)
    pipeline, settings, filters = asked.pipeline, asked.settings, asked.filters
    with pipeline.store.transaction() as connection:
        key, memory = _known(connection, external_id)
        if filters.scopes is not None and memory.superseded_by is not None:
            # Of another scope's memory not even the id is said.
            later = _known(connection, memory.superseded_by)[1]
            memory = memory if later.scope in filters.scopes else replace(memory, superseded_by=None)
        removed, open_filters = filtered_by(connection, key, memory, filters)
    free = Query(text, open_filters)
    reports = _reports(pipeline, free, key, memory, settings)
    ranks = ", ".join(f"{leg} {report.rank}" for leg, report in reports.items() if report.rank is not None)
    hits = [] if removed else recall(pipeline, free, settings)
    for hit in hits:
        if hit.external_id == external_id:
            sentence = f"{external_id} is hit {hit.rank} of at most {settings.k} ({ranks})"
            return Explanation(external_id, True, hit.rank, reports, (), sentence)
    hits = recall(pipeline, free, replace(settings, k=MAX_DEPTH, min_score=None))
    rank, score = next(((hit.rank, hit.score) for hit in hits if hit.external_id == external_id), (None, 0.0))
    otherwise = f"; without that it would be at rank {rank}" if removed and rank is not None else ""
    if rank is not None and not removed:
        if settings.min_score is not None and score < settings.min_score:
            removed.append(f"min_score: its score {score:.4f} is less than {settings.min_score:g}")
        if rank > settings.k:
            removed.append(f"k: it comes at rank {rank}, and {settings.k} are returned")
    if removed:
        sentence = f"{external_id} is not here: {'; '.join(removed)}{otherwise}"
    elif rank is not None:
        sentence = f"{external_id} comes at rank {rank} ({ranks})"
    else:
        reasons = "; ".join(f"{leg}: {report.reason}" for leg, report in reports.items() if report.rank is None)
        deeper = f"; deeper down: {ranks}" if ranks else ""
        sentence = f"{external_id} is not here: no leg lists it ({reasons or 'each goes less deep'}){deeper}"
    return Explanation(external_id, False, rank, reports, tuple(removed), sentence)


def filtered_by(connection: Connection, key: int, memory: Memory, filters: Filters) -> tuple[list[str], Filters]:
    """Say which filters leave a memory out, a sentence each; give filters that let it through and else are the same.

    Who may see the scopes asked for and the memory's own may not see a third, and its ranks would tell of it.
    """
    place = "no scope" if memory.scope is None else repr(memory.scope)
    by = f" by {memory.superseded_by!r}" if memory.superseded_by else ""
    sentences = {
        "scope": f"scope: it is in {place}, and {', '.join(map(repr, filters.scopes or ()))} was asked for",
        "exclude": "exclude: it is among the ids that were left out",
        "concepts": "cluster: it is linked to no concept of the cluster that was asked for",
        "where": "where: its fields are not what was asked for",
        "known_at": f"known_at: it is of {_day(memory.created_at)}, which is after {_day(filters.known_at)}",
        "superseded": f"superseded: it is superseded{by} since {_day(memory.superseded_at)}, and such memories were "
        "not asked for (include_superseded, or --include-superseded)",
    }
    opened: dict[str, Any] = {
        "scope": None if memory.scope is None else [*(filters.scopes or ()), memory.scope],
        "exclude": tuple(other for other in filters.exclude if other != key),
        "concepts": None,
        "where": None,
        "known_at": None,
        "superseded": True,
    }
    reasons, free = [], filters
    for name, sentence in sentences.items():
        # Each filter is asked alone; of what is superseded the times decide, which let the memory through by then.
        alone = free if name == "superseded" else Filters(superseded=True, **{name: getattr(filters, name)})
        condition, parameters = alone.sql()
        statement = f"SELECT FROM memories WHERE id = %(key)s AND {condition}"
        if connection.execute(statement, {**parameters, "key": key}).fetchone() is None:
            reasons.append(sentence)
            free = replace(free, **{name: opened[name]}, among=None if name == "where" else free.among)
    return reasons, free


def _known(connection: Connection, external_id: str) -> tuple[int, Memory]:
    known = memories.fetch_by_id(connection, memories.ids_of(connection, [external_id]))
    if not known:
        raise UnknownMemoryError(external_id)
    return next(iter(known.items()))


def _reports(
    pipeline: RecallPipeline, query: Query, key: int, memory: Memory, settings: Settings
) -> dict[str, LegReport]:
    """Look for a memory in every leg: as deep as recall goes, and then as deep as legs go at all."""
    usual = run_legs(pipeline, query, settings)
    deep: Legs | None = None
    reports: dict[str, LegReport] = {}
    for leg, weight in settings.fuser.weights.items():
        if weight == 0:
            reports[leg] = LegReport(None, None, "its weight is 0, so that it did not run")
        elif place := _place(usual, leg, key):
            reports[leg] = LegReport(*place, "it lists it")
        else:
            deep = deep or run_legs(pipeline, query, replace(settings, depth=MAX_DEPTH))
            if place := _place(deep, leg, key):
                reports[leg] = LegReport(*place, f"the leg lists {settings.depth}, and this comes after them")
            else:
                reports[leg] = _unlisted(pipeline.store, deep, leg, key, memory)
    return reports


def _place(legs: Legs, leg: str, key: int) -> tuple[int, float] | None:
    """A memory's rank and score in a leg's list."""
    listed = legs.found.get(leg, [])
    ranks = shared_ranks([score for _, score in listed])
    return next(((rank, score) for rank, (other, score) in zip(ranks, listed, strict=True) if other == key), None)


def _unlisted(store: Store, legs: Legs, leg: str, key: int, memory: Memory) -> LegReport:
    """Say why a leg does not list a memory however deep it goes."""
    score, reason = None, f"it is not among the first {MAX_DEPTH}"
    if leg == "lexical":
        if len(legs.found.get(leg, ())) < MAX_DEPTH:
            reason = "no word of the query is in it"
    elif memory.is_sensitive:
        reason = "it is sensitive: it has neither a vector nor a place in the graph"
    elif leg == "graph":
        reason = _not_walked_to(legs, key)
    elif leg == "late":
        with store.transaction() as connection:
            has_tokens = legs.late is not None and key in tokens_of(connection, [key])
        others = f"no other leg has it among its first {MAX_DEPTH}"
        reason = others if has_tokens else "it has no tokens: hopgate embed makes them where the store keeps any"
    elif leg == "dense" and legs.query.vector is not None:
        with store.transaction() as connection:
            score = dense_scores(connection, legs.query.vector, [key]).get(key)
        reason = reason if score is not None else "it waits for a vector: run hopgate embed"
    elif leg == "dense":
        reason = "the store has no vectors: run hopgate embed"
    return LegReport(None, score, reason)


def _not_walked_to(legs: Legs, key: int) -> str:
    trace = legs.graph.trace
    if trace is None:
        return "there is no graph, or nothing in it answers to the query: run hopgate build"
    place = int(trace.matrix.memories([key])[0])
    if place < 0 or trace.matrix.graph.dangling[place]:
        return "the graph does not have it: it waits to be linked, or names nothing"
    as_of = legs.query.filters.as_of
    then = f" as of {_day(as_of)}" if as_of else ""
    return f"the walk{then} does not bring it among the first {MAX_DEPTH}"


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else "…"
