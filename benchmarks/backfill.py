"""A backfill on a Ray cluster of this machine: against one process on the same cores, and with everything killed.

python benchmarks/backfill.py [--memories 20000] [--workers 2] [--kills 5] [--embedder bge-small] [--json]

Asked for: two workers take at most 1.2 times what one process takes that uses the same cores (`ray_to_ideal`), and the
stores are equal, row by row (`equal`). With `--kills` a third store is filled while workers are killed with -9, the
driver once and the database once: `equal_after_kills`. Notes are those of `grown_store`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import psutil
from grown_store import World

import hopgate
from hopgate.corpus import to_record
from hopgate.store.server.pid_file import pid_of

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "reliability"))
SHARDS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--embedder", default="bge-small")
    parser.add_argument("--json", action="store_true")
    # What the killed driver runs.
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--shards", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        print(json.dumps(fill(options.fill, options.shards, options.embedder, "ray", options.workers)))
        return
    with tempfile.TemporaryDirectory() as folder:
        result = compare(Path(folder), options)
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:20} {value}")


def compare(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    shards = folder / "shards"
    shards.mkdir()
    notes = [json.dumps(to_record(memory)) for memory in World().memories(options.memories)]
    for at in range(SHARDS):
        (shards / f"part-{at}.jsonl").write_text("\n".join(notes[at::SHARDS]) + "\n")
    load = os.getloadavg()[0]
    # Both without the cache of names and facts, which the first would fill for the second.
    os.environ["HOPGATE_CACHE"] = str(folder / "cache-local")
    local = fill(folder / "local", shards, options.embedder, "local", None)
    os.environ["HOPGATE_CACHE"] = str(folder / "cache-ray")
    ray = fill(folder / "ray", shards, options.embedder, "ray", options.workers)
    result = {
        "memories": options.memories,
        "local_s": local["seconds"],
        "ray_s": ray["seconds"],
        "ray_to_ideal": round(ray["seconds"] / local["seconds"], 3),
        "equal": rows(folder / "local") == rows(folder / "ray"),
        "local_stages": local["stages"],
        "ray_stages": ray["stages"],
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
    }
    if options.kills:
        result |= killed(folder, shards, options)
        result["equal_after_kills"] = rows(folder / "killed") == rows(folder / "local")
    return result


def fill(store: Path, shards: Path, embedder: str, engine: str, workers: int | None) -> dict[str, Any]:
    with hopgate.open(store) as kb:
        done = kb.backfill(shards, embedder=embedder, engine=engine, workers=workers)
        stages = {stage.stage: round(stage.seconds, 1) for stage in done.stages}
        return {"seconds": round(done.seconds, 1), "stages": stages, "set_aside": done.set_aside}


def rows(store: Path) -> dict[str, str]:
    oracle = importlib.import_module("oracle")
    with hopgate.open(store) as kb, kb.store.transaction() as connection:
        assert oracle.broken(connection) == {}
        found: dict[str, str] = oracle.digest(connection)
        return found


def killed(folder: Path, shards: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Fill a store while workers are killed, the driver in the middle and the database after it."""
    store = folder / "killed"
    hopgate.open(store).close()
    command = [sys.executable, __file__, "--fill", str(store), "--shards", str(shards)]
    command += ["--embedder", options.embedder, "--workers", str(options.workers)]
    counted = {"workers": 0, "drivers": 0, "databases": 0}
    pause = max(3.0, options.memories / 1000)
    while True:
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        ended = threading.Event()
        killer = threading.Thread(target=_kill, args=(driver.pid, store, counted, options.kills, pause, ended))
        killer.start()
        status = driver.wait()
        ended.set()
        killer.join()
        if status == 0:
            return {"killed": counted}
        if status != -signal.SIGKILL:
            raise SystemExit(f"the driver ended with status {status}")


def _kill(driver: int, store: Path, counted: dict[str, int], kills: int, pause: float, ended: threading.Event) -> None:
    while not ended.wait(pause):
        below = psutil.Process(driver).children(recursive=True)
        workers = [one for one in below if "RayActor" in " ".join(one.cmdline()[:1])]
        if counted["workers"] < kills:
            if workers:
                workers[counted["workers"] % len(workers)].kill()
                counted["workers"] += 1
        elif not counted["databases"]:
            os.kill(pid_of(store / "pg"), signal.SIGKILL)
            counted["databases"] += 1
        if counted["workers"] == (kills + 1) // 2 and not counted["drivers"]:
            counted["drivers"] += 1
            os.kill(driver, signal.SIGKILL)
            return


if __name__ == "__main__":
    main()
