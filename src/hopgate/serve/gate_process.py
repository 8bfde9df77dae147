"""A process of its own that runs one gate: what to judge comes in as a line of JSON, how far it is goes out as lines.

Started by `serve.api_gates` as `python -m`: a gate keeps a core busy for minutes, which requests must not wait for, and
a process can be ended at any moment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import hopgate
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_dataset
from hopgate.eval.gate import gate_store
from hopgate.eval.plan import plan_of
from hopgate.redact import redacted


def run(task: dict[str, Any], out: IO[str]) -> None:
    """Run the gate that a task names, and say how far it is."""

    def tell(**news: object) -> None:
        out.write(json.dumps(news) + "\n")
        out.flush()

    def stage(title: str, total: int | None) -> Callable[[int], None]:
        tell(stage=title, total=total)
        return lambda done: tell(done=done)

    try:
        where = Path(task["directory"]) if task["directory"] else task["dsn"]
        with hopgate.open(where, linger=0) as kb:
            dataset = read_dataset(Path(task["questions"]), kb.export())
            judged = gate_store(kb, dataset, plan_of(task["options"]), out=Path(task["out"]), stage=stage)
        tell(verdict=judged.verdict.value)
    except HopgateError as error:
        tell(error=redacted(str(error)))


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    # Ended by an exception, so that the store is closed; an interruption is the starter's to deal with.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing but news may stand on standard output.
    news = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    run(json.loads(sys.stdin.readline()), news)
