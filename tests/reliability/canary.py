"""A word that stands in one memory alone, and every place where it may be found."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
    """Those of the texts of which the embedding cache holds a vector or tokens."""
    held = b"".join(path.read_bytes() for path in folder.glob("embeddings.sqlite3*"))
    made = ("document", "tokens")
    return [text for text in texts if any(hashlib.sha256(f"{what}\0{text}".encode()).digest() in held for what in made)]


PLANTED = re.compile(r"zyxplanted(\w+?)zyx")


def planted(key: str) -> str:
    """A word for the memory of this id alone."""
    return f"zyxplanted{key.lower()}zyx"


@dataclass
class Search:
    """How often it was looked for words, in how many places, and what was found where it must not be."""

    words: int = 0
    places: int = 0
    found: list[str] = field(default_factory=list)

    def look(self, dsn: str, originals: Mapping[str, str], folder: Path | None = None) -> None:
        """Look for the words of all memories that are sensitive now, were changed or are gone."""
        with psycopg.connect(dsn) as connection:
            rows = connection.execute("SELECT external_id, content, is_sensitive FROM hopgate.memories").fetchall()
            stored = {key: (text, sensitive) for key, text, sensitive in rows}
            # Word -> whether it may stand in the memory's own row.
            hidden = {
                key: key in stored and stored[key][1] and stored[key][0] == text
                for key, text in originals.items()
                if key not in stored or stored[key][1] or stored[key][0] != text
            }
            self.words += len(hidden)
            for place, own, text in _texts(connection):
                self.places += 1
                for key in set(PLANTED.findall(text)) & set(hidden):
                    if not (own and hidden[key]):
                        self.found.append(f"{key} in {place}")
        for path in folder.rglob("*") if folder else ():
            if path.is_file():
                self.places += 1
                held = PLANTED.findall(path.read_bytes().decode("latin-1"))
                self.found += [f"{key} in {path.name}" for key in set(held) & set(hidden)]


def _texts(connection: psycopg.Connection[tuple[str, ...]]) -> Iterator[tuple[str, bool, str]]:
    """Every column of every table, and each one's samples: its name, whether it is a memory's own, the words in it."""
    columns = connection.execute(
        "SELECT table_schema, table_name, column_name FROM information_schema.columns "
        "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
    ).fetchall()
    for schema, table, column in columns:
        row = connection.execute(
            f'SELECT string_agg(found_[1], \' \') FROM "{schema}"."{table}", '
            f"regexp_matches(lower(\"{column}\"::text), 'zyxplanted\\w+?zyx', 'g') AS found_"
        ).fetchone()
        yield f"{table}.{column}", (table, column) in ITS_OWN, (row[0] if row else None) or ""
    samples = connection.execute(
        "SELECT tablename, attname, lower(concat(most_common_vals::text, histogram_bounds::text, "
        "most_common_elems::text)) FROM pg_stats WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    for table, column, text in samples.fetchall():
        yield f"pg_stats of {table}.{column}", (table, column) in ITS_OWN, text
