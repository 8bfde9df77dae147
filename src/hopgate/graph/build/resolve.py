"""Which concept a name belongs to: all names of a store clustered anew, or new ones compared with known concepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import WithdrawnError
from hopgate.graph.build.derive import rederive, rederive_all
from hopgate.graph.build.merge import apply_rulings, join_aliases, take_apart
from hopgate.graph.canonicalise import Candidate, Canonicaliser, Embed, canonicalise_relations
from hopgate.graph.likeness import ContextMention, closeness
from hopgate.graph.names import comparison_form, initials, tokens
from hopgate.guard import guarded
from hopgate.progress import Progress
from hopgate.store import journal
from hopgate.store.graph import concept_rows, fact_rows, graph_vectors, name_rows, version
from hopgate.store.graph.name_rows import NameKey, NameRow
from hopgate.store.graph.version import share
from hopgate.store.rows import Connection
from hopgate.store.vectors import set_vectors

if TYPE_CHECKING:
    from hopgate.store.store import Store

# How alike names must be in a store: the same for a backfill and for a name that comes later.

# A wrong merge costs a walk more than a missed one: on dev, 0.5 / 0.65 / 0.8 give the graph leg recall@5 of
# .778 / .794 / .800 on musique, and 0.5 / 0.8 both .954 on 2wiki. (The canonicaliser's own default, 0.5, is best on
# the labelled sets, where nearly every name has a namesake.)
MERGE = 0.8
# Between this and MERGE a person or a model is asked later; below, names are different things.
ASK = 0.5
# Neighbours by embedding, as in the global canonicalisation (`likeness.NEIGHBOURS`).
NEIGHBOURS = 10
# Of the names that have a word in common so many are compared: enough to see that a short name has many expansions and
# so is short for none of them.
SHARED = 8
NAMES = 8
# So many vectors are read to measure how alike unrelated names are, and fewer than `ENOUGH` are too few.
SAMPLE = 2000
ENOUGH = 100
# So often a graph may change while all its names are compared before they are compared under its lock.
ATTEMPTS = 3
# More relations than this are compared by their words alone: a text takes about 7 ms of a core with bge-small.
MAX_EMBEDDED = 4096


@dataclass(slots=True)
class Tally:
    """How many new names were merged into a concept, left undecided beside one, and found to be new."""

    merged: int = 0
    ambiguous: int = 0
    new: int = 0


Scales = dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]]
"""How cosines become closeness in each scope; found once, from the first names there are."""


@dataclass
class NameResolver:
    """Resolves the new names of batches, each inside its batch's transaction; undecided ones stay apart and are listed.

    Parameters
    ----------
    embed : callable, optional
        Gives unit rows for names. Without it names are compared as strings only.
    forget : callable
        Drops texts from the cache that `embed` keeps.
    """

    embed: Embed | None = None
    forget: Callable[[Sequence[str]], object] = list
    scales: Scales = field(default_factory=dict)
    canonicaliser: Canonicaliser = field(default_factory=lambda: Canonicaliser(threshold=MERGE, ask=ASK))
    tally: Tally = field(default_factory=Tally)
    _vectors: dict[NameKey, NDArray[np.float32]] = field(default_factory=dict)

    def prepare(self, store: Store, spellings: Mapping[NameKey, str]) -> None:
        """Embed the names (by scope and normal form) that the store does not know, before its lock is taken."""
        self._vectors = {}
        if self.embed is None:
            return
        with store.transaction() as connection:
            used_keys = {row.key for row in name_rows.read(connection, keys=spellings) if row.uses}
            for scope in {scope for scope, _ in spellings} - self.scales.keys():
                sample = graph_vectors.sample(connection, scope, SAMPLE)
                if len(sample) >= ENOUGH:
                    self.scales[scope] = closeness(sample)
        new_keys = [key for key in spellings if key not in used_keys]
        if names := list(dict.fromkeys(spellings[key] for key in new_keys)):
            vectors = dict(zip(names, self.embed(names), strict=True))
            self._vectors = {key: vectors[spellings[key]] for key in new_keys}

    def __call__(self, connection: Connection, new_rows: Sequence[NameRow]) -> None:
        """Merge new names into the concepts they mean, or mark them ambiguous; the longest names first."""
        embedded = [row for row in new_rows if row.key in self._vectors]
        if embedded:
            vectors = np.stack([self._vectors[row.key] for row in embedded])
            set_vectors(connection, "concepts", [row.concept_id for row in embedded], vectors)
        # Long names first: a short one then finds the one concept that all its expansions became, and not each of them.
        waiting = sorted(new_rows, key=lambda row: (-len(tokens(row.normal)), row.normal))
        unseen = {row.concept_id for row in waiting}
        for row in waiting:
            unseen.discard(row.concept_id)
            self._resolve(connection, row, unseen)

    def _resolve(self, connection: Connection, row: NameRow, unseen: set[int]) -> None:
        decision = self.canonicaliser.resolve(
            ContextMention(row.name, row.kind), self._candidates(connection, row, unseen)
        )
        if decision.concept is None:
            self.tally.new += 1
        elif decision.action == "merge":
            journal.merge(connection, [(decision.concept, row.concept_id)], method="incremental", score=decision.score)
            self.tally.merged += 1
        else:
            near_row = name_rows.read(connection, concepts=[decision.concept])[0]
            concept_rows.mark_ambiguous(connection, row.id, near_row.id, decision.score)
            self.tally.ambiguous += 1

    def _candidates(self, connection: Connection, row: NameRow, unseen: set[int]) -> list[Candidate]:
        """The concepts that a name may mean, but for those whose names wait to be resolved."""
        words, name_parts = tokens(row.normal), row.normal.split()
        # Every run of words in this name: a shorter name may be one of them.
        runs = {" ".join(name_parts[start:end]) for start, end in combinations(range(len(name_parts) + 1), 2)}
        shared = {*words, *(word for word in name_parts if comparison_form(word) in words)}
        ids = name_rows.similar(connection, row.key, sorted(shared), sorted(runs), initials(row.normal), limit=SHARED)
        cosines: dict[int, float] = {}
        if (vector := self._vectors.get(row.key)) is not None:
            cosines = dict(graph_vectors.near_concepts(connection, row.scope, vector, NEIGHBOURS + 1))
            cosines |= graph_vectors.cosines(connection, vector, [key for key in ids if key not in cosines])
        scale = self.scales.get(row.scope)
        near = scale(np.array([*cosines.values()], np.float32)).tolist() if scale else [None] * len(cosines)
        closeness_of = dict(zip(cosines, near, strict=True))
        names: dict[int, list[NameRow]] = defaultdict(list)
        for name in name_rows.read(connection, concepts=sorted({*ids, *cosines} - {row.concept_id} - unseen)):
            names[name.concept_id].append(name)
        return [
            Candidate(
                key,
                tuple(name.name for name in sorted(of_concept, key=_most_used)[:NAMES]),
                next((name.kind for name in of_concept if name.kind), None),
                max(1, sum(name.uses for name in of_concept)),
                closeness_of.get(key),
            )
            for key, of_concept in names.items()
        ]


def _most_used(row: NameRow) -> tuple[int, int, str]:
    """Sorts a concept's names: first that of most mentions, of equals the longest."""
    return -row.uses, -len(row.name), row.name


# All names at once, while others write.


Relations = Mapping[str, Mapping[str, str]]
"""By scope, the canonical relation of each raw one."""


class Material(NamedTuple):
    """All that clusters are made of, in one version of the graph: names, by name id their places, relations' counts."""

    version: int
    names: Sequence[NameRow]
    places: Mapping[int, frozenset[str]]
    relations: Mapping[str, Mapping[str, int]]


def canonicalise_store(store: Store, embed: Embed | None, show: Callable[[Progress], object]) -> None:
    """Cluster all names and relations, and derive everything from them.

    The graph's lock is for the write alone; where the graph changed while its names were compared, once more.
    """

    def at_once(connection: Connection) -> None:
        version.lock(connection)
        material = _read_material(connection)
        _write_clusters(material, _clustered(material, embed), show, connection)

    show(Progress(stage="bringing names together"))
    for _ in range(ATTEMPTS):
        material = store.run(_read_material)
        # A hosted embedder takes minutes over all names: before each request it is looked whether one went.
        with suppress(WithdrawnError), guarded(name_rows.guard(store, partial(_is_unchanged, material.version))):
            if store.run(partial(_write_clusters, material, _clustered(material, embed), show)):
                return
    store.run(at_once)


def _is_unchanged(read_version: int, connection: Connection) -> bool:
    return version.current(connection) == read_version


def _read_material(connection: Connection) -> Material:
    return Material(
        version.current(connection),
        name_rows.read(connection),
        fact_rows.places(connection),
        fact_rows.raw_relations(connection),
    )


def _clustered(material: Material, embed: Embed | None) -> tuple[list[list[NameRow]], Relations]:
    """Cluster each scope's names (clusters of two and more) and relations: the long part, which needs no lock."""
    by_scope: dict[str, list[NameRow]] = defaultdict(list)
    for row in material.names:
        by_scope[row.scope].append(row)
    clusters: dict[tuple[str, int], list[NameRow]] = defaultdict(list)
    for scope, rows in by_scope.items():
        mentions = [
            ContextMention(row.name, row.kind, tuple(material.places.get(row.id, ())), max(1, row.uses)) for row in rows
        ]
        result = Canonicaliser(threshold=MERGE).fit(mentions, embed)
        for row, label in zip(rows, result.labels_.tolist(), strict=True):
            clusters[scope, label].append(row)
    relations = {
        scope: canonicalise_relations(counts, embed if len(counts) <= MAX_EMBEDDED else None)
        for scope, counts in material.relations.items()
    }
    return [members for members in clusters.values() if len(members) > 1], relations


def _write_clusters(
    material: Material,
    clusters: tuple[list[list[NameRow]], Relations],
    show: Callable[[Progress], object],
    connection: Connection,
) -> bool:
    """Merge each cluster's concepts into its most used name's; write nothing, and say so, if the graph changed."""
    version.lock(connection)
    if not _is_unchanged(material.version, connection):
        return False
    name_clusters, relations = clusters
    rulings = take_apart(connection)
    current_rows = name_rows.read(connection, ids=[row.id for members in name_clusters for row in members])
    concept_of_name = {row.id: row.concept_id for row in current_rows}
    merges = []
    for members in name_clusters:
        kept, *others = sorted(members, key=_most_used)
        merges += [(concept_of_name[kept.id], concept_of_name[other.id]) for other in others]
    journal.merge(connection, merges, method=f"global, threshold {MERGE}")
    join_aliases(connection)
    apply_rulings(connection, rulings)
    for scope, canonical in relations.items():
        fact_rows.set_canonical(connection, scope, canonical)
    show(Progress(stage="deriving edges"))
    rederive_all(connection)
    return True


def declare(connection: Connection, single: Collection[str], several: Collection[str], whole: bool) -> None:
    """Note which relations have one value at a time; edges follow at once, or at the end of a whole build."""
    if not whole:
        if not several and fact_rows.are_single_valued(connection, single):
            # As at every addition but the first: nobody's lock is waited for.
            return
        share(connection)
    version.lock(connection)
    changed_relations = fact_rows.declare(connection, single, several)
    if whole:
        version.set_derived(connection, False)
    elif changed_relations:
        rederive(connection, groups=fact_rows.groups(connection, relations=changed_relations))
