"""Alembic migrations: additive to an existing `memories` table."""
