"""A first build without vectors: memories a second, by stage, and the most memory that it takes.

python benchmarks/build.py [--rows 50000] [--workers N]

Notes are those of `grown_store`. Asked for: 2,000 memories a second on two cores at 50,000 (`per_second`), and at most
1.5 GB at 200,000 (`peak_mb`, of this process and of each that reads).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path

from grown_store import World, server_seconds

import hopgate
from hopgate.progress import Progress
from hopgate.scale.engine import Engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--workers", type=int, help="processes that read; without it a thread of this one")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    stages: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        kb.load(World().memories(options.rows))
        directory = kb.store.directory
        assert directory is not None
        before, mine_before = server_seconds(directory), time.process_time()
        began = time.perf_counter()

        def show(progress: Progress) -> None:
            if progress.stage:
                stages.setdefault(progress.stage, time.perf_counter() - began)

        engine = Engine("processes", workers=options.workers) if options.workers else Engine()
        kb.build(show=show, engine=engine)
        seconds = time.perf_counter() - began
        server, own = server_seconds(directory) - before, time.process_time() - mine_before
        counts = kb.graph.counts()
    starts = [*stages.values(), seconds]
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    result = {
        "memories": options.rows,
        "per_second": round(options.rows / seconds),
        "seconds": round(seconds, 1),
        "stages_s": {
            stage: round(end - start, 1) for stage, start, end in zip(stages, starts, starts[1:], strict=False)
        },
        "cpu_s": round(own, 1),
        "cpu_readers_s": round(theirs.ru_utime + theirs.ru_stime, 1),
        "cpu_server_s": round(server, 1),
        "peak_mb": [round(mine.ru_maxrss / 1024), round(theirs.ru_maxrss / 1024)],
        "concepts": counts["concepts"],
        "edges": counts["edges"],
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
