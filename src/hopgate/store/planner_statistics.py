"""The planner's statistics keep values of every column: they are made anew where they hold a text that has gone."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from psycopg import errors

from hopgate.store.schema import IS_OWN

if TYPE_CHECKING:
    from psycopg import Connection

# Of hopgate's tables, and of the expressions of their indexes, which are listed under the index's name.
_VALUES = f"""
SELECT DISTINCT c.oid::regclass::text,
  concat_ws(' ', s.most_common_vals::text, s.histogram_bounds::text, s.most_common_elems::text)
FROM pg_stats s JOIN pg_namespace n ON n.nspname = s.schemaname
JOIN pg_class r ON r.relname = s.tablename AND r.relnamespace = n.oid
LEFT JOIN pg_index i ON i.indexrelid = r.oid JOIN pg_class c ON c.oid = coalesce(i.indrelid, r.oid)
WHERE {IS_OWN}
"""
_WORD = re.compile(r"\w+")


# For more texts than this it is quicker to analyse every table than to look for each.
MANY = 500


def forget(connection: Connection[Any], texts: Iterable[str]) -> list[str]:
    """Analyse the tables whose statistics hold one of these texts, in the caller's transaction; give their names.

    They are compared by their words in lower case, as a text, its normal form and the lexemes of an index all have
    them: a table too many costs some milliseconds, and one too few would keep a text.
    """
    wanted = {phrase for text in texts if (phrase := _phrase(text)).strip()}
    found = set()
    for table, values in connection.execute(_VALUES) if wanted else ():
        held = _phrase(values or "")
        if table not in found and (len(wanted) > MANY or any(phrase in held for phrase in wanted)):
            found.add(table)
    for table in sorted(found):
        _make_anew(connection, table)
    return sorted(found)


def _make_anew(connection: Connection[Any], table: str) -> None:
    """Analyse a table; one that is empty keeps its old samples then, so that they are removed before."""
    try:
        with connection.transaction():
            connection.execute(
                "DELETE FROM pg_statistic WHERE starelid = %(table)s::regclass "
                "OR starelid IN (SELECT indexrelid FROM pg_index WHERE indrelid = %(table)s::regclass)",
                {"table": table},
            )
    except errors.InsufficientPrivilege:
        if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is None:
            _retype(connection, table)
    connection.execute(f"ANALYZE {table}")


def _retype(connection: Connection[Any], table: str) -> None:
    """Give an empty table's columns the types that they have, which removes their samples: all that an owner may do."""
    columns = connection.execute(
        "SELECT quote_ident(attname), format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass "
        "AND attnum > 0 AND NOT attisdropped AND attgenerated = '' "
        "AND atttypid IN ('text'::regtype, 'text[]'::regtype)",
        (table,),
    ).fetchall()
    for column, kind in columns:
        refused = (errors.FeatureNotSupported, errors.InsufficientPrivilege, errors.InvalidTableDefinition)
        with contextlib.suppress(*refused), connection.transaction():
            connection.execute(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE {kind}")


def _phrase(text: str) -> str:
    """A text's words between single spaces, which tell where a word begins and ends.

    Examples
    --------
    >>> _phrase('{"The Door-code",x}')
    ' the door code x '
    """
    return f" {' '.join(_WORD.findall(text.casefold()))} "
