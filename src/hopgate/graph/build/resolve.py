"""Which concept a name belongs to: all names of a store clustered anew, or new ones compared with known concepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from hopgate.errors import WithdrawnError
from hopgate.graph.build.derive import rederive, rederive_all
from hopgate.graph.build.merge import apply_rulings, join_aliases, take_apart
from hopgate.graph.canonicalise import Candidate, Canonicaliser, Embed, canonicalise_relations
from hopgate.graph.likeness import ContextMention
from hopgate.graph.names import comparison_form, initials, tokens
from hopgate.guard import guarded
from hopgate.progress import Progress
from hopgate.store import journal
from hopgate.store.graph import concept_rows, fact_rows, name_rows, version
from hopgate.store.graph.name_rows import NameRow
from hopgate.store.graph.version import share
from hopgate.store.rows import Connection

if TYPE_CHECKING:
    from hopgate.store.store import Store

# How alike names must be in a store: the same for a backfill and for a name that comes later.

# A wrong merge costs a walk more than a missed one: on dev, 0.5 / 0.65 / 0.8 give the graph leg recall@5 of
# .778 / .794 / .800 on musique, and 0.5 / 0.8 both .954 on 2wiki. (The canonicaliser's own default, 0.5, is best on
# the labelled sets, where nearly every name has a namesake.)
MERGE = 0.8
# Between this and MERGE a person or a model is asked later; below, names are different things.
ASK = 0.5
# Of the names that have a word in common so many are compared: enough to see that a short name has many expansions and
# so is short for none of them.
SHARED = 8
NAMES = 8
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


@dataclass
class NameResolver:
    """Resolves the new names of batches, each inside its batch's transaction; undecided ones stay apart and are listed.

    They are compared by their words: on 2wiki vectors would join one name of 1,577 otherwise.
    """

    canonicaliser: Canonicaliser = field(default_factory=lambda: Canonicaliser(threshold=MERGE, ask=ASK))
    tally: Tally = field(default_factory=Tally)

    def resolve(self, connection: Connection, new_rows: Sequence[NameRow]) -> None:
        """Merge new names into the concepts they mean, or mark them ambiguous; the longest names first."""
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
        names: dict[int, list[NameRow]] = defaultdict(list)
        for name in name_rows.read(connection, concepts=sorted({*ids} - {row.concept_id} - unseen)):
            names[name.concept_id].append(name)
        return [
            Candidate(
                key,
                tuple(name.name for name in sorted(of_concept, key=_most_used)[:NAMES]),
                next((name.kind for name in of_concept if name.kind), None),
                max(1, sum(name.uses for name in of_concept)),
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
