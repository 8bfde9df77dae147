"""A first build without vectors: memories a second, by stage, and the most memory that it takes.

python benchmarks/build.py [--rows 50000] [--workers N]

Notes are those of `grown_store`. Asked for: 2,000 memories a second on two cores at 50,000 (`per_second`), and at most
1.5 GB at 200,000 (`peak_mb`, of this process and of each that reads). A stage has its seconds, and the CPU seconds of
this process, of those that read, and of the server, which hold on a machine that others use, too: what readers do not
do is what more workers cannot make quicker.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import tempfile
import time
from pathlib import Path

import psutil
from grown_store import World, server_seconds

import hopgate
from hopgate.progress import Progress
from hopgate.scale.engine import Engine


def reader_seconds() -> float:
    """The CPU of the processes that read, those that ended among them."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime
    for child in psutil.Process().children():
        try:
            if "serve()" in " ".join(child.cmdline()):
                times = child.cpu_times()
                seconds += times.user + times.system
        except psutil.Error:
            pass
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--workers", type=int, help="processes that read; without it a thread of this one")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    stages: dict[str, tuple[float, ...]] = {}
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        kb.load(World().memories(options.rows))
        directory = kb.store.directory
        assert directory is not None

        def clocks() -> tuple[float, ...]:
            return time.perf_counter(), time.process_time(), reader_seconds(), server_seconds(directory)

        def show(progress: Progress) -> None:
            if progress.stage:
                stages.setdefault(progress.stage, clocks())

        engine = Engine("processes", workers=options.workers) if options.workers else Engine()
        stages["beginning"] = clocks()
        kb.build(show=show, engine=engine)
        stages["end"] = clocks()
        counts = kb.graph.counts()
    names, times = list(stages), list(stages.values())
    spent = [
        "{:.1f} s, CPU {:.1f} + {:.1f} + {:.1f}".format(*(late - early for early, late in zip(*pair, strict=True)))
        for pair in itertools.pairwise(times)
    ]
    seconds, own, readers, server = (late - early for early, late in zip(times[0], times[-1], strict=True))
    mine, theirs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    result = {
        "memories": options.rows,
        "per_second": round(options.rows / seconds),
        "seconds": round(seconds, 1),
        "stages": dict(zip(names, spent, strict=False)),
        "cpu_s": round(own, 1),
        "cpu_readers_s": round(readers, 1),
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
