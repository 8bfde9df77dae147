"""What a memory costs, part by part, measured at several sizes; and what that says about sizes nobody has here.

python benchmarks/scale.py [--sizes 10000,100000] [--queries 30] [--no-vectors]

Stores are those of `grown_store`: notes of four names and three facts, a real build, vectors drawn at random. For each
size: bytes a memory by part, as PostgreSQL counts them; seconds of load, build and vectors, by the clock and of
processors; bytes of the walk's matrix and seconds until it is loaded; p50 and p95 of a recall with all three legs, or
without vectors by words and the graph. Then for 1 M, 100 M and 10 B: what is linear is taken from the slope between the
two largest sizes. docs/measurements.md says what else is assumed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from grown_store import World, fill

import hopgate
from hopgate.graph.walk.matrix import load_matrix
from hopgate.kb import KnowledgeBase

TARGETS = (1_000_000, 100_000_000, 10_000_000_000)


def _live(*tables: str) -> str:
    """Bytes of rows as they are, without what updates leave behind, and of the tables' indexes."""
    return " + ".join(
        f"(SELECT coalesce(sum(pg_column_size(t.*)) + 4 * count(*), 0) FROM {table} t) + pg_indexes_size('{table}')"
        for table in tables
    )


# A store in which nothing was embedded has no such column.
VECTOR = "coalesce(pg_column_size(embedding), 0)"

# part -> what is summed up, in SQL
PARTS = {
    "row": f"(SELECT sum(pg_column_size(m.*) - pg_column_size(search_vector) - {VECTOR}) + 4 * count(*) "
    "FROM memories m)",
    "tsvector": "(SELECT sum(pg_column_size(search_vector)) FROM memories)",
    "vector": f"(SELECT sum({VECTOR}) FROM memories)",
    "GIN index": "pg_relation_size('memories_search_vector')",
    "HNSW index": "coalesce(pg_relation_size(to_regclass('memories_embedding')), 0)",
    "other indexes": "pg_indexes_size('memories') - pg_relation_size('memories_search_vector') "
    "- coalesce(pg_relation_size(to_regclass('memories_embedding')), 0)",
    "words counted": _live("word_counts", "word_changes", "word_totals"),
    "names and concepts": _live("concepts", "concept_names"),
    "mentions and links": _live("mentions", "memory_concepts"),
    "facts": _live("facts"),
    "edges": _live("concept_edges"),
    "extractions": _live("extractions"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--no-vectors", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the stores are made, and removed")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    measured = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder, hopgate.open(Path(folder) / "store") as kb:
            measured[size] = measure(kb, size, options.queries, embedded=not options.no_vectors)
    result = {"measured": measured, "extrapolated": {target: extrapolated(measured, target) for target in TARGETS}}
    print(json.dumps(result, indent=1))


def measure(kb: KnowledgeBase, size: int, queries: int, *, embedded: bool) -> dict[str, Any]:
    """Fill a store and look at it."""
    load = os.getloadavg()[0]
    world = World()
    seconds = fill(kb, world, size, embedded=embedded)
    with kb.store.transaction() as connection:
        parts = {}
        for part, statement in PARTS.items():
            wanted = statement if embedded else statement.replace(VECTOR, "0")
            row = connection.execute(f"SELECT {wanted}").fetchone()
            parts[part] = round(float(row[0] or 0) / size) if row else 0
    began = time.perf_counter()
    with kb.store.snapshot() as connection:
        matrix = load_matrix(connection)
    loaded = time.perf_counter() - began
    graph = matrix.graph
    arrays = [graph.indptr, graph.indices, graph.weights, *vars(matrix).values()]
    held = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    times = []
    pick = random.Random(1)
    legs = ("lexical", "dense", "graph") if embedded else ("lexical", "graph")
    for number in range(queries + 5):
        memory = world.memory(pick.randrange(size))
        began = time.perf_counter()
        kb.recall(f"where does {' '.join(memory.text.split()[:3])} live?", legs=legs)
        if number >= 5:
            times.append(1000 * (time.perf_counter() - began))
    ranked = sorted(times)
    return {
        "bytes": parts,
        "bytes_a_memory": sum(parts.values()),
        **seconds,
        "walk_matrix_bytes_a_memory": round(held / size),
        "walk_matrix_load_s": round(loaded, 2),
        "recall_p50_ms": round(statistics.median(times), 1),
        "recall_p95_ms": round(ranked[int(0.95 * (len(ranked) - 1))], 1),
        "load_average": round(load, 1),
    }


def extrapolated(measured: dict[int, dict[str, Any]], target: int) -> dict[str, Any]:
    """What is linear in memories, at a size that was not measured: by the slope of the two largest that were."""
    sizes = sorted(measured)[-2:]
    found: dict[str, Any] = {}
    for name in ("load_cpu_s", "build_cpu_s", "vectors_cpu_s", "walk_matrix_load_s"):
        found[name] = round(_line([(size, measured[size][name]) for size in sizes], target))
    matrix = "walk_matrix_bytes_a_memory"
    found["walk_matrix_gb"] = round(_line([(size, size * measured[size][matrix]) for size in sizes], target) / 1e9, 1)
    parts = {
        part: _line([(size, size * measured[size]["bytes"][part]) for size in sizes], target) / 1e9 for part in PARTS
    }
    found["gb"] = {part: round(value, 1) for part, value in parts.items()} | {"all": round(sum(parts.values()), 1)}
    return found


def _line(points: list[tuple[int, float]], target: int) -> float:
    (one, low), (other, high) = points[0], points[-1]
    # What the smaller size does not have yet, such as an index, is in proportion to the larger.
    slope = (high - low) / (other - one) if other > one and low else high / other
    return max(0.0, high + slope * (target - other))


if __name__ == "__main__":
    main()
