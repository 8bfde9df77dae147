"""What one more memory costs in a small store and in a large one: kb.add, then extract, resolve, derive, embed.

python benchmarks/insert.py [--small 5000] [--large 200000] [--inserts 100] [--json]

Both stores are filled by COPY with the same synthetic world: names of Zipf-distributed words, so that words are shared
as in real names; hubs that a large part of the memories mention; a name of its own for each memory, and one that ten
memories share. Vectors are made from the words of a text, so that the embedder costs nothing and neighbours are real.
Memories are inserted into the two stores in turn, so that whatever else the machine does slows both alike.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hopgate
from hopgate.embed.embedder import Identity
from hopgate.extract.extraction import Extraction, Fact, Mention, Source, found
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.graph.build.pipeline import GraphBuilder
from hopgate.graph.names.normal import initials, normalise
from hopgate.kb import KnowledgeBase
from hopgate.store import memories, vectors
from hopgate.store.graph import graph_vectors, relation_rows, version

DIMENSION = 32
DAY = datetime(2024, 1, 1, tzinfo=UTC)
HUBS = 200
WARM = 10
RELATIONS = ("runs on", "knows", "part of", "made by")


class Words:
    """Unit vectors from the words of a text."""

    identity = Identity("words", DIMENSION, "words")

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Sum a fixed random vector for each word."""
        rows = [sum(_vector(word) for word in text.lower().split()) for text in texts]
        made = np.array(rows, np.float32)
        unit: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit


_known: dict[str, NDArray[np.float32]] = {}


def _vector(word: str) -> NDArray[np.float32]:
    if word not in _known:
        _known[word] = np.random.default_rng(zlib.crc32(word.encode())).standard_normal(DIMENSION).astype(np.float32)
    return _known[word]


class Precomputed:
    """In the place of the store's embedding."""

    def embedder(self) -> Words:
        """The embedder."""
        return Words()


class World:
    """Memories and what an extractor says of them, by number."""

    def __init__(self) -> None:
        stems = [f"{a}{b}{c}" for a in "bdfgklmnprstvz" for b in ("a", "e", "io", "ou") for c in ("rk", "nd", "l")]
        ends = ["", *(f"{a}{b}" for a in "aeiou" for b in "klmnrst")]
        self._words = [stem + end for end in ends for stem in stems]
        self._weights = list(accumulate(1 / (rank + 5) for rank in range(len(self._words))))
        self._hubs = list(accumulate(1 / (rank + 1) for rank in range(HUBS)))
        pick = random.Random(0)
        self.hubs = [self._name(pick) for _ in range(HUBS)]

    def _name(self, pick: random.Random) -> str:
        return " ".join(word.capitalize() for word in pick.choices(self._words, cum_weights=self._weights, k=3))

    def memory(self, number: int) -> tuple[hopgate.Memory, Extraction]:
        """A memory with a name of its own, one that it shares with nine others, two hubs and three facts."""
        pick = random.Random(number + 1)
        own = [self._name(pick), self._name(random.Random(-1 - number // 10))]
        hubs = pick.choices(self.hubs, cum_weights=self._hubs, k=2)
        facts = [
            Fact(own[0], pick.choice(RELATIONS), hubs[0]),
            Fact(hubs[1], pick.choice(RELATIONS), own[1]),
            Fact(own[0], pick.choice(RELATIONS), own[1]),
        ]
        text = f"{own[0]} and {own[1]} were seen with {hubs[0]} and {hubs[1]}."
        memory = hopgate.Memory(f"m{number}", text, created_at=DAY + timedelta(minutes=number))
        return memory, found([Mention(name) for name in (*own, *hubs)], facts)


class Told:
    """An extractor that knows the world."""

    identity = ExtractorIdentity("world", "1", by_id=True)

    def __init__(self, world: World) -> None:
        self._world = world

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        """Return what the world says of each."""
        return [self._world.memory(int(str(source.memory_id)[1:]))[1] for source in sources]


def fill(kb: KnowledgeBase, world: World, rows: int) -> float:
    """Write by COPY what a backfill of this many memories leaves; every name is a concept of its own."""
    began = time.perf_counter()
    kb.add(*(world.memory(number)[0] for number in range(rows)))
    names: dict[str, tuple[int, str]] = {}
    uses: Counter[int] = Counter()
    mentions: set[tuple[int, int, str]] = set()
    facts: list[tuple[Any, ...]] = []
    with kb.store.transaction() as connection:
        ids = dict(connection.execute("SELECT external_id, id FROM memories").fetchall())
    for number in range(rows):
        memory, extraction = world.memory(number)
        key = ids[memory.external_id]
        for mention in extraction.mentions:
            normal = normalise.__wrapped__(mention.name)
            found_id, _ = names.setdefault(normal, (len(names) + 1, mention.name))
            mentions.add((key, found_id, mention.name))
        for fact in extraction.facts:
            ends = [names[normalise.__wrapped__(name)][0] for name in (fact.subject, fact.object)]
            facts.append((key, ends[0], fact.relation, ends[1], memory.created_at))
    uses.update(name_id for _, name_id, _ in mentions)
    made = Words().documents([name for _, name in names.values()])
    nothing = "[" + ",".join(["1"] * DIMENSION) + "]"
    with kb.store.transaction() as connection:
        vectors.claim(connection, Words.identity)
        relation_rows.ensure_relations(connection, RELATIONS)
        tables: dict[str, Iterable[Sequence[Any]]] = {
            "concepts (id, canonical_name, aliases, memory_count, embedding)": (
                (key, name, [name], uses[key], "[" + ",".join(f"{value:.4g}" for value in row) + "]")
                for (key, name), row in zip(names.values(), made.tolist(), strict=True)
            ),
            "concept_names (id, name, normal_name, concept_id, uses, initials)": (
                (key, name, normal, key, uses[key], initials(normal)) for normal, (key, name) in names.items()
            ),
            "mentions (memory_id, name_id, spelling)": mentions,
            "memory_concepts (memory_id, concept_id)": ((memory, name) for memory, name, _ in mentions),
            "facts (memory_id, subject_id, relation, object_id, recorded_at)": facts,
            "concept_edges (src_id, dst_id, relation, recorded_at, evidence_memory_ids, embedding)": (
                (subject, target, relation, at, [memory], nothing) for memory, subject, relation, target, at in facts
            ),
            "extractions (memory_id, extractor, extractor_hash, state)": (
                (key, "world", Told.identity.hash, "complete") for key in ids.values()
            ),
        }
        for table, values in tables.items():
            with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
        for table in ("concepts", "concept_names"):
            connection.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", (table, len(names)))
        version.set_derived(connection, True)
        graph_vectors.ensure_index(connection)
        memories.tidy(connection)
        connection.execute("ANALYZE")
    return time.perf_counter() - began


class Growing:
    """A store of some size that takes one more memory at a time."""

    def __init__(self, kb: KnowledgeBase, rows: int) -> None:
        self._kb, self._rows, self._world = kb, rows, World()
        self.fill_s = fill(kb, self._world, rows)
        self._builder = GraphBuilder(kb.store, Precomputed())  # type: ignore[arg-type]
        self._extractor = Told(self._world)
        self._next = rows
        self.taken: list[float] = []

    def insert(self) -> None:
        """Add one memory and bring the graph up to date with it."""
        memory, _ = self._world.memory(self._next)
        self._next += 1
        began = time.perf_counter()
        self._kb.add(memory)
        self._builder.build(self._extractor, only=[memory.external_id])
        self.taken.append(time.perf_counter() - began)

    def result(self) -> dict[str, Any]:
        """The figures, without the first inserts, which warm connections and caches."""
        counts, taken = self._kb.graph.counts(), self.taken[WARM:]
        return {
            "memories": self._rows,
            "concepts": counts["concepts"],
            "edges": counts["edges"],
            "fill_s": round(self.fill_s, 1),
            "median_ms": round(1000 * statistics.median(taken), 2),
            "mean_ms": round(1000 * statistics.fmean(taken), 2),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=5000)
    parser.add_argument("--large", type=int, default=200_000)
    parser.add_argument("--inserts", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        hopgate.open(Path(folder) / "small") as first,
        hopgate.open(Path(folder) / "large") as second,
    ):
        stores = [Growing(first, options.small), Growing(second, options.large)]
        for _ in range(options.inserts + WARM):
            for store in stores:
                store.insert()
        small, large = (store.result() for store in stores)
    ratio = round(large["median_ms"] / small["median_ms"], 3)
    result = {"small": small, "large": large, "ratio": ratio, "limit": 1.5, "holds": ratio <= 1.5}
    if options.json:
        print(json.dumps(result))
        return
    for size in (small, large):
        print(f"{size['memories']:>8,} memories: {size['median_ms']} ms for one more (mean {size['mean_ms']} ms)")
    print(f"ratio {ratio}, at most 1.5 is wanted")


if __name__ == "__main__":
    main()
