"""Everything of hopgate's moves into a schema of its own; an owner's memories stay where they are."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from hopgate.store.schema.migrations.versions import m0001_memories
from hopgate.store.schema.place import SCHEMA, VERSION_TABLE

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Move what an earlier hopgate made elsewhere; a database that is new has nothing to move."""
    from hopgate.store.backup import own_tables

    connection = op.get_bind()
    for table in (*own_tables(), VERSION_TABLE):
        if table == "memories" and not _made_here():
            continue
        row = connection.execute(
            text("SELECT to_regclass(:new), to_regclass(:old)::text"), {"new": f"{SCHEMA}.{table}", "old": table}
        ).one()
        if row[0] is None and row[1] is not None:
            op.execute(f"ALTER TABLE {row[1]} SET SCHEMA {SCHEMA}")
    functions = connection.execute(
        text(
            "SELECT oid::regprocedure::text FROM pg_proc WHERE proname ~ '^hopgate_' AND pg_function_is_visible(oid) "
            f"AND pronamespace <> '{SCHEMA}'::regnamespace ORDER BY 1"
        )
    )
    for (name,) in functions.all():
        op.execute(f"ALTER FUNCTION {name} SET SCHEMA {SCHEMA}")
    # The functions that write find their tables by the path that they were made with. Whoever may write memories need
    # have no rights in this schema for them to be counted.
    path = f"{SCHEMA}, {m0001_memories.schema_of_memories()}, pg_temp"
    for name, trigger in _writing_functions():
        op.execute(f"ALTER FUNCTION {name} SET search_path = {path}")
        if trigger:
            op.execute(f"ALTER FUNCTION {name} SECURITY DEFINER")


def downgrade() -> None:
    """Leave the tables where they are: every statement finds them there."""
    for name, trigger in _writing_functions():
        if trigger:
            op.execute(f"ALTER FUNCTION {name} SECURITY INVOKER")


def _writing_functions() -> list[tuple[str, bool]]:
    """The functions that name tables, each with whether it is a trigger's."""
    rows = op.get_bind().execute(
        text(
            "SELECT oid::regprocedure::text, prorettype = 'trigger'::regtype FROM pg_proc "
            f"WHERE pronamespace = '{SCHEMA}'::regnamespace AND proname ~ '^hopgate_' "
            "AND (prorettype = 'trigger'::regtype OR proconfig::text ~ 'search_path') ORDER BY 1"
        )
    )
    return [(row[0], row[1]) for row in rows]


def _made_here() -> bool:
    """Whether hopgate made the table of memories: then its columns stand in the order of the first migration."""
    rows = op.get_bind().execute(
        text("SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('memories') AND attnum > 0 ORDER BY attnum")
    )
    wanted = ["id", *m0001_memories.COLUMNS]
    return [row[0] for row in rows][: len(wanted)] == wanted
