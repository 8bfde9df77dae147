"""Extractions: cached by the text that was read, recorded by memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import md5
from typing import TYPE_CHECKING, Any

from hopgate.extract.cache import CacheKey
from hopgate.extract.extraction import Extraction
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.store.memories import KEY, NAMED, named

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.store.store import Store

# Memories that are looked at to tell who made a graph.
SAMPLE = 1000


class StoreCache:
    """The extraction cache inside the database: what turns sensitive leaves it in the same transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_many(self, keys: Iterable[CacheKey]) -> dict[CacheKey, Extraction]:
        """Return the extractions that are there."""
        wanted = list(keys)
        with self._store.transaction() as connection:
            rows = connection.execute(
                "SELECT text_hash, extractor_hash, extraction::text FROM extraction_cache "
                "JOIN unnest(%s::text[], %s::text[]) AS k (t, e) ON text_hash = t AND extractor_hash = e",
                ([key.text for key in wanted], [key.identity for key in wanted]),
            ).fetchall()
        return {CacheKey(text, identity): Extraction.from_dict(json.loads(line)) for text, identity, line in rows}

    def put_many(self, extractions: Mapping[CacheKey, Extraction]) -> None:
        """Keep extractions."""
        # In one order, so that two who read the same texts do not wait for each other.
        keys = sorted(extractions, key=lambda key: (key.text, key.identity))
        rows = [json.dumps(extractions[key].to_dict(), ensure_ascii=False, separators=(",", ":")) for key in keys]
        self._store.run(
            lambda connection: connection.execute(
                "INSERT INTO extraction_cache (text_hash, extractor_hash, extraction) "
                "SELECT * FROM unnest(%s::text[], %s::text[], %s::json[]) ON CONFLICT DO NOTHING",
                ([key.text for key in keys], [key.identity for key in keys], rows),
            )
        )


def forget(connection: Connection[Any], ids: Sequence[int]) -> None:
    """Remove every extraction ever cached for these memories: of any extractor, and of any text they ever had."""
    connection.execute(
        "WITH gone AS (DELETE FROM extraction_readings WHERE memory_id = ANY(%s) RETURNING text_hash) "
        "DELETE FROM extraction_cache WHERE text_hash IN (SELECT text_hash FROM gone)",
        (list(ids),),
    )
    connection.execute("DELETE FROM extractions WHERE memory_id = ANY(%s)", (list(ids),))


def done(connection: Connection[Any], external_ids: Sequence[str], identity: ExtractorIdentity) -> list[str]:
    """Those of the memories whose extraction by this extractor is final: complete or empty."""
    rows = connection.execute(
        f"SELECT {KEY} FROM memories JOIN extractions x ON x.memory_id = memories.id "
        f"WHERE {NAMED} AND x.extractor_hash = %(hash)s AND x.state IN ('complete', 'empty')",
        named(external_ids) | {"hash": identity.hash},
    )
    return [row[0] for row in rows]


def readable(connection: Connection[Any], texts: Mapping[str, str]) -> dict[str, tuple[int, datetime]]:
    """Memories that may be written about, locked: by external id, their id and when they became known.

    One that turned sensitive, was deleted or got another text while this one was being read is not among them.
    """
    rows = connection.execute(
        f"SELECT {KEY}, id, coalesce(created_at, now()), md5(coalesce(content, '')) "
        f"FROM memories m WHERE {NAMED} AND NOT is_sensitive ORDER BY id FOR NO KEY UPDATE OF m",
        named(list(texts)),
    )
    return {name: (key, made) for name, key, made, digest in rows if digest == md5(texts[name].encode()).hexdigest()}


def recorded(connection: Connection[Any], ids: Sequence[int], identity: ExtractorIdentity) -> dict[int, bool]:
    """Those of the memories that were extracted before, and whether by this extractor and for good.

    Asked once the memories are locked: what another build wrote meanwhile is seen.
    """
    rows = connection.execute(
        "SELECT memory_id, extractor_hash = %s AND state IN ('complete', 'empty') FROM extractions "
        "WHERE memory_id = ANY(%s)",
        (identity.hash, list(ids)),
    )
    return dict(rows.fetchall())


def record(
    connection: Connection[Any], rows: Iterable[tuple[int, str, Extraction]], identity: ExtractorIdentity
) -> None:
    """Note how each extraction ended, and what was read; rows are (memory, text_key, extraction)."""
    made = list(rows)
    ids, hashes = [row[0] for row in made], [row[1] for row in made]
    connection.execute(
        "INSERT INTO extractions (memory_id, extractor, extractor_hash, state, reason) "
        "SELECT m, %s, %s, s, r FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS x (m, s, r) "
        "ON CONFLICT (memory_id) DO UPDATE SET extractor = excluded.extractor, extracted_at = now(), "
        "extractor_hash = excluded.extractor_hash, state = excluded.state, reason = excluded.reason",
        (
            identity.extractor, identity.hash, ids, [row[2].state.value for row in made],
            [row[2].reason or None for row in made],
        ),
    )  # fmt: skip
    connection.execute(
        "INSERT INTO extraction_readings (memory_id, text_hash) "
        "SELECT * FROM unnest(%s::bigint[], %s::text[]) ON CONFLICT DO NOTHING",
        (ids, hashes),
    )


_WAITING = (
    "waiting_links JOIN memories m ON m.id = memory_id WHERE NOT is_sensitive "
    "AND NOT EXISTS (SELECT 1 FROM extractions x WHERE x.memory_id = m.id)"
)


def pending(connection: Connection[Any], among: Sequence[str] | None = None) -> list[str]:
    """The external ids of those of the memories (by default of all) that no extractor dealt with, the oldest first."""
    these, parameters = ("", {}) if among is None else (f" AND {NAMED}", named(among))
    return [row[0] for row in connection.execute(f"SELECT {KEY} FROM {_WAITING}{these} ORDER BY id", parameters)]


def count_pending(connection: Connection[Any]) -> int:
    """How many memories no extractor has dealt with."""
    row = connection.execute(f"SELECT count(*) FROM {_WAITING}").fetchone()
    assert row is not None
    return int(row[0])


def unfinished(connection: Connection[Any], identity: ExtractorIdentity) -> list[str]:
    """The external ids of the memories that this extractor has not dealt with to the end, in the order of arrival."""
    # Two ranges of an index: with <> all rows would be read.
    rows = connection.execute(
        f"SELECT {KEY} FROM memories m WHERE NOT is_sensitive AND id IN (SELECT memory_id FROM waiting_links "
        "UNION SELECT memory_id FROM extractions WHERE extractor_hash < %(hash)s "
        "UNION SELECT memory_id FROM extractions WHERE extractor_hash > %(hash)s "
        "UNION SELECT memory_id FROM extractions WHERE state NOT IN ('complete', 'empty')) ORDER BY id",
        {"hash": identity.hash},
    )
    return [row[0] for row in rows]


def made_by(connection: Connection[Any]) -> str:
    """The extractor that made most of the graph, or nothing; by its first memories, which a build reads first."""
    row = connection.execute(
        "SELECT extractor FROM (SELECT extractor FROM extractions ORDER BY memory_id LIMIT %s) AS first "
        "GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1",
        (SAMPLE,),
    ).fetchone()
    return str(row[0]) if row else ""


def states(connection: Connection[Any]) -> dict[str, int]:
    """How many memories are in each state, with `pending` for those that were not extracted yet."""
    rows = connection.execute(
        "SELECT coalesce(x.state, 'pending'), count(*) FROM memories m LEFT JOIN extractions x ON x.memory_id = m.id "
        "WHERE NOT m.is_sensitive GROUP BY 1 ORDER BY 1"
    )
    return dict(rows.fetchall())
