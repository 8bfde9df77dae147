"""A cold `hopgate recall` against the bare imports it cannot do without, in turns, with the server running.

python benchmarks/coldstart.py [--repeats 15] [--json]

Asked for: at most 3 × `python -c "import psycopg, numpy"` with the lexical leg alone, at most 8 × with the dense leg.
"""

from __future__ import annotations

import argparse
import json
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


def commands(store: Path) -> dict[str, list[str]]:
    recall = [sys.executable, "-m", "hopgate", "recall", QUERY, "--data", str(store)]
    return {
        "imports": [sys.executable, "-c", "import psycopg, numpy"],
        "lexical": [*recall, "--dense", "0", "--graph", "0"],
        "dense": [*recall, "--lexical", "0", "--graph", "0"],
        "fused": [*recall, "--graph", "0"],
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
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        kb.add(*corpus().memories[:200])
        kb.embed()
        todo = commands(Path(folder) / "store")
        for command in todo.values():  # byte code and files into the caches
            run(command)
        wall: dict[str, list[float]] = {name: [] for name in todo}
        cpu: dict[str, list[float]] = {name: [] for name in todo}
        for _ in range(options.repeats):
            for name, command in todo.items():
                taken = run(command)
                wall[name].append(taken[0])
                cpu[name].append(taken[1])
    middle = {name: statistics.median(times) for name, times in wall.items()}
    result = {
        "repeats": options.repeats,
        "wall_ms": {name: round(1000 * seconds) for name, seconds in middle.items()},
        "cpu_ms": {name: round(1000 * statistics.median(times)) for name, times in cpu.items()},
        "lexical_to_imports": round(middle["lexical"] / middle["imports"], 2),
        "dense_to_imports": round(middle["dense"] / middle["imports"], 2),
        "fused_to_imports": round(middle["fused"] / middle["imports"], 2),
    }
    if options.json:
        print(json.dumps(result))
        return
    for name, seconds in middle.items():
        print(f"{name:8} {1000 * seconds:6.0f} ms   × {seconds / middle['imports']:.2f}")


if __name__ == "__main__":
    main()
