"""Names, and the concepts they belong to."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from hopgate.store import setting_rows
from hopgate.store.clearance import StoreGuard
from hopgate.store.graph import version
from hopgate.store.rows import Connection, insert, select, values

if TYPE_CHECKING:
    from hopgate.store.store import Store


@dataclass(frozen=True, slots=True)
class NameRow:
    """A name as the store knows it: `normal` is what it is compared by."""

    id: int
    concept_id: int
    normal: str
    name: str
    kind: str | None
    uses: int = 0
    scope: str = ""

    @property
    def is_new(self) -> bool:
        """Whether no memory mentions it yet, though two memories may tell a change of it."""
        return not self.uses

    @property
    def key(self) -> NameKey:
        """What no other name has."""
        return self.scope, self.normal


NameKey = tuple[str, str]
"""A scope and a normal form."""
VALUE = "value"
"""The kind of what is only a number, an hour, a date or an amount: facts end there, and no list of concepts has it."""

# The words of a name and its scope in one array, as the index of words has them: no word has a line break.
_WORDS = "(string_to_array(n.normal_name, ' ') || (E'\\n' || n.scope))"


class _NewName(NamedTuple):
    scope: str
    normal: str
    name: str
    kind: str | None
    initials: str | None


def ensure(
    connection: Connection, wanted: Mapping[NameKey, tuple[str, str | None]], initials: Callable[[str], str]
) -> dict[NameKey, NameRow]:
    """Find names by their scope and normal form, and give each that is new a concept of its own.

    Each comes with its spelling and kind; `initials` gives by normal form the first letters by which it may be called.
    """
    known = {row.key: row for row in read(connection, keys=wanted)}
    fresh = [_NewName(*key, *wanted[key], initials(key[1]) or None) for key in wanted if key not in known]
    if insert(connection, "names", fresh):
        known |= {row.key: row for row in read(connection, keys=[(row.scope, row.normal) for row in fresh])}
    return known


# Which names are asked for, by the argument of `read`. Texts come as one, since to write some hundred as an array takes
# psycopg a millisecond.
_WHICH = {
    "ids": "id = ANY(%(ids)s)",
    "concepts": "concept_id = ANY(%(concepts)s)",
    # Those of the facts that they tell together with others, too.
    "memories": "id IN (SELECT name_id FROM mentions WHERE memory_id = ANY(%(memories)s) "
    "UNION SELECT unnest(ARRAY[subject_id, object_id]) FROM facts "
    "WHERE memory_id = ANY(%(memories)s) OR read_with = ANY(%(memories)s))",
    "keys": "(scope, normal) IN (SELECT key ->> 0, key ->> 1 FROM jsonb_array_elements(%(keys)s::jsonb) AS w (key))",
    "normals": "normal = ANY(ARRAY(SELECT jsonb_array_elements_text(%(normals)s::jsonb))) AND uses > 0",
    "scopes": "scope = ANY(%(scopes)s)",
}


def read(connection: Connection, **which: Collection[Any] | None) -> list[NameRow]:
    """Names in the order of arrival: of these `ids`, `concepts` or `memories`, or with these `keys`.

    With these `normals`, and by default, those alone that a memory mentions, and not facts alone; of these `scopes`,
    where some are given.
    """
    asked = {name: list(these) for name, these in which.items() if these is not None}
    where = " AND ".join(_WHICH[name] for name in asked) or "uses > 0"
    parameters = {
        name: json.dumps(these, ensure_ascii=False) if name in ("keys", "normals") else these
        for name, these in asked.items()
    }
    return select(connection, NameRow, f"names WHERE {where} ORDER BY id", parameters)


def scopes_of(connection: Connection, memory_ids: Collection[int]) -> dict[int, str]:
    """The scope in which the names of each memory are: its own, "" for none, and "" for all where scopes are shared."""
    ids = sorted(memory_ids)
    if setting_rows.shares_scopes(connection):
        return dict.fromkeys(ids, "")
    return dict(
        connection.execute("SELECT id, coalesce(scope, '') FROM memories WHERE id = ANY(%s)", (ids,)).fetchall()
    )


def aliases_of_titles(connection: Connection, memory_ids: Sequence[int] | None) -> list[tuple[int, str, list[str]]]:
    """The notes, of these or of all, whose front matter says how else their title is called: id, title, aliases."""
    which = "" if memory_ids is None else "WHERE memory_id = ANY(%(ids)s)"
    return connection.execute(f"SELECT * FROM title_aliases {which}", {"ids": memory_ids}).fetchall()


def spelt(names: Sequence[str], connection: Connection) -> bool:
    """Whether each of these is a name's spelling: whether a memory that may be read still says it."""
    known = values(
        connection,
        "SELECT name FROM concept_names WHERE name = ANY(%(names)s) "
        "UNION SELECT spelling FROM mentions WHERE spelling = ANY(%(names)s)",
        {"names": list(names)},
    )
    return {*known} == {*names}


def guard(store: Store, holds: Callable[[Connection], bool]) -> StoreGuard:
    """Guard texts of the graph on their way to a model: what turns sensitive changes the graph, under its lock."""

    def still(connection: Connection, locked: bool) -> bool:
        if locked:
            version.lock(connection)
        return holds(connection)

    return StoreGuard(store, still)


def move(connection: Connection, name_ids: Sequence[int], concept_id: int) -> None:
    """Make names belong to another concept."""
    connection.execute("UPDATE concept_names SET concept_id = %s WHERE id = ANY(%s)", (concept_id, list(name_ids)))


def separate(connection: Connection, name_ids: Sequence[int] | None = None) -> None:
    """Give each of these names a concept of its own; by default each but the first of every concept."""
    which = "EXISTS (SELECT FROM concept_names o WHERE o.concept_id = n.concept_id AND o.id < n.id)"
    which = which if name_ids is None else "id = ANY(%(ids)s)"
    connection.execute(f"UPDATE concept_names n SET concept_id = NULL WHERE {which}", {"ids": name_ids})


def similar(
    connection: Connection, name: NameKey, words: Sequence[str], parts: Sequence[str], initials: str, *, limit: int
) -> list[int]:
    """The concepts of its scope that a name may mean: by a shared word, as part of it or whole, or by initials."""
    return values(
        connection,
        "SELECT h.concept_id FROM unnest(%(words)s::text[]) AS t (word) "
        "CROSS JOIN LATERAL (SELECT concept_id FROM concept_names n "
        f"WHERE {_WORDS} @> ARRAY[t.word, %(line)s] AND uses > 0 LIMIT %(limit)s) AS h "
        f"UNION (SELECT concept_id FROM concept_names n WHERE {_WORDS} @> (%(words)s::text[] || %(line)s::text) "
        "AND uses > 0 LIMIT %(limit)s) "
        "UNION SELECT concept_id FROM concept_names WHERE scope = %(scope)s AND normal_name = ANY(%(parts)s) "
        "AND uses > 0 UNION SELECT concept_id FROM concept_names WHERE scope = %(scope)s AND initials = %(normal)s "
        "AND uses > 0 ORDER BY 1",
        {
            **{"words": list(words), "parts": [*parts, initials], "limit": limit},
            **{"scope": name[0], "normal": name[1], "line": f"\n{name[0]}"},
        },
    )
