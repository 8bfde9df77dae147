"""Why a memory is not among a query's hits: where each leg has it, and what left it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.recall.filters import Filters, Scopes, check_query, read_filters
from hopgate.recall.legs.dense import dense_scores
from hopgate.recall.recall import recall
from hopgate.recall.run_legs import Legs, RecallPipeline, run_legs
from hopgate.recall.settings import MAX_DEPTH, RecallOptions, Settings, StoreSettings
from hopgate.store import memories
from hopgate.store.graph import concept_rows

if TYPE_CHECKING:
    from hopgate.store.store import Store


class ExplainOptions(RecallOptions, total=False):
    """What `KnowledgeBase.explain` takes: the filters and settings of a recall."""

    legs: Sequence[str] | None
    scope: Scopes
    exclude: Sequence[str]
    as_of: datetime | None
    known_at: datetime | None
    include_superseded: bool
    cluster: int | None


@dataclass(frozen=True, slots=True)
class LegSight:
    """Where a leg has a memory, and why there or not at all."""

    rank: int | None
    score: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a memory is among a query's hits, or why it is not there.

    Parameters
    ----------
    external_id : str
        The memory.
    present : bool
        Whether it is a hit.
    rank : int, optional
        Its rank; where it is no hit, the one it would have if nothing were filtered and cut.
    legs : mapping of leg name to LegSight
        Where each leg has it, within a larger depth than recall's where it needs one.
    removed_by : tuple of str
        What left it out, a sentence each: filters, k, the least score.
    sentence : str
        All of it in short.
    """

    external_id: str
    present: bool
    rank: int | None
    legs: Mapping[str, LegSight]
    removed_by: tuple[str, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values."""
        return {
            "_id": self.external_id,
            "present": self.present,
            "rank": self.rank,
            "legs": {name: asdict(sight) for name, sight in self.legs.items()},
            "removed_by": list(self.removed_by),
            "sentence": self.sentence,
        }


def explain(
    pipeline: RecallPipeline, stored: StoreSettings, query: str, external_id: str, options: ExplainOptions
) -> Explanation:
    """Ask a query as recall does, and look for one memory in all that happens; an unknown id is refused."""
    text, given = check_query(query), dict[str, Any](options)
    legs, superseded = given.pop("legs", None), bool(given.pop("include_superseded", False))
    narrowed: dict[str, Any] = {name: given.pop(name) for name in _FILTERS if name in given}
    settings = stored.resolve(given).settings
    settings = settings if legs is None else settings.only(legs)
    filters = read_filters(pipeline.store, superseded=superseded, **narrowed)
    pipeline = pipeline.walking(settings.walk)
    key, memory = _found(pipeline.store, external_id)
    if filters.scopes is not None and memory.superseded_by is not None:
        # Of another scope's memory not even the id is said.
        later = _found(pipeline.store, memory.superseded_by)[1]
        memory = memory if later.scope in filters.scopes else replace(memory, superseded_by=None)
    inside = _linked(pipeline.store, key, filters)
    removed = filtered_by(key, memory, filters, inside=inside)
    rank = None
    if not removed:
        hits = recall(pipeline, text, settings, filters)
        rank = next((hit.rank for hit in hits if hit.external_id == memory.external_id), None)
    free = without_filters(key, memory, filters, inside=inside)
    sights = _sights(pipeline, text, key, memory, settings, free)
    if rank is not None:
        return _explanation(memory, rank, sights, [], settings, present=True)
    wide = recall(pipeline, text, replace(settings, k=MAX_DEPTH, min_score=None), free)
    hit = next((hit for hit in wide if hit.external_id == memory.external_id), None)
    if hit is not None and not removed:
        if settings.min_score is not None and hit.score < settings.min_score:
            removed.append(f"min_score: its score {hit.score:.4f} is less than {settings.min_score:g}")
        if hit.rank > settings.k:
            removed.append(f"k: it comes at rank {hit.rank}, and {settings.k} are returned")
    return _explanation(memory, hit.rank if hit else None, sights, removed, settings, present=False)


_FILTERS = ("scope", "exclude", "as_of", "known_at", "cluster")


def filtered_by(key: int, memory: Memory, filters: Filters, *, inside: bool = True) -> list[str]:
    """Say which filters leave a memory out, a sentence each.

    Examples
    --------
    >>> filtered_by(1, Memory("m1", "It hums.", scope="home"), Filters(scope="work", exclude=(1,)))
    ["scope: it is in 'home', and 'work' was asked for", 'exclude: it is among the ids that were left out']
    """
    found = []
    if filters.scopes is not None and memory.scope not in filters.scopes:
        place = "no scope" if memory.scope is None else repr(memory.scope)
        found.append(f"scope: it is in {place}, and {', '.join(map(repr, filters.scopes))} was asked for")
    if key in filters.exclude:
        found.append("exclude: it is among the ids that were left out")
    if not inside:
        found.append("cluster: it is linked to no concept of the cluster that was asked for")
    if filters.known_at is not None and memory.created_at is not None and memory.created_at > filters.known_at:
        found.append(f"known_at: it is of {_day(memory.created_at)}, which is after {_day(filters.known_at)}")
    if _superseded(memory, filters):
        taken = f" by {memory.superseded_by!r}" if memory.superseded_by else ""
        found.append(
            f"superseded: it is superseded{taken} since {_day(memory.superseded_at)}, and such memories were not asked "
            "for (include_superseded, or --include-superseded)"
        )
    return found


def without_filters(key: int, memory: Memory, filters: Filters, *, inside: bool = True) -> Filters:
    """Give filters that let a memory through, and are the same otherwise.

    Examples
    --------
    >>> without_filters(1, Memory("m1", "It hums.", scope="home"), Filters(scope="work")).scope
    ('work', 'home')
    """
    late = filters.known_at is not None and memory.created_at is not None and memory.created_at > filters.known_at
    free = replace(
        filters,
        scope=_with_own(filters.scopes, memory.scope),
        exclude=tuple(other for other in filters.exclude if other != key),
        known_at=None if late else filters.known_at,
        concepts=filters.concepts if inside else None,
    )
    # By the new times: what was not superseded yet at the old ones may be now.
    return replace(free, superseded=free.superseded or _superseded(memory, free))


def _with_own(scopes: list[str] | None, own: str | None) -> Scopes:
    """The scopes that were asked for and the memory's own: who may see both may not see a third, and its ranks tell."""
    return None if scopes is None or own is None else [*scopes, own]


def _superseded(memory: Memory, filters: Filters) -> bool:
    since = memory.superseded_at
    times = [time for time in (filters.known_at, filters.as_of) if time is not None]
    return since is not None and not filters.superseded and all(since <= time for time in times)


def _linked(store: Store, key: int, filters: Filters) -> bool:
    """Tell whether a memory is linked to the cluster that was asked for; it is where none was."""
    if filters.concepts is None:
        return True
    with store.transaction() as connection:
        return concept_rows.is_linked(connection, key, filters.concepts)


def _found(store: Store, external_id: str) -> tuple[int, Memory]:
    with store.transaction() as connection:
        known = memories.fetch_by_id(connection, memories.ids_of(connection, [external_id]))
    for key, memory in known.items():
        return key, memory
    raise HopgateError(f"there is no memory {external_id[:80]!r}: ids are the _id of corpus.jsonl")


def _sights(
    pipeline: RecallPipeline, query: str, key: int, memory: Memory, settings: Settings, filters: Filters
) -> dict[str, LegSight]:
    """Look for a memory in every leg: as deep as recall goes, and then as deep as legs go at all."""
    usual = run_legs(pipeline, query, settings, filters)
    deep: Legs | None = None
    sights: dict[str, LegSight] = {}
    for name, weight in settings.fuser.weights.items():
        if weight == 0:
            sights[name] = LegSight(None, None, "its weight is 0, so that it did not run")
            continue
        sight = _listed(usual, name, key, "it lists it")
        if sight is None:
            deep = deep or run_legs(pipeline, query, replace(settings, depth=MAX_DEPTH), filters)
            sight = _listed(deep, name, key, f"the leg lists {settings.depth}, and this comes after them")
        sights[name] = sight or _unlisted(pipeline.store, deep or usual, name, key, memory, filters)
    return sights


def _listed(legs: Legs, name: str, key: int, reason: str) -> LegSight | None:
    for rank, (other, score) in enumerate(legs.found.get(name, ()), start=1):
        if other == key:
            return LegSight(rank, score, reason)
    return None


def _unlisted(store: Store, legs: Legs, name: str, key: int, memory: Memory, filters: Filters) -> LegSight:
    """Say why a leg does not have a memory however deep it goes."""
    if name == "lexical":
        full = len(legs.found.get(name, ())) >= MAX_DEPTH
        return LegSight(
            None, None, f"it is not among the first {MAX_DEPTH}" if full else "no word of the query is in it"
        )
    if memory.is_sensitive:
        return LegSight(None, None, "it is sensitive: it has neither a vector nor a place in the graph")
    if name == "dense":
        return _without_vector(store, legs, key)
    if legs.trace is None:
        return LegSight(None, None, "there is no graph, or nothing in it answers to the query: run hopgate build")
    place = int(legs.trace.matrix.memories([key])[0])
    if place < 0 or legs.trace.matrix.graph.dangling[place]:
        return LegSight(None, None, "the graph does not have it: it waits to be linked, or names nothing")
    then = f" as of {_day(filters.as_of)}" if filters.as_of else ""
    return LegSight(None, None, f"the walk{then} does not bring it among the first {MAX_DEPTH}")


def _without_vector(store: Store, legs: Legs, key: int) -> LegSight:
    if legs.vector is None:
        return LegSight(None, None, "the store has no vectors: run hopgate embed")
    with store.transaction() as connection:
        known = dense_scores(connection, legs.vector, [key])
    if key not in known:
        return LegSight(None, None, "it waits for a vector: run hopgate embed")
    return LegSight(None, known[key], f"it is not among the first {MAX_DEPTH}")


def _explanation(
    memory: Memory, rank: int | None, sights: Mapping[str, LegSight], removed: list[str], settings: Settings, *,
    present: bool,
) -> Explanation:  # fmt: skip
    """Put it together, and say it in short."""
    name = memory.external_id
    seen = ", ".join(f"{leg} {sight.rank}" for leg, sight in sights.items() if sight.rank is not None)
    unseen = "; ".join(f"{leg}: {sight.reason}" for leg, sight in sights.items() if sight.rank is None)
    if present:
        sentence = f"{name} is hit {rank} of at most {settings.k} ({seen})"
    elif removed:
        filtered = not removed[0].startswith(("k:", "min_score:"))
        otherwise = f"; without that it would be at rank {rank}" if filtered and rank is not None else ""
        sentence = f"{name} is not here: {'; '.join(removed)}{otherwise}"
    elif rank is None:
        deeper = f"; deeper down: {seen}" if seen else ""
        sentence = f"{name} is not here: no leg lists it ({unseen or 'each goes less deep'}){deeper}"
    else:
        sentence = f"{name} comes at rank {rank} ({seen or unseen}), beside what is lifted into the first {settings.k}"
    return Explanation(name, present, rank, sights, tuple(removed), sentence)


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else "…"
