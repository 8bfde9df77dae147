"""All names and relations of a store clustered anew, and everything derived from them, while others write."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hopgate.errors import WithdrawnError
from hopgate.extract.runner import Progress
from hopgate.graph.build.derive import rederive, rederive_all
from hopgate.graph.build.merge import apply_rulings, join_aliases, take_apart
from hopgate.graph.build.resolve import MERGE, Embed
from hopgate.graph.canonicalise import FLOOR, Canonicaliser, Relations, Units, canonicalise_relations
from hopgate.sending import guarded
from hopgate.store import journal
from hopgate.store.build_lock import share
from hopgate.store.graph import fact_rows, name_rows, version

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

# So often a graph may change while all its names are compared before they are compared under its lock.
ATTEMPTS = 3
# Between two looks for circles of objects that nobody holds, so many are made at least.
MADE_BETWEEN = 200_000
# More relations than this are compared by their words alone: a text takes about 7 ms of a core with bge-small.
MAX_EMBEDDED = 4096


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python seldom look for circles of objects: all names are some million small ones, and no circle."""
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], MADE_BETWEEN), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_few_collections()
def canonicalise_store(
    store: Store,
    canonicaliser: Canonicaliser | None,
    embed: Embed | None,
    show: Callable[[Progress], object],
) -> None:
    """Cluster all names and relations, and derive everything from them.

    The graph's lock is for the write alone; where the graph changed while its names were compared, once more.
    """

    def write(clusters: Clusters, analysed: bool, connection: Connection[Any]) -> bool:
        if not write_clusters(connection, clusters):
            return False
        show(Progress(stage="deriving edges"))
        rederive_all(connection, analysed=analysed)
        return True

    def at_once(connection: Connection[Any]) -> None:
        name_rows.lock(connection)
        write(clustered(read_material(connection), canonicaliser, embed), False, connection)

    show(Progress(stage="bringing names together"))
    for _ in range(ATTEMPTS):
        read = store.run(read_material)
        # A hosted embedder takes minutes over all names: before each request it is looked whether one went.
        with suppress(WithdrawnError), guarded(name_rows.guard(store, partial(_is_still, read.version))):
            # The server has nothing else to do while this process compares names.
            with ThreadPoolExecutor(1, thread_name_prefix="hopgate-analyse") as beside:
                analysed = beside.submit(store.run, _analyse)
                clusters = clustered(read, canonicaliser, embed)
            analysed.result()
            if store.run(partial(write, clusters, True)):
                return
    store.run(at_once)


def _analyse(connection: Connection[Any]) -> None:
    """Let the planner look at what came in: under the graph's lock, for its samples are texts, and who marks one waits.

    Else it might see a memory that is being marked, and keep a text of it when its marker has looked for such already.
    """
    name_rows.lock(connection)
    fact_rows.analyse(connection)


def _is_still(known: int, connection: Connection[Any]) -> bool:
    return version.current(connection) == known


@dataclass(frozen=True, eq=False)
class Material:
    """All that clusters are made of, as it was in one version of the graph."""

    version: int
    names: Sequence[name_rows.NameRow]
    contexts: Mapping[int, Mapping[tuple[str, str], int]]
    relations: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which names are one concept and which relations one relation; `version` is the graph's that they were made of."""

    version: int
    names: Sequence[Sequence[name_rows.NameRow]]
    threshold: float
    relations: Mapping[str, Relations]


def read_material(connection: Connection[Any]) -> Material:
    """Read what clusters are made of."""
    return Material(
        version.current(connection),
        name_rows.all_names(connection),
        fact_rows.contexts(connection),
        fact_rows.raw_relations(connection),
    )


def clustered(read: Material, canonicaliser: Canonicaliser | None = None, embed: Embed | None = None) -> Clusters:
    """Cluster each scope's names and relations: the long part, for which nobody needs to wait."""
    canonicaliser = canonicaliser or Canonicaliser(threshold=MERGE)
    by_scope: dict[str, list[name_rows.NameRow]] = defaultdict(list)
    for row in read.names:
        by_scope[row.scope].append(row)
    clusters: dict[tuple[str, int], list[name_rows.NameRow]] = defaultdict(list)
    for scope, rows in by_scope.items():
        units = _units(rows, read.contexts)
        result = canonicaliser.fit_units(units, embed, max(canonicaliser.threshold, FLOOR))
        for row, label in zip(rows, result.labels_.tolist(), strict=True):
            clusters[scope, label].append(row)
    relations = {}
    for scope, counts in read.relations.items():
        repeated = [raw for raw, count in counts.items() for _ in range(count)]
        relations[scope] = canonicalise_relations(repeated, embed=embed if len(counts) <= MAX_EMBEDDED else None)
    return Clusters(read.version, list(clusters.values()), canonicaliser.threshold, relations)


def _units(rows: Sequence[name_rows.NameRow], contexts: Mapping[int, Mapping[tuple[str, str], int]]) -> Units:
    """A scope's names as the canonicaliser takes them: each is one unit, and its mentions are counted already."""
    return Units(
        names=tuple(row.normal for row in rows),
        kinds=tuple(row.kind for row in rows),
        counts=np.array([max(1, row.uses) for row in rows], dtype=np.float64),
        spellings=tuple(row.name for row in rows),
        contexts=tuple(contexts.get(row.id, {}) for row in rows),
        of_mention=np.arange(len(rows), dtype=np.int64),
    )


def write_clusters(connection: Connection[Any], clusters: Clusters) -> bool:
    """Merge the concepts of each cluster; every merge is a row. Say whether: a graph that changed since is left alone.

    What people merged and split stays so. Memories' concepts and edges are not touched: `rederive_all` comes after.
    """
    name_rows.lock(connection)
    if version.current(connection) != clusters.version:
        return False
    decided = take_apart(connection)
    several = [members for members in clusters.names if len(members) > 1]
    known = name_rows.by_id(connection, [row.id for members in several for row in members])
    concept = {row.id: row.concept_id for row in known}
    merges = []
    for members in several:
        kept, *others = sorted(members, key=lambda row: (-row.uses, -len(row.name), row.name))
        merges += [(concept[kept.id], concept[other.id]) for other in others]
    journal.merge(connection, merges, method=f"global, threshold {clusters.threshold}")
    join_aliases(connection)
    apply_rulings(connection, decided)
    for scope, relations in clusters.relations.items():
        fact_rows.set_canonical(connection, scope, relations.canonical, relations.scores)
    return True


def declare(connection: Connection[Any], single: Collection[str], several: Collection[str], whole: bool) -> None:
    """Note which relations have one value at a time; edges follow at once, or at the end of a whole build."""
    if not whole:
        if not several and fact_rows.are_single_valued(connection, single):
            # As at every addition but the first: nobody's lock is waited for.
            return
        share(connection)
    name_rows.lock(connection)
    declared = fact_rows.declare_single_valued(connection, set(single) - set(several))
    declared += fact_rows.declare_several_valued(connection, several)
    if whole:
        version.set_derived(connection, False)
    elif declared:
        rederive(connection, groups=fact_rows.groups_of_relations(connection, declared))
