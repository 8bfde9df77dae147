"""`hopgate recall` and `add` from the shell against the bare imports they cannot do without, in turns, the server up.

python benchmarks/coldstart.py [--repeats 15]

Asked for: `recall_to_imports`, with all three legs, at most 2 × `python -c "import psycopg, numpy, onnxruntime,
tokenizers"`. Beside it stand the lexical leg alone, which loads no model, the dense leg, both, one note remembered with
its vector and its links (`add`), and the first command of all, which starts the server (`start`).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hopgate
from hopgate.demo import corpus

QUERY = "who owns the wiki service"
NOTE = "Moved the wiki from elm to walnut on Tuesday, it runs in a container there."


def commands(store: Path) -> dict[str, list[str]]:
    recall = [sys.executable, "-m", "hopgate", "recall", QUERY, "--data", str(store)]
    return {
        "imports": [sys.executable, "-c", "import psycopg, numpy, onnxruntime, tokenizers"],
        "recall": recall,
        "lexical": [*recall, "--dense", "0", "--graph", "0"],
        "dense": [*recall, "--lexical", "0", "--graph", "0"],
        "fused": [*recall, "--graph", "0"],
        "add": [sys.executable, "-m", "hopgate", "add", NOTE, "--data", str(store)],
    }


def run(command: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        with hopgate.open(store) as kb:
            kb.add(*corpus().memories[:200])
            kb.embed()
            kb.build()
        todo = commands(store)
        # The server of the first command stays up for the others.
        start = run(todo["recall"])[0]
        for command in todo.values():  # byte code and files into the caches
            run(command)
        wall: dict[str, list[float]] = {name: [] for name in todo}
        cpu: dict[str, list[float]] = {name: [] for name in todo}
        for _ in range(options.repeats):
            for name, command in todo.items():
                taken = run(command)
                wall[name].append(taken[0])
                cpu[name].append(taken[1])
        subprocess.run([sys.executable, "-m", "hopgate", "db", "stop", "--data", str(store)], check=True)
    middle = {name: statistics.median(times) for name, times in wall.items()}
    result = {
        "repeats": options.repeats,
        "wall_ms": {name: round(1000 * seconds) for name, seconds in middle.items()},
        "cpu_ms": {name: round(1000 * statistics.median(times)) for name, times in cpu.items()},
        "start_ms": round(1000 * start),
        **{f"{name}_to_imports": round(middle[name] / middle["imports"], 2) for name in todo if name != "imports"},
        "recall_to_imports_cpu": round(statistics.median(cpu["recall"]) / statistics.median(cpu["imports"]), 2),
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
