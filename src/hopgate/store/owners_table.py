"""A table of an owner's whose rows are memories: followed by triggers, and never changed but by who writes memories.

Each row has a memory in `hopgate.memories`, made in the transaction that writes the row. Vectors and all else that is
made of memories stand in hopgate's own tables, so that the owner's has no new column, index or row version, and its own
triggers fire for nobody but its owner. A memory that is added, changed or deleted through hopgate is written to the
table as well, in the same transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from psycopg import sql

from hopgate.errors import HopgateError
from hopgate.options import setting
from hopgate.store.rows import Connection, fetch, value, values

if TYPE_CHECKING:
    from hopgate.embed import Identity

_WHOLE = ("smallint", "integer", "bigint")
_NUMBER = (*_WHOLE, "real", "double precision", "numeric")
_TEXT = ("text", "character varying", "character", "citext", "name")
_NAME = (*_TEXT, *_WHOLE, "uuid")
_TIME = ("timestamp with time zone", "timestamp without time zone", "date")
_LIST = (*_TEXT, "text[]", "character varying[]", "citext[]", "json", "jsonb")


class Field(NamedTuple):
    """A field of a memory that a column of an owner's can be."""

    types: Sequence[str]  # that the column may have
    kind: str = "text"  # the field's own type
    read: str = "{}::text"  # the field in SQL over a column of any of these types
    absent: str = "NULL"  # what it is where the table has no column for it


FIELDS = {
    "content": Field(_TEXT, read="coalesce({}::text, '')"),
    "external_id": Field(_NAME),
    "category": Field(_NAME),
    "tags": Field(_LIST, "text[]", "hopgate_list({})", "'{}'"),
    "expanded_keywords": Field(_LIST, "text[]", "hopgate_list({})", "'{}'"),
    # By way of text, so that a real gives 0.3 and not 0.30000001192.
    "importance": Field(_NUMBER, "float8", "least(greatest(coalesce({}::text::float8, 0.5), 0), 1)", "0.5"),
    "is_sensitive": Field(("boolean", *_NUMBER, *_TEXT), "boolean", "hopgate_flag({})", "false"),
    "scope": Field(_NAME),
    "created_at": Field(_TIME, "timestamptz", "hopgate_time({})"),
    "thread": Field(_NAME),
    "reply_to": Field(_NAME),
    "superseded_at": Field(_TIME, "timestamptz", "hopgate_time({})"),
}
# A column of such a name may say that a row is a secret: it is never passed over in silence.
FLAGS = ("is_sensitive", "sensitive", "is_private", "private", "is_secret", "secret", "is_confidential", "confidential")


@dataclass(frozen=True, slots=True)
class OwnersTable:
    """Which table's rows are memories, and how they are read."""

    name: str = setting(
        meaning="a table of yours, such as public.notes, whose rows are memories",
        called="memories",
        shown="hopgate.memories, a table of its own",
    )
    # By field of a memory the column that it stands in; a column that is called like a field is that field.
    columns: Mapping[str, str] = field(default_factory=dict)
    hide: str | None = setting(None, "in SQL the rows that are no memories, such as 'deleted_at IS NOT NULL'")
    superseded: str | None = setting(None, "in SQL the rows that gave way, such as \"content LIKE '[SUPERSEDED]%'\"")
    not_sensitive: tuple[str, ...] = setting((), "a column that is called like a flag of secrets and is none")
    embedding: str | None = setting(
        None, "its column of vectors to begin with, with --embedder", called="embedding_column"
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the owner's."""

    name: str
    type: str
    required: bool  # whether an INSERT must give it a value


@dataclass(frozen=True, slots=True)
class _Table:
    """An owner's table as the catalog has it."""

    name: str
    columns: Mapping[str, _Column]
    key: _Column | None
    mapped: Mapping[str, _Column]

    @property
    def unfilled(self) -> list[str]:
        """The columns that a memory has no value for and that an INSERT must give one."""
        known = {column.name for column in self.mapped.values()}
        return [name for name, column in self.columns.items() if column.required and name not in known]


def notices(connection: Connection, owners: OwnersTable) -> list[str]:
    """What the owner should know before a table is followed, each as a sentence; nothing where one is in the way."""
    if any(conflicts(connection, owners)):
        return []
    table = _look_up(connection, owners)
    sentences = [
        f"hopgate cannot add memories to {owners.name}, because it has no value for its column {name}: give that a "
        "default, or add rows by your own programs"
        for name in table.unfilled
    ]
    names = values(
        connection,
        "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal AND tgenabled <> 'D' "
        "ORDER BY tgname",
        (table.name,),
    )
    if names:
        fire = "triggers of yours fire where hopgate adds, changes or deletes a memory, and never else"
        sentences.append(f"{fire}: {', '.join(names)}")
    return sentences


def copy_vectors(connection: Connection, column: str, identity: Identity) -> int:
    """Take the vectors of a column of the owner's as those that this embedder makes; give how many were taken.

    Sensitive memories get none, whatever the owner's table has. Their tokens are made by `hopgate embed`.
    """
    from hopgate.embed.late import late_model
    from hopgate.store import setting_rows, vectors

    name = followed(connection)
    if name is None:
        raise HopgateError("this store follows no table of yours: its vectors are made by hopgate embed")
    table = _look_up(connection, OwnersTable(name))
    assert table.key is not None  # it would not be followed
    late = late_model(setting_rows.own(connection, setting_rows.LATE))
    vectors.claim(connection, identity, late.identity if late else None)
    taken = values(
        connection,
        f"UPDATE memories m SET embedding = t.{quoted(column)}::halfvec FROM {table.name} t "
        f"WHERE t.{quoted(table.key.name)} = m.row_key::{table.key.type} AND NOT m.is_sensitive "
        f"AND m.embedding IS NULL AND l2_norm(t.{quoted(column)}::halfvec) > 0 RETURNING m.id",
    )
    if late is None:
        # They wait for nothing more.
        connection.execute("DELETE FROM waiting_vectors WHERE memory_id = ANY(%s)", (taken,))
    return len(taken)


def statements(connection: Connection, owners: OwnersTable) -> str:
    """The SQL that follows a table and makes a memory of each of its rows, with `search_path` at hopgate's schema."""
    table = _look_up(connection, owners)
    text = files("hopgate.store").joinpath("owners_table.sql").read_text(encoding="utf-8")
    parts = {**_followed(owners, table), **_written_back(table)}
    return re.sub(r"@(\w+)", lambda name: parts[name[1]], text)


def release(connection: Connection) -> None:
    """Take hopgate's triggers off an owner's table."""
    for trigger, table, _ in _triggers(connection):
        connection.execute(f"DROP TRIGGER {trigger} ON {table}")


def followed(connection: Connection) -> str | None:
    """The owner's table that a store follows, with its schema, if it follows one."""
    return next((name for _, _, name in _triggers(connection)), None)


def _triggers(connection: Connection) -> list[tuple[str, str, str]]:
    """Hopgate's triggers on an owner's table: their names and the table's in SQL, and its name as it is written."""
    return connection.execute(
        "SELECT quote_ident(t.tgname), t.tgrelid::regclass::text, c.relnamespace::regnamespace || '.' || c.relname "
        "FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid "
        "WHERE p.pronamespace = to_regnamespace('hopgate') AND c.relnamespace <> p.pronamespace AND NOT t.tgisinternal"
    ).fetchall()


def _look_up(connection: Connection, owners: OwnersTable) -> _Table:
    schema, _, name = owners.name.rpartition(".")
    there = (
        "SELECT quote_ident(nspname) || '.' || quote_ident(relname) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = relnamespace WHERE (nspname, relname) = (%s, %s) AND relkind IN ('r', 'p')"
    )
    table = value(connection, there, (schema.strip('"'), name.strip('"')))
    if table is None:
        raise HopgateError(f"there is no table {owners.name}: name the one that holds memories, as schema.table")
    listed = fetch(
        connection,
        _Column,
        "SELECT attname AS name, format_type(atttypid, NULL) AS type, "
        "attnotnull AND NOT atthasdef AND attidentity = '' AS required FROM pg_attribute "
        "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        (table,),
    )
    columns = {column.name: column for column in listed}
    key = value(
        connection,
        "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
        "WHERE i.indrelid = %s::regclass AND i.indisunique AND i.indnkeyatts = 1 AND i.indpred IS NULL "
        "AND a.attnotnull ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1",
        (table,),
    )
    named = {name: columns.get(owners.columns.get(name, name)) for name in FIELDS}
    mapped = {name: column for name, column in named.items() if column is not None}
    return _Table(table, columns, columns[key] if key else None, mapped)


def conflicts(connection: Connection, owners: OwnersTable) -> Iterator[str]:
    """What stands in the way of following a table, each as a sentence."""
    table = _look_up(connection, owners)
    if table.key is None:
        yield f"{owners.name} has no primary key of one column: give it one"
    for name, named in owners.columns.items():
        if name not in FIELDS:
            yield f"a memory has no field {name}: there are {', '.join(FIELDS)}"
        elif named not in table.columns:
            yield f"{owners.name} has no column {named} for {name}"
    if "content" not in table.mapped and "content" not in owners.columns:
        yield f"{owners.name} has no column content: say which one holds the text, as --map text=NAME"
    for name, column in table.mapped.items():
        if column.type not in FIELDS[name].types:
            yield f"the column {column.name} is {column.type}, which {name} cannot be read from"
    passed_over = {*owners.not_sensitive, *(column.name for column in table.mapped.values())}
    for flag in table.columns:
        if flag.lower() in FLAGS and flag not in passed_over:
            yield (
                f"the column {flag} may tell which rows are sensitive (say --map is_sensitive={flag}, "
                f"or --not-sensitive {flag} if it does not)"
            )
    yield from _unreadable(connection, owners, table)


def _unreadable(connection: Connection, owners: OwnersTable, table: _Table) -> Iterator[str]:
    """What of the table's content, and of what was said of it, cannot be used."""
    external_id = table.mapped.get("external_id")
    if external_id is not None and external_id.type in FIELDS["external_id"].types:
        name = quoted(external_id.name)
        twice = f"SELECT FROM {table.name} GROUP BY {name} HAVING count({name}) > 1"
        if count := value(connection, f"SELECT count(*) FROM ({twice}) AS twice"):
            yield f"{count:,} external ids stand in more than one row: make them unique"
    vector = table.columns.get(owners.embedding or "")
    if owners.embedding is not None and (vector is None or vector.type not in ("vector", "halfvec", "real[]")):
        yield f"{owners.name} has no column {owners.embedding} of vectors"
    for what, condition in (("--hide", owners.hide), ("--superseded", owners.superseded)):
        try:
            with connection.transaction():
                connection.execute(
                    f"SELECT 1 FROM {table.name} AS t WHERE ({condition or 'true'}) IS NULL LIMIT 0".encode()
                )
        except psycopg.Error as error:
            yield f"{what} {condition!r} is no condition over {owners.name} ({error.diag.message_primary})"


def _reading(name: str, column: _Column | None, owners: OwnersTable) -> str:
    """A field of a memory as SQL over a row `t` of the table."""
    _, kind, read, absent = FIELDS[name]
    read = read.format(f"t.{quoted(column.name)}") if column else f"{absent}::{kind}"
    ended = name == "superseded_at" and owners.superseded
    return f"coalesce({read}, CASE WHEN {owners.superseded} THEN now() END)" if ended else read


def _followed(owners: OwnersTable, table: _Table) -> dict[str, str]:
    """How rows of the table become memories."""
    assert table.key is not None
    key = quoted(table.key.name)
    # What the table has no column for was given by hopgate's user, if at all, and stays as it is.
    changes = [f"{name} = r.{name}" for name in table.mapped if name not in ("is_sensitive", "created_at")]
    if "created_at" in table.mapped:
        changes += ["created_at = coalesce(r.created_at, m.created_at)", "dated = m.dated OR r.created_at IS NOT NULL"]
    others = [name for name in FIELDS if name not in ("external_id", "created_at")]
    # What names, facts and vectors are made of, and who "she" is.
    texts = [name for name in ("content", "tags", "expanded_keywords", "scope", "thread") if name in table.mapped]
    opened = "NULL"
    if (flag := table.mapped.get("is_sensitive")) is not None:
        read = _reading("is_sensitive", flag, OwnersTable(table.name))
        was, now = (read.replace("t.", f"{row}.", 1) for row in ("went", "came"))
        opened = f"(SELECT array_agg(came.{key}::text) FROM went JOIN came USING ({key}) WHERE {was} AND NOT {now})"
    return {
        "table": table.name,
        "name": sql.Literal(table.name.replace('"', "")).as_string(),
        "key": key,
        "key_type": table.key.type,
        "fields_with_types": ", ".join(f"{name} {field.kind}" for name, field in FIELDS.items()),
        "fields_read": ", ".join(_reading(name, table.mapped.get(name), owners) for name in FIELDS),
        "not_hidden": f" AND ({owners.hide}) IS NOT TRUE" if owners.hide else "",
        "texts_of_memory": _listed(texts, "m."),
        "texts_of_row": _listed(texts, "r."),
        "changes": ", ".join(changes),
        "others": _listed(others),
        "others_of_row": _listed(others, "r."),
        "opened": opened,
    }


def _written_back(table: _Table) -> dict[str, str]:
    """How memories become rows of the table."""
    assert table.key is not None
    written = {name: column for name, column in table.mapped.items() if column.name != table.key.name}
    updates = (
        f"{quoted(column.name)} = CASE WHEN n.{name} IS DISTINCT FROM o.{name} "
        f"THEN {_writing(f'n.{name}', name, column)} ELSE t.{quoted(column.name)} END"
        for name, column in written.items()
    )
    return {
        "unfilled": sql.Literal(table.unfilled[0]).as_string() if table.unfilled else "NULL",
        "columns": ", ".join(quoted(column.name) for column in written.values()),
        "column_values": ", ".join(_writing(f"r.{name}", name, column) for name, column in written.items()),
        "column_updates": ", ".join(updates),
        "written_now": _listed(written, "n."),
        "written_before": _listed(written, "o."),
    }


def _listed(names: Iterable[str], before: str = "") -> str:
    return ", ".join(f"{before}{name}" for name in names)


def _writing(value: str, name: str, column: _Column) -> str:
    """A field of a memory as a value of the owner's column."""
    kind = column.type
    if name in ("tags", "expanded_keywords"):
        if kind in ("json", "jsonb"):
            return f"to_{kind}({value})"
        return f"{value}::{kind}" if kind.endswith("[]") else f"array_to_string({value}, ',')"
    if name == "is_sensitive" and kind != "boolean":
        return f"CASE WHEN {value} THEN 1 ELSE 0 END" if kind in _NUMBER else f"{value}::text"
    if kind in ("timestamp without time zone", "date"):
        return f"({value} AT TIME ZONE 'UTC')::{kind}"
    return f"{value}::{kind}"


def quoted(name: str) -> str:
    """A column's name in SQL, whatever it holds."""
    return sql.Identifier(name).as_string()
