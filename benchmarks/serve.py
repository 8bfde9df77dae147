"""What HTTP costs a recall: the same queries by `kb.recall` and by `POST /api/v1/recall`, in turn, in one run.

    python benchmarks/serve.py [--store DIRECTORY] [--queries 60] [--turns 5]

The store is the demo's, made in a temporary folder; the server runs in a process of its own, as `hopgate serve` does,
and the client keeps its connection. Both sides explain their hits. Before the clock starts both are warm.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

import hopgate
from hopgate.cli.demo import fill
from hopgate.demo import corpus

# The first recalls load what is loaded when it is needed.
WARM = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="a store of your own, asked the demo's questions all the same")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    queries = [query.text for query in corpus().queries[:: max(1, len(corpus().queries) // options.queries)]]
    with contextlib.ExitStack() as stack:
        folder = options.store or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "store"
        kb = stack.enter_context(hopgate.open(folder))
        if not len(kb):
            fill(kb, corpus())
        client = stack.enter_context(served(folder))
        for query in (queries * WARM)[:WARM]:
            kb.recall(query, explain=True)
            asked(client, query)
        figures = measured(kb, client, queries, options.turns)
    print(json.dumps(figures, indent=1))


def measured(kb: hopgate.KnowledgeBase, client: httpx.Client, queries: list[str], turns: int) -> dict[str, float]:
    """Ask each query both ways, one after the other, so that a busy machine is as busy for both."""
    direct, by_http, inside = [], [], []
    for turn in range(turns):
        for query in queries:
            sides = [False, True] if turn % 2 else [True, False]
            for http in sides:
                begun = time.perf_counter()
                if http:
                    inside.append(asked(client, query))
                    by_http.append(time.perf_counter() - begun)
                else:
                    kb.recall(query, explain=True)
                    direct.append(time.perf_counter() - begun)
    here, there = statistics.median(direct) * 1000, statistics.median(by_http) * 1000
    return {
        "recalls_each": len(direct),
        "kb_p50_ms": round(here, 2),
        "http_p50_ms": round(there, 2),
        "http_inside_p50_ms": round(statistics.median(inside), 2),
        "ratio_p50": round(there / here, 3),
        "kb_p95_ms": round(sorted(direct)[int(len(direct) * 0.95)] * 1000, 2),
        "http_p95_ms": round(sorted(by_http)[int(len(by_http) * 0.95)] * 1000, 2),
    }


def asked(client: httpx.Client, query: str) -> float:
    """Ask by HTTP; give what the server says the recall itself took, in ms."""
    answer = client.post("/api/v1/recall", json={"query": query})
    assert answer.status_code == 200, answer.text
    return float(answer.json()["took_ms"])


@contextlib.contextmanager
def served(folder: Path) -> Iterator[httpx.Client]:
    """`hopgate serve` on this store, and a client of it."""
    command = [sys.executable, "-m", "hopgate", "serve", "--port", "0", "--data", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.match(r"open (http://\S+)/\?token=(\S+)", process.stdout.readline())
        assert found
        with httpx.Client(base_url=found[1], headers={"Authorization": f"Bearer {found[2]}"}, timeout=60) as client:
            yield client
        process.terminate()


if __name__ == "__main__":
    main()
