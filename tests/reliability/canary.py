"""A word that stands in one memory alone, and every place where it may be found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import psycopg

CANARY = "zyxcanaryzyx"
# Where a sensitive memory's own text stands, which stays: it is found by its words.
ITS_OWN = {
    ("memories", "content"),
    ("memories", "search_vector"),
    ("memories", "source"),
    ("memories", "tags"),
    ("memories", "expanded_keywords"),
}


def in_tables(dsn: str, needle: str = CANARY, *, but: Iterable[tuple[str, str]] = ITS_OWN) -> list[str]:
    """The columns of any table of any schema, the planner's statistics among them, that hold a text."""
    left_out = set(but)
    found = []
    with psycopg.connect(dsn) as connection:
        columns = connection.execute(
            "SELECT table_schema, table_name, column_name FROM information_schema.columns "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for schema, table, column in columns:
            if (table, column) in left_out:
                continue
            row = connection.execute(
                f'SELECT count(*) FROM "{schema}"."{table}" WHERE strpos(lower("{column}"::text), %s) > 0', (needle,)
            ).fetchone()
            if row and row[0]:
                found.append(f"{table}.{column}")
        sampled = connection.execute(
            "SELECT tablename, attname FROM pg_stats WHERE strpos(lower(concat(most_common_vals::text, "
            "histogram_bounds::text, most_common_elems::text)), %s) > 0",
            (needle,),
        )
        found += [f"pg_stats of {table}.{column}" for table, column in sampled if (table, column) not in left_out]
    return found


def in_files(folder: Path, needle: str = CANARY) -> list[str]:
    """The files below a folder that hold a text, or the digest under which the embedding cache keeps its vector."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and needle.encode() in path.read_bytes()
    ]


def cached(folder: Path, texts: Iterable[str]) -> list[str]:
    """Those of the texts whose vectors the embedding cache holds."""
    held = b"".join(path.read_bytes() for path in folder.glob("embeddings.sqlite3*"))
    return [text for text in texts if hashlib.sha256(f"document\0{text}".encode()).digest() in held]
