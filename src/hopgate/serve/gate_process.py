"""A process of its own that runs one gate: what to judge comes in as a line of JSON, how far it is stands in a file.

Started by `serve.api_gates` as `python -m`: a gate keeps a core busy for minutes, which requests must not wait for, and
a process can be ended at any moment.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import hopgate
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_dataset
from hopgate.eval.gate import gate_store
from hopgate.eval.plan import plan_of
from hopgate.redact import redacted

RECORD = "run.json"


@dataclass(frozen=True, slots=True)
class GateRun:
    """One gate: what it judges, how far it is, and how it ended; kept as a file in its folder."""

    id: str
    questions: str
    options: dict[str, Any]
    begun: str
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    ended: str | None = None
    error: str | None = None
    stage: str = "starting"
    done: int = 0
    total: int | None = None

    @classmethod
    def read(cls, folder: Path) -> GateRun:
        """Read what a gate's folder says of it."""
        return cls(**json.loads((folder / RECORD).read_text(encoding="utf-8")))

    def kept(self, folder: Path, **news: Any) -> GateRun:
        """Write it down with what is new, all at once: who reads it never finds half of it."""
        if "state" in news:
            news["ended"] = datetime.now(UTC).isoformat()
        run, draft = replace(self, **news), folder / f"{RECORD}.new"
        draft.write_text(json.dumps(asdict(run), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        draft.replace(folder / RECORD)
        return run


def run(where: Path | str, questions: Path, folder: Path) -> None:
    """Run the gate that is begun in a folder, and say there how far it is."""
    record = GateRun.read(folder)

    def stage(title: str, total: int | None) -> Callable[[int], None]:
        nonlocal record
        record = record.kept(folder, stage=title, done=0, total=total)
        return advance

    def advance(more: int) -> None:
        nonlocal record
        record = record.kept(folder, done=record.done + more)

    try:
        with hopgate.open(where, linger=0) as kb:
            dataset = read_dataset(questions, kb.export())
            gate_store(kb, dataset, plan_of(record.options), out=folder, stage=stage)
        record.kept(folder, state="done")
    except HopgateError as error:
        record.kept(folder, state="failed", error=redacted(str(error)))


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    # Ended by an exception, so that the store is closed; an interruption is the starter's to deal with.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    task = json.loads(sys.stdin.readline())
    run(Path(task["directory"]) if task["directory"] else task["dsn"], Path(task["questions"]), Path(task["folder"]))
