"""Loading the graph's rows in bulk against `fetchall` of the same rows, in one run on a graph of the prototype's size.

python benchmarks/matrix.py [--repeat 11] [--edges 30000] [--json]

`fetchall` ends with tuples, hopgate with arrays; "fetchall and arrays" is what it takes to come equally far. Beside
them: the whole matrix (rows, numbering and CSR), the same from its file, from memory, and after one more memory was
linked, when a running process reads what changed and nothing else. The prototype's graph had mentions only; typed
edges, which carry more columns, gain less in bulk.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from psycopg import Connection

from hopgate.graph.walk.matrix import load_matrix
from hopgate.graph.walk.matrix_cache import MatrixCache
from hopgate.store.graph import arrays, version
from hopgate.store.store import Store, open_store

MEMORIES, CONCEPTS, MENTIONS = 5_452, 19_907, 300_000
# The prototype kept concepts with a document frequency between 2 and 2 % of its memories.
LEAST, MOST = 2, 109
RELATIONS = 40


def synthesise(store: Store, edges: int = 0, seed: int = 0) -> None:
    """Write memories, concepts with Zipf-like document frequencies, mentions of weight 1 (2 % weigh 2) and edges."""
    rng = np.random.default_rng(seed)
    wanted = np.clip(rng.zipf(1.35, CONCEPTS) + LEAST - 1, LEAST, MOST).astype(float)
    frequency = np.clip(wanted * MENTIONS / wanted.sum(), LEAST, MOST).round().astype(int)
    with store.transaction() as connection:
        connection.execute(
            "INSERT INTO memories (content) SELECT 'memory ' || n FROM generate_series(1, %s) n", (MEMORIES,)
        )
        connection.execute(
            "INSERT INTO concepts (canonical_name, kind) SELECT 'concept ' || n, "
            "(ARRAY['person', 'place', 'tool', NULL])[1 + n %% 4] FROM generate_series(1, %s) n",
            (CONCEPTS,),
        )
        with connection.cursor().copy("COPY memory_concepts (memory_id, concept_id, weight) FROM STDIN") as copy:
            for concept, many in enumerate(frequency, start=1):
                for memory in rng.choice(MEMORIES, many, replace=False):
                    copy.write_row((int(memory) + 1, concept, 2 if rng.random() < 0.02 else 1))
        ends = "COPY concept_edges (src_id, dst_id, relation, weight, evidence_memory_ids) FROM STDIN"
        with connection.cursor().copy(ends) as copy:
            for source, target in rng.integers(1, CONCEPTS + 1, (edges, 2)):
                relation = f"relation {rng.integers(RELATIONS)}"
                copy.write_row((int(source), int(target), relation, float(rng.uniform(0.5, 1)), [1]))
    with store.transaction() as connection:
        for table in ("memories", "concepts", "memory_concepts", "concept_edges"):
            connection.execute(f"ANALYZE {table}")


def one_more(store: Store, number: int) -> None:
    """Link one more memory to five concepts."""
    with store.transaction() as connection:
        row = connection.execute("INSERT INTO memories (content) VALUES ('one more') RETURNING id").fetchone()
        assert row is not None
        connection.execute(
            "INSERT INTO memory_concepts (memory_id, concept_id) SELECT %s, 1 + (%s * 7 + n) %% %s "
            "FROM generate_series(1, 5) n",
            (row[0], number, CONCEPTS),
        )
        version.bump(connection)


def in_bulk(connection: Connection[Any]) -> int:
    arrays.memory_scopes(connection)
    arrays.concept_kinds(connection)
    return len(arrays.mentions(connection).memory) + len(arrays.edges(connection).id)


def by_fetchall(connection: Connection[Any]) -> int:
    rows = 0
    for columns, source in (
        ("id", "memories WHERE NOT is_sensitive AND superseded_at IS NULL"),
        ("id, kind", "concepts"),
        ("memory_id, concept_id, relation, weight", "memory_concepts"),
        ("id, src_id, dst_id, relation, weight", "concept_edges WHERE retired_at IS NULL"),
    ):
        fetched = connection.execute(f"SELECT {columns} FROM {source}").fetchall()
        for column in zip(*fetched, strict=True):
            np.array(column)
        rows += len(fetched) if "_id" in columns else 0
    return rows


def bare_fetchall(connection: Connection[Any]) -> int:
    mentions = connection.execute("SELECT memory_id, concept_id, relation, weight FROM memory_concepts").fetchall()
    edges = connection.execute(
        "SELECT id, src_id, dst_id, relation, weight FROM concept_edges WHERE retired_at IS NULL"
    ).fetchall()
    connection.execute("SELECT id FROM memories WHERE NOT is_sensitive AND superseded_at IS NULL").fetchall()
    connection.execute("SELECT id, kind FROM concepts").fetchall()
    return len(mentions) + len(edges)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=11)
    parser.add_argument("--edges", type=int, default=0, help="typed edges; the prototype had none")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store") as store:
        synthesise(store, options.edges)
        kept = Path(folder) / "cache"
        warm = MatrixCache(store, kept)
        matrix = warm.get()
        with arrays.snapshot(store) as connection:
            assert in_bulk(connection) == bare_fetchall(connection) == by_fetchall(connection)
            ways: dict[str, Callable[[], object]] = {
                "fetchall": lambda: bare_fetchall(connection),
                "fetchall and arrays": lambda: by_fetchall(connection),
                "hopgate": lambda: in_bulk(connection),
                "whole matrix": lambda: load_matrix(connection),
                "from its file": lambda: MatrixCache(store, kept).get(),
                "from memory": warm.get,
            }
            times: dict[str, list[float]] = {name: [] for name in ways}
            # Interleaved, so that whatever else the machine does meets all of them.
            for _ in range(options.repeat):
                for name, way in ways.items():
                    start = time.perf_counter()
                    way()
                    times[name].append(1000 * (time.perf_counter() - start))
        times["after one more memory"] = []
        with store.transaction() as connection:
            version.bump(connection)
        (kept_rows := MatrixCache(store)).get()
        for number in range(options.repeat):
            one_more(store, number)
            start = time.perf_counter()
            kept_rows.get()
            times["after one more memory"].append(1000 * (time.perf_counter() - start))
    ms = {name: round(statistics.median(told), 2) for name, told in times.items()}
    ratios = [one / ours for one, ours in zip(times["fetchall"], times["hopgate"], strict=True)]
    result = {
        "memories": len(matrix.memory_ids),
        "concepts": len(matrix.concept_ids),
        "mentions": int(matrix.graph.indptr[matrix.graph.memories]),
        "edges": len(matrix.edge_id),
        "ms": ms,
        "patched_to_whole": round(ms["after one more memory"] / ms["whole matrix"], 3),
        "times_fetchall": round(statistics.median(ratios), 2),
        "times_fetchall_and_arrays": round(ms["fetchall and arrays"] / ms["hopgate"], 2),
    }
    if options.json:
        print(json.dumps(result))
        return
    print(f"{matrix!r}, {result['mentions']:,} mentions; median of {options.repeat}")
    for name, value in ms.items():
        print(f"{name:>20} {value:9.1f} ms   {ms['fetchall'] / value:7.1f} × fetchall")


if __name__ == "__main__":
    main()
