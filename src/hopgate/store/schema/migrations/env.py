"""Alembic's entry point: run the migrations over the connection that `hopgate.store.schema.migrate` hands in."""

from __future__ import annotations

from alembic import context

from hopgate.store.schema.place import VERSION_TABLE

connection = context.config.attributes["connection"]
# One transaction a migration, so that a step that builds an index concurrently can leave its own.
context.configure(connection=connection, version_table=VERSION_TABLE, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
