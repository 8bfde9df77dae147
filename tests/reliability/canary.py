"""A word that stands in one memory alone, and every place where it may be found."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import psycopg

CANARY = "zyxcanaryzyx"
PLANTED = re.compile(r"zyxplanted(\w+?)zyx")
# Where a sensitive memory's own text stands, which stays: it is found by its words.
ITS_OWN = (
    "memories.content",
    "memories.search_vector",
    "memories.source",
    "memories.tags",
    "memories.expanded_keywords",
)


def planted(key: str) -> str:
    """A word for the memory of this id alone."""
    return f"zyxplanted{key.lower()}zyx"


def in_tables(dsn: str, needle: str = CANARY, *, but: Collection[str] = ITS_OWN) -> list[str]:
    """The columns of any table of any schema, the planner's statistics among them, that hold a text."""
    with psycopg.connect(dsn) as connection:
        return [place for place, column, text in _matches(connection, needle) if text and column not in but]


def in_files(folder: Path, needle: str = CANARY) -> list[str]:
    """The files below a folder that hold a text."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and needle.encode() in path.read_bytes()
    ]


def cached(folder: Path, texts: Iterable[str]) -> list[str]:
    """Those of the texts of which the embedding cache holds a vector or tokens, under the text's digest."""
    held = b"".join(path.read_bytes() for path in folder.glob("embeddings.sqlite3*"))
    made = ("document", "tokens")
    return [
        text
        for text in texts
        if any(hashlib.sha256(f"{what}\0{text}".encode()).hexdigest().encode() in held for what in made)
    ]


def left_over(dsn: str, originals: Mapping[str, str], folder: Path | None = None) -> list[str]:
    """Where planted words of memories stand that are sensitive now, were changed or are gone."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT external_id, content, is_sensitive FROM hopgate.memories").fetchall()
        stored = {key: (text, sensitive) for key, text, sensitive in rows}
        hidden = {key for key, text in originals.items() if stored.get(key) != (text, False)}
        in_own_row = {key for key in hidden if stored.get(key) == (originals[key], True)}
        found = [
            f"{key} in {place}"
            for place, column, text in _matches(connection, PLANTED.pattern)
            for key in set(PLANTED.findall(text)) & (hidden - in_own_row if column in ITS_OWN else hidden)
        ]
    for path in folder.rglob("*") if folder else ():
        if path.is_file():
            held = PLANTED.findall(path.read_bytes().decode("latin-1"))
            found += [f"{key} in {path.name}" for key in set(held) & hidden]
    return found


def _matches(connection: psycopg.Connection[tuple[str, ...]], pattern: str) -> Iterator[tuple[str, str, str]]:
    """Every column of every table, and each one's samples: its name, the column, what in it matches."""
    columns = connection.execute(
        "SELECT table_schema, table_name, column_name FROM information_schema.columns "
        "JOIN information_schema.tables USING (table_schema, table_name) "
        "WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')"
    ).fetchall()
    for schema, table, column in columns:
        row = connection.execute(
            f'SELECT string_agg(found_[1], \' \') FROM "{schema}"."{table}", '
            f"regexp_matches(lower(\"{column}\"::text), %s, 'g') AS found_",
            (f"({pattern})",),
        ).fetchone()
        yield f"{table}.{column}", f"{table}.{column}", (row and row[0]) or ""
    samples = connection.execute(
        "SELECT tablename || '.' || attname, lower(concat(most_common_vals::text, histogram_bounds::text, "
        "most_common_elems::text)) FROM pg_stats WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    for column, text in samples.fetchall():
        yield f"pg_stats of {column}", column, text if re.search(pattern, text) else ""
