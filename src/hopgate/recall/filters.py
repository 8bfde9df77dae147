"""What is asked: a query's text, and which memories it may return, by one SQL condition in every leg before fusion."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from hopgate.errors import HopgateError
from hopgate.store import memories
from hopgate.store.graph import concept_rows
from hopgate.store.where import Conditions, Where
from hopgate.times import When, utc

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.embed.late import QueryTokens
    from hopgate.recall.lexical import QueryWords
    from hopgate.store.store import Store

LOG = logging.getLogger("hopgate.recall")

# Longer texts are documents, not queries: the OR-broadened search would visit most of the table.
MAX_QUERY_CHARACTERS = 20_000

# So many vectors are compared without an index in the time that an index takes which must pass most of them over.
FEW = 20_000

Scopes: TypeAlias = str | Sequence[str] | None
"""One scope, several, or any."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Scopes, ids already in context, and the two times, honoured alike by every leg."""

    scope: Scopes = None  # the scope, or the scopes, that memories may have
    exclude: tuple[int, ...] = ()
    as_of: datetime | None = None
    known_at: datetime | None = None
    superseded: bool = False
    concepts: tuple[int, ...] | None = None  # only memories that are linked to one of these: those of a cluster
    where: Where | None = None  # what their fields must be
    # The memories that meet `where`, if they are few: then it is asked once, and not by each leg.
    among: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", _checked_scope(self.scope))
        object.__setattr__(self, "as_of", utc(self.as_of))
        object.__setattr__(self, "known_at", utc(self.known_at))

    @property
    def scopes(self) -> list[str] | None:
        """The scopes as a list; None where every scope may be seen."""
        return [self.scope] if isinstance(self.scope, str) else None if self.scope is None else list(self.scope)

    def sql(self) -> tuple[str, Mapping[str, Any]]:
        """The condition on `memories`, and its parameters."""
        conditions, parameters = [], dict[str, Any]()
        if not self.superseded:
            # What was superseded after these times was in force then.
            times = {"known_at": self.known_at, "as_of": self.as_of}
            parameters |= {name: time for name, time in times.items() if time is not None}
            then = "".join(f" OR superseded_at > %({name})s" for name in parameters)
            conditions.append(f"(superseded_at IS NULL{then})" if then else "superseded_at IS NULL")
        if self.scope is not None:
            alone = isinstance(self.scope, str)
            conditions.append("scope = %(scope)s" if alone else "scope = ANY(%(scope)s)")
            parameters["scope"] = self.scope if alone else list(self.scope)
        if self.exclude:
            conditions.append("id <> ALL(%(exclude)s)")
            parameters["exclude"] = list(self.exclude)
        if self.known_at is not None:
            # Memories made after `known_at` were not known then.
            conditions.append("created_at <= %(known_at)s")
            parameters["known_at"] = self.known_at
        if self.concepts is not None:
            conditions.append(concept_rows.LINKED_TO)
            parameters["concepts"] = list(self.concepts)
        if self.among is not None:
            conditions.append("id = ANY(%(among)s)")
            parameters["among"] = list(self.among)
        elif self.where is not None:
            conditions.append(self.where.sql)
            parameters |= self.where.parameters
        return " AND ".join(conditions) or "true", parameters


@dataclass(frozen=True, eq=False)
class Query:
    """A query on its way through the legs."""

    text: str
    filters: Filters
    # Its embedding; none where the dense leg is off or the store has no vectors.
    vector: NDArray[np.float32] | None = None
    # Its tokens for late interaction; none where that leg is off or the store keeps none.
    tokens: QueryTokens | None = None
    words: QueryWords | None = None  # its words as the store knows them, where the lexical leg looked them up
    # Whether every vector and fact is compared and the whole graph solved, as in an evaluation; by default only where
    # a table is small or has no index.
    exact: bool | None = None


def read_filters(
    store: Store,
    *,
    scope: Scopes = None,
    exclude: Sequence[str] = (),
    as_of: When | None = None,
    known_at: When | None = None,
    superseded: bool = False,
    cluster: int | None = None,
    where: Conditions | str | None = None,
) -> Filters:
    """Make the filters of a recall; excluded memories are given by external id, and unknown ids are passed over.

    `cluster` is one of the clusters of just these scopes; another one is refused, as it is made of others' texts.
    """
    if cluster is not None and (isinstance(cluster, bool) or not isinstance(cluster, int)):
        raise HopgateError(f"cluster is a number, not {cluster!r}: hopgate concepts clusters shows them")
    filters = Filters(
        scope, (), utc(as_of), utc(known_at), superseded, where=None if where is None else Where.of(where)
    )
    if not exclude and cluster is None and where is None:
        return filters
    with store.transaction() as connection:
        if where is not None:
            condition, parameters = filters.sql()
            statement = f"SELECT id FROM memories WHERE {condition} LIMIT {FEW} + 1"
            rows = connection.execute(statement, parameters).fetchall()
            filters = replace(filters, among=tuple(row[0] for row in rows) if len(rows) <= FEW else None)
        if exclude:
            filters = replace(filters, exclude=tuple(memories.ids_of(connection, exclude)))
        if cluster is None:
            return filters
        concepts = concept_rows.concepts_of_cluster(connection, sorted(filters.scopes or ()), cluster)
    if concepts is None:
        named = "".join(f" --scope {name}" for name in filters.scopes or ())
        raise HopgateError(f"there is no cluster {cluster!r}: hopgate concepts clusters{named} finds and shows them")
    return replace(filters, concepts=concepts)


def note_unknown_scopes(store: Store, filters: Filters) -> None:
    """Say, by a record of the logger `hopgate.recall`, which of the scopes no memory has."""
    if filters.scopes is None:
        return
    with store.transaction() as connection:
        unknown = memories.unknown_scopes(connection, filters.scopes)
    for scope in unknown:
        LOG.warning("no memory has the scope %r: check its spelling, or leave it out to search all scopes", scope)


def _checked_scope(scope: Scopes) -> str | tuple[str, ...] | None:
    """Make several scopes a tuple, so that filters hash; one of several is one."""
    if scope is None or isinstance(scope, str):
        return scope
    scopes = tuple(dict.fromkeys(scope)) if isinstance(scope, Iterable) else ()
    if not scopes or not all(isinstance(name, str) for name in scopes):
        raise HopgateError(f"scope is a text or a list of texts, not {scope!r}: leave it out to search all scopes")
    return scopes[0] if len(scopes) == 1 else scopes


def check_query(query: str) -> str:
    """Refuse what is not a query, before any leg works on it."""
    if not isinstance(query, str):
        raise HopgateError(f"a query is a text, not {type(query).__name__}: say in words what to recall")
    if not query.strip():
        raise HopgateError("the query is empty: say what to recall")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise HopgateError(
            f"the query has {len(query):,} characters: at most {MAX_QUERY_CHARACTERS:,} are searched, so shorten it"
        )
    try:
        query.encode()
    except UnicodeEncodeError:
        raise HopgateError("the query holds half of a surrogate pair, which is not text") from None
    # PostgreSQL has no NUL in a text.
    return query.replace("\0", " ")
