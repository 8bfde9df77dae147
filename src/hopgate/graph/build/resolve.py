"""New names against the concepts that are there: merged, left apart or asked about, and never a re-clustering."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.extract.rules.plural import comparison_form
from hopgate.graph.canonicalise import Candidate, Canonicaliser, ContextMention, closeness
from hopgate.graph.names import initials, tokens
from hopgate.store import journal
from hopgate.store.graph import concept_rows, graph_vectors, name_rows
from hopgate.store.graph.name_rows import NameKey, NameRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from psycopg import Connection

    from hopgate.store.store import Store

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
Ask = Callable[[str, str | None, tuple[str, ...]], bool | None]
"""Given a name, its kind and a concept's names: whether they are one concept, or None when that is unknown."""

# How alike names must be in a store: the same for a backfill and for a name that comes later.

# A wrong merge costs a walk more than a missed one: on dev, 0.5 / 0.65 / 0.8 give the graph leg recall@5 of
# .778 / .794 / .800 on musique, and 0.5 / 0.8 both .954 on 2wiki. (The canonicaliser's own default, 0.5, is best on
# the labelled sets, where nearly every name has a namesake.)
MERGE = 0.8
# Between this and MERGE a person or a model decides; below, names are different things.
ASK = 0.5
# Neighbours by embedding, as in the global canonicalisation (`blocks.NEIGHBOURS`).
NEIGHBOURS = 10
# Of the names that have a word in common so many are compared: enough to see that a short name has many expansions and
# so is short for none of them.
SHARED = 8
NAMES = 8
# So many vectors are read to measure how alike unrelated names are, and fewer than `ENOUGH` are too few.
SAMPLE = 2000
ENOUGH = 100


@dataclass(slots=True)
class Tally:
    """How new names were resolved."""

    merged: int = 0
    ambiguous: int = 0
    new: int = 0


class FactKey(NamedTuple):
    """A fact of a scope, by the normal forms of its ends."""

    scope: str
    subject: str
    relation: str
    object: str


class CosineScale:
    """Cosines turned into closeness, as a scope's names need it; found once, from the first names there are."""

    def __init__(self) -> None:
        self._of: dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = {}

    def fit(self, connection: Connection[Any], scope: str) -> None:
        """Look at the scope's vectors, unless that was done."""
        if scope not in self._of:
            vectors = graph_vectors.sample(connection, scope, SAMPLE)
            if len(vectors) >= ENOUGH:
                self._of[scope] = closeness(vectors)

    def __call__(self, scope: str, cosines: Sequence[float]) -> list[float | None]:
        """Closeness of each; None while there are too few names to measure how alike unrelated ones are."""
        import numpy as np

        scale = self._of.get(scope)
        return list(scale(np.array(cosines, np.float32)).tolist()) if scale else [None] * len(cosines)


class NameResolver:
    """Resolves the new names of batches, each inside its batch's transaction.

    Parameters
    ----------
    embed : callable, optional
        Gives unit rows for names. Without it names are compared as strings only.
    ask : callable, optional
        Decides the middle band. Without it such names stay apart and are listed as ambiguous.
    forget : callable, optional
        Drops texts from the cache that `embed` keeps.
    """

    def __init__(
        self,
        canonicaliser: Canonicaliser | None = None,
        embed: Embed | None = None,
        ask: Ask | None = None,
        scale: CosineScale | None = None,
        forget: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        self._canonicaliser = canonicaliser or Canonicaliser(threshold=MERGE, ask=ASK)
        self._embed = embed
        self._ask = ask
        self._forget = forget
        self._vectors: dict[NameKey, NDArray[np.float32]] = {}
        self._texts: dict[FactKey, str] = {}
        self._told: dict[str, NDArray[np.float32]] = {}
        self._scale = scale or CosineScale()
        self.tally = Tally()

    def prepare(self, store: Store, spellings: Mapping[NameKey, str], facts: Collection[FactKey] = ()) -> None:
        """Embed the names (scope and normal form to spelling) that the store does not know, before its lock is taken.

        Parameters
        ----------
        facts : collection of FactKey
            Facts between such names. Their texts are embedded along with the names, so that all cores are used and the
            edges that follow get their vectors at once.
        """
        self._vectors, self._texts, self._told = {}, {}, {}
        if self._embed is None:
            return
        with store.transaction() as connection:
            known = {row.key: row.name for row in name_rows.by_keys(connection, spellings) if row.uses}
            for scope in {scope for scope, _ in spellings}:
                self._scale.fit(connection, scope)
        fresh = [key for key in spellings if key not in known]
        spelt = dict(spellings) | known
        self._texts = {}
        for fact in facts:
            subject, object_ = spelt.get((fact.scope, fact.subject)), spelt.get((fact.scope, fact.object))
            if subject is not None and object_ is not None:
                self._texts[fact] = f"{subject} {fact.relation} {object_}"
        if fresh or self._texts:
            names = list(dict.fromkeys(spellings[key] for key in fresh))
            told = list(dict.fromkeys(self._texts.values()))
            made = self._embed([*names, *told])
            vectors = dict(zip(names, made, strict=False))
            self._vectors = {key: vectors[spellings[key]] for key in fresh}
            self._told = dict(zip(told, made[len(names) :], strict=True))

    def take_back(self, names: Iterable[str], facts: Collection[tuple[str, str, str]]) -> None:
        """Drop from the cache what was prepared of memories that turned sensitive, or went, on the way."""
        if self._forget is not None:
            told = [text for fact, text in self._texts.items() if (fact.subject, fact.relation, fact.object) in facts]
            self._forget([*names, *told])

    def give_vectors(self, connection: Connection[Any]) -> None:
        """Give the edges that follow from what was prepared their vectors, in the transaction that made them.

        An edge's text is read from the store, so that one that is called otherwise by now waits for `embed`.
        """
        import numpy as np

        if not self._told:
            return
        # An edge has a row for each time that it held: twice as many rows as facts are nearly always all.
        waiting = graph_vectors.newest_pending(connection, "concept_edges", limit=2 * len(self._told))
        if known := [(key, self._told[text]) for key, text in waiting if text in self._told]:
            rows = np.stack([vector for _, vector in known])
            graph_vectors.write(connection, "concept_edges", [key for key, _ in known], rows)

    def __call__(self, connection: Connection[Any], fresh: Sequence[NameRow]) -> None:
        """Merge new names into the concepts they mean."""
        import numpy as np

        embedded = [row for row in fresh if row.key in self._vectors]
        if embedded:
            rows = np.stack([self._vectors[row.key] for row in embedded])
            graph_vectors.write(connection, "concepts", [row.concept_id for row in embedded], rows)
        # Long names first: a short one then finds the one concept that all its expansions became, and not each of them.
        waiting = sorted(fresh, key=lambda row: (-len(tokens(row.normal)), row.normal))
        unseen = {row.concept_id for row in waiting}
        for row in waiting:
            unseen.discard(row.concept_id)
            self._resolve(connection, row, unseen)

    def _resolve(self, connection: Connection[Any], row: NameRow, unseen: set[int]) -> None:
        candidates = self._candidates(connection, row, unseen)
        decision = self._canonicaliser.resolve(ContextMention(row.name, row.kind), candidates)
        if decision.action == "new" or decision.concept is None:
            self.tally.new += 1
            return
        (found,) = (candidate for candidate in candidates if candidate.id == decision.concept)
        method = "incremental"
        if decision.action == "ask":
            answer = self._ask(row.name, row.kind, found.names) if self._ask else None
            if answer is None:
                near = name_rows.of_concepts(connection, [int(str(found.id))])[0]
                concept_rows.mark_ambiguous(connection, row.id, near.id, decision.score)
                self.tally.ambiguous += 1
                return
            if not answer:
                self.tally.new += 1
                return
            method = "incremental, asked"
        pair = int(str(found.id)), row.concept_id
        journal.merge(connection, [pair], method=method, score=decision.score)
        self.tally.merged += 1

    def _candidates(self, connection: Connection[Any], row: NameRow, unseen: set[int]) -> list[Candidate]:
        words = tokens(row.normal)
        parts_of_name = row.normal.split()
        # Every run of words in this name: a shorter name may be one of them.
        runs = combinations(range(len(parts_of_name) + 1), 2)
        parts = {" ".join(parts_of_name[start:end]) for start, end in runs}
        shared = {*words, *(word for word in parts_of_name if comparison_form(word) in words)}
        ids = name_rows.similar(connection, row.key, sorted(shared), sorted(parts), initials(row.normal), limit=SHARED)
        near: dict[int, float | None] = {}
        if (vector := self._vectors.get(row.key)) is not None:
            found = graph_vectors.near_concepts(connection, row.scope, vector, NEIGHBOURS + 1)
            cosines = {key: cosine for key, cosine in found if key != row.concept_id}
            others = [key for key in ids if key not in cosines and key != row.concept_id]
            cosines |= graph_vectors.cosines(connection, vector, others)
            near = dict(zip(cosines, self._scale(row.scope, list(cosines.values())), strict=True))
        rows: dict[int, list[NameRow]] = {}
        for other in name_rows.of_concepts(connection, sorted({*ids, *near} - {row.concept_id} - unseen)):
            rows.setdefault(other.concept_id, []).append(other)
        return [
            Candidate(
                key,
                tuple(one.name for one in sorted(known, key=lambda one: (-one.uses, -len(one.name), one.name))[:NAMES]),
                next((one.kind for one in known if one.kind), None),
                max(1, sum(one.uses for one in known)),
                near.get(key),
            )
            for key, known in rows.items()
        ]
