"""Vectors on disk, by embedder and text, so that nothing is embedded twice; the texts themselves are never in it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.files import cache_folder, private_file, private_folder
from hopgate.guard import check_sending, kept_safely

if TYPE_CHECKING:
    from hopgate.embed.embedder import Identity

FILE = "embeddings.sqlite3"
# Another process may hold the file for as long as it writes one batch.
BUSY_S = 30.0
# A million vectors of 384 numbers take about 1.7 GB; a file that grows beyond this lets go of a quarter of them.
MOST_BYTES = 4 << 30

Role = Literal["document", "query", "tokens"]
"""What was made of a text: its vector as a memory's or as a query's, or the rows of its tokens in bytes."""
Text = TypeVar("Text", bound=str)
# Texts embedded between two writes to the cache: an interrupted backfill loses no more than these.
BATCH = 256
ROLES: tuple[Role, ...] = ("document", "query", "tokens")

_OPENING = threading.Lock()

# The text's digest comes first in the key, so that the vectors of a text, by whatever embedder, are one range.
SCHEMA = """
CREATE TABLE IF NOT EXISTS kept (
    digest TEXT NOT NULL, embedder TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (digest, embedder)
) WITHOUT ROWID;
"""
# Among many digests, given as one list.
AMONG = "digest IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds: vectors by embedder, and bytes on disk."""

    path: str
    vectors: int
    bytes: int
    embedders: dict[str, int]


class EmbeddingCache:
    """A SQLite file, opened for each use: a crash loses at most the batch being written; processes may share it."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @classmethod
    def default(cls) -> EmbeddingCache:
        """The user's cache: in the directory `HOPGATE_CACHE` names, or the user's cache directory."""
        return cls(cache_folder() / FILE)

    def get(self, identity: Identity, texts: Iterable[str], role: Role = "document") -> dict[str, NDArray[Any]]:
        """The vectors, or the tokens, it has of these texts."""
        keys = {_digest(text, role): text for text in texts}
        with self._open() as connection:
            statement = f"SELECT digest, vector FROM kept WHERE embedder = ? AND {AMONG}"
            rows = connection.execute(statement, (_key(identity), json.dumps(list(keys)))).fetchall()
        # A row of another length is damage; it counts as absent and is written anew.
        whole = ((keys[digest], vector) for digest, vector in rows if _fits(vector, identity, role))
        if role == "tokens":
            return {text: np.frombuffer(vector, np.int8).reshape(-1, identity.dimension) for text, vector in whole}
        return {text: np.frombuffer(vector, dtype="<f4").astype(np.float32) for text, vector in whole}

    def put(self, identity: Identity, vectors: Mapping[str, NDArray[Any]], role: Role = "document") -> None:
        """Keep what a model made of texts: all of it or, when anything fails, none."""
        rows = []
        for text, vector in vectors.items():
            data = np.ascontiguousarray(vector, dtype=np.int8 if role == "tokens" else "<f4").tobytes()
            if not _fits(data, identity, role):
                raise HopgateError(f"a vector is not of {identity.name}'s dimension {identity.dimension}")
            rows.append((_digest(text, role), _key(identity), data))
        with self._open() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)
            if _used_bytes(connection) > MOST_BYTES:
                # Whichever: they are made again where they are needed.
                connection.execute("DELETE FROM kept WHERE random() & 3 = 0")

    def forget(self, texts: Sequence[str]) -> int:
        """Remove these texts' vectors, whatever embedder made them; their bytes are overwritten."""
        if not texts or not self.path.exists():
            return 0
        digests = {_digest(text, role) for text in texts for role in ROLES}
        with self._open() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            return connection.execute(f"DELETE FROM kept WHERE {AMONG}", (json.dumps(sorted(digests)),)).rowcount

    def info(self) -> CacheInfo:
        """Count what is in it."""
        if not self.path.exists():
            return CacheInfo(str(self.path), 0, 0, {})
        with self._open() as connection:
            counted = connection.execute("SELECT embedder, count(*) FROM kept GROUP BY 1 ORDER BY 1").fetchall()
        embedders: dict[str, int] = {}
        for key, number in counted:
            name = key.rpartition("@")[0]
            embedders[name] = embedders.get(name, 0) + number
        return CacheInfo(str(self.path), sum(embedders.values()), self.path.stat().st_size, embedders)

    def clear(self) -> int:
        """Remove everything, also a file that is damaged; returns how many vectors went."""
        try:
            count = self.info().vectors
            if count:
                with self._open() as connection:
                    connection.execute("DELETE FROM kept")
                    connection.execute("VACUUM")
        except HopgateError as error:
            if not _is_damage(error.__cause__):
                raise
            self.path.unlink()
            return 0
        return count

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            private_folder(self.path.parent)
            with _OPENING:
                # Before SQLite makes it, which gives the journal beside it the same mode. One thread at a time: whoever
                # made the file closes it again, and with that drops all locks that this process has on it.
                private_file(self.path)
            with closing(sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute(SCHEMA)
                yield connection
        except (sqlite3.Error, OSError) as error:
            hint = "check the disk and its permissions"
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                hint = "another process holds it"
            elif _is_damage(error):
                hint = "it is damaged, run hopgate cache clear"
            raise HopgateError(f"the embedding cache {self.path} cannot be used ({error}): {hint}") from error


def cached(
    cache: EmbeddingCache | None,
    identity: Identity,
    texts: Sequence[Text],
    make: Callable[[Sequence[Text]], Iterable[NDArray[Any]]],
    role: Role = "document",
) -> list[NDArray[Any]]:
    """Give what a model makes of texts, as the cache has it or made now and kept, batch by batch."""
    made: dict[str, NDArray[Any]] = cache.get(identity, texts, role) if cache else {}
    missing = [text for text in dict.fromkeys(texts) if text not in made]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        check_sending()
        new = dict(zip(batch, make(batch), strict=True))
        if cache:
            with kept_safely():
                cache.put(identity, new, role)
        made |= new
    return [made[text] for text in texts]


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _is_damage(error: BaseException | None) -> bool:
    """Whether the file is no database any more; trouble with locks and the disk is an OperationalError."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)


def _key(identity: Identity) -> str:
    return f"{identity.name}@{identity.key}"


def _fits(vector: bytes, identity: Identity, role: Role) -> bool:
    """Whether a row's length is one vector's, or that of some tokens'."""
    if role == "tokens":
        return len(vector) > 0 and len(vector) % identity.dimension == 0
    return len(vector) == 4 * identity.dimension


def _digest(text: str, role: Role) -> str:
    return hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
