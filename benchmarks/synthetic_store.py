"""A store of any size for a benchmark: memories, names, facts and vectors around random centres, written by COPY."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from hopgate.embed import Identity
from hopgate.embed.late import SCALE, BundledLate
from hopgate.graph.names import initials, normalise
from hopgate.kb import KnowledgeBase
from hopgate.store import connect, vectors
from hopgate.store.graph import fact_rows, graph_vectors, version

CENTRES = 300
FACTS, MENTIONS = 5, 5
RELATIONS = ("runs on", "knows", "part of", "made by", "lives in", "works for")
Rows = NDArray[np.float32]


class Language:
    """A vocabulary and how often its words are said: the top one by about one memory in ten, as content words are."""

    def __init__(self, pick: random.Random, words: int = 30_000) -> None:
        sounds = [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "ai", "ou")]
        made: dict[str, None] = {}
        while len(made) < words:
            made["".join(pick.choices(sounds, k=pick.randint(2, 4))) + pick.choice(["n", "r", "k", "t", ""])] = None
        self.words = list(made)
        self._cumulative = np.cumsum([1 / (rank + 50) for rank in range(len(self.words))]).tolist()

    def say(self, pick: random.Random, count: int) -> list[str]:
        """Say so many words."""
        return pick.choices(self.words, cum_weights=self._cumulative, k=count)


def fill(kb: KnowledgeBase, size: int, *, dimension: int = 384, queries: int = 100, seed: int = 0) -> dict[str, Rows]:
    """Write memories, a graph with five mentions and five facts a memory, and vectors; give queries with theirs.

    There are three concepts for two memories. A memory lies near one of the centres, and so do its facts; its concepts
    are of those that the centre's memories share, and some are known everywhere.
    """
    pick, rng = random.Random(seed), np.random.default_rng(seed)
    language = Language(pick)
    centres = _unit(rng.normal(size=(CENTRES, dimension)))
    concepts = size * 3 // 2
    own = rng.integers(CENTRES, size=size)
    names = [" ".join(language.say(pick, 2)).title() + f" {number}" for number in range(concepts)]
    mentioned = _mentions(rng, own, concepts)
    samples: dict[int, list[str]] = {}

    def memory_rows() -> Iterable[Sequence[Any]]:
        for start in range(0, size, 5000):
            made = _around(centres, own[start : start + 5000], rng)
            for number, vector in enumerate(made, start=start):
                words = language.say(pick, pick.randint(10, 40)) + [names[at] for at in mentioned[number][:2]]
                if number % max(1, size // 1000) == 0:
                    samples[number] = words
                yield f"m{number}", " ".join(words), round(pick.random(), 2), HalfVector(vector)

    def edge_rows() -> Iterable[Sequence[Any]]:
        for start in range(0, size, 1000):
            part = np.repeat(np.arange(start, min(size, start + 1000)), FACTS)
            made = _around(centres, own[part], rng)
            for memory, vector in zip(part.tolist(), made, strict=True):
                one, other = pick.sample(list(mentioned[memory]), 2)
                yield int(one) + 1, int(other) + 1, pick.choice(RELATIONS), [memory + 1], HalfVector(vector)

    uses = np.bincount(mentioned.ravel(), minlength=concepts).tolist()
    with kb.store.transaction() as connection:
        vectors.claim(connection, Identity("synthetic", dimension, spec="synthetic"), BundledLate().identity)
        register_vector(connection)
        fact_rows.ensure_relations(connection, [("", name) for name in RELATIONS])
        _copy(connection, "memories (external_id, content, importance, embedding)", "text text float8 halfvec",
              memory_rows())  # fmt: skip
        _copy(connection, "memory_tokens (memory_id, count, tokens)", "int8 int4 bytea", _token_rows(rng, size))
        _copy(connection, "concepts (canonical_name, aliases, memory_count)", "text text[] int4",
              ((name, [name], use) for name, use in zip(names, uses, strict=True)))  # fmt: skip
        _copy(connection, "concept_names (name, normal_name, concept_id, uses, initials)", "text text int8 int4 text",
              ((name, normalise(name), at + 1, uses[at], initials(normalise(name)))
               for at, name in enumerate(names)))  # fmt: skip
        _copy(connection, "memory_concepts (memory_id, concept_id)", "int8 int8",
              ((memory + 1, int(at) + 1) for memory in range(size) for at in set(mentioned[memory])))  # fmt: skip
        _copy(connection, "concept_edges (src_id, dst_id, relation, evidence_memory_ids, embedding)",
              "int8 int8 text int8[] halfvec", edge_rows())  # fmt: skip
        connection.execute(
            "INSERT INTO extractions (memory_id, extractor, extractor_hash, state) "
            "SELECT id, 'synthetic', '', 'complete' FROM memories"
        )
        version.set_derived(connection, True)
        version.bump(connection)
    _index(kb, size)
    asked: dict[str, Rows] = {}
    for vector in _around(centres, rng.integers(CENTRES, size=queries), rng):
        length, number = pick.randint(4, 8), pick.choice(list(samples))
        words = pick.sample(samples[number][:10], length // 2) + language.say(pick, length - length // 2)
        asked[" ".join([*words, names[int(mentioned[number][0])]])] = vector
    return asked


def _mentions(rng: np.random.Generator, own: NDArray[Any], concepts: int) -> NDArray[np.int64]:
    """Five concepts a memory: four of its centre's, the popular ones more often, and one known everywhere."""
    each = max(2 * MENTIONS, concepts // CENTRES)
    near = (own[:, None] * each + (each * rng.random((len(own), MENTIONS - 1)) ** 2).astype(np.int64)) % concepts
    everywhere = (concepts * rng.random((len(own), 1)) ** 3).astype(np.int64)
    return np.concatenate([near, everywhere], axis=1)


def _token_rows(rng: np.random.Generator, size: int) -> Iterable[Sequence[Any]]:
    """As many tokens as a turn of a chat has, drawn for a few memories and given again."""
    width = BundledLate().identity.dimension
    drawn = [_unit(rng.normal(size=(rng.integers(15, 65), width))) * SCALE for _ in range(500)]
    kept = [(len(rows), rows.astype(np.int8).tobytes()) for rows in drawn]
    return ((memory + 1, *kept[memory % len(kept)]) for memory in range(size))


def _around(centres: Rows, chosen: NDArray[Any], rng: np.random.Generator) -> Rows:
    noise = rng.normal(scale=0.7 / centres.shape[1] ** 0.5, size=(len(chosen), centres.shape[1]))
    return _unit(centres[chosen] + noise)


def _unit(rows: NDArray[Any]) -> Rows:
    units: Rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units


def _copy(connection: Any, table: str, types: str, rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN WITH (FORMAT BINARY)") as copy:
        copy.set_types(types.split())
        for row in rows:
            copy.write_row(row)


def _index(kb: KnowledgeBase, size: int) -> None:
    """Do what a build and its tidying do at this size."""
    with kb.store.transaction() as connection:
        graph_vectors.ensure_index(connection)
        connection.execute("SELECT gin_clean_pending_list('memories_search_vector')")
    with connect.connect(kb.store.dsn) as connection:
        connection.autocommit = True
        if size >= vectors.EXACT_BELOW:
            vectors.build_index(connection)
        connection.execute("VACUUM ANALYZE")
