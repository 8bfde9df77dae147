"""Recall within one scope of many, on one table and on the same table in parts.

Called by `scale.py --parts`. Scopes are of equal size; words are Zipf's, vectors lie around random centres and are
drawn, so that no model is part of the time, and there is no graph. Each query is asked in one scope, of words and
meaning, by `kb.recall` with its vector given.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from synthetic_store import Language, Rows

from hopgate.embed import Identity
from hopgate.kb import KnowledgeBase
from hopgate.recall.run_legs import RecallPipeline
from hopgate.store import memories, vectors

CENTRES = 300
CHUNK = 20_000


class Drawn:
    """Gives a query the vector that was drawn for it."""

    def __init__(self, given: dict[str, Rows]) -> None:
        self._given = given

    def query(self, text: str, _space: vectors.EmbeddingSpace | None = None) -> Rows:
        """Look it up."""
        return self._given[text]


def fill(kb: KnowledgeBase, size: int, scopes: int, dimension: int) -> dict[str, tuple[str, Rows]]:
    """Write memories with vectors; give queries, each with its scope and its vector."""
    pick, rng = random.Random(0), np.random.default_rng(0)
    language = Language(pick)
    centres = rng.normal(size=(CENTRES, dimension))

    def drawn(count: int) -> Rows:
        rows = centres[rng.integers(CENTRES, size=count)] + rng.normal(scale=0.7, size=(count, dimension))
        unit: Rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def rows(start: int, stop: int) -> Iterator[Sequence[Any]]:
        for number, vector in enumerate(drawn(stop - start), start=start):
            words = " ".join(language.say(pick, pick.randint(10, 30)))
            yield f"m{number}", words, f"scope {number % scopes}", HalfVector(vector)

    with kb.store.transaction() as connection:
        vectors.claim(connection, Identity("synthetic", dimension, spec="synthetic"))
    for start in range(0, size, CHUNK):
        with kb.store.transaction() as connection:
            register_vector(connection)
            columns = "memories (external_id, content, scope, embedding)"
            with connection.cursor() as cursor, cursor.copy(f"COPY {columns} FROM STDIN WITH (FORMAT BINARY)") as copy:
                copy.set_types(["text", "text", "text", "halfvec"])
                for row in rows(start, min(size, start + CHUNK)):
                    copy.write_row(row)
            connection.execute("TRUNCATE waiting_vectors, waiting_links")
    kb.store.run(memories.tidy)
    asked: dict[str, tuple[str, Rows]] = {}
    while len(asked) < 400:
        text = " ".join(language.say(pick, pick.randint(3, 7)))
        asked[text] = (f"scope {pick.randrange(scopes)}", drawn(1)[0])
    return asked


def measure(kb: KnowledgeBase, size: int, *, scopes: int, parts: int, dimension: int, queries: int) -> dict[str, Any]:
    """Fill a store, ask it, divide it, and ask it again."""
    found: dict[str, Any] = {"memories": size, "scopes": scopes, "number_of_parts": parts, "dimension": dimension}
    began = time.perf_counter()
    asked = fill(kb, size, scopes, dimension)
    found["load_s"] = round(time.perf_counter() - began, 1)
    began = time.perf_counter()
    kb.upkeep._embedding.index()
    found["index_s"] = round(time.perf_counter() - began, 1)
    for where in ("one table", "parts"):
        if where == "parts":
            began = time.perf_counter()
            kb.upkeep.partition(parts)
            found["partition_s"] = round(time.perf_counter() - began, 1)
        found[where] = {
            "within a scope": _ask(kb, asked, queries, scoped=True),
            "all scopes": _ask(kb, asked, queries, scoped=False),
        }
        # It takes long, and the first half is worth having.
        print(json.dumps(found), file=sys.stderr, flush=True)
    one, other = (found[where]["within a scope"]["p95_ms"] for where in ("one table", "parts"))
    found["p95_in_parts_to_one_table"] = round(other / one, 3)
    found["load_average"] = round(os.getloadavg()[0], 1)
    return found


def _ask(kb: KnowledgeBase, asked: dict[str, tuple[str, Rows]], queries: int, *, scoped: bool) -> dict[str, float]:
    taken = []
    given = Drawn({text: vector for text, (_, vector) in asked.items()})
    kb._pipeline = RecallPipeline(kb.store, given, kb.graph_leg, kb._workers)
    # Two rounds, of which the first brings what is read into memory.
    texts = list(asked)[:queries]
    for number, text in enumerate([*texts, *texts]):
        began = time.perf_counter()
        kb.recall(text, scope=asked[text][0] if scoped else None)
        if number >= len(texts):
            taken.append(1000 * (time.perf_counter() - began))
    return {
        "p50_ms": round(statistics.median(taken), 2),
        "p95_ms": round(statistics.quantiles(taken, n=20)[-1], 2),
    }
