"""`/gates`: run one in a process of its own, follow it, look at its report, apply what it chose."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Path as PathParameter
from pydantic import Field
from starlette.responses import HTMLResponse

from hopgate.eval.gate import apply_settings
from hopgate.eval.plan import Plan
from hopgate.eval.record import DECISION, PAGE, judged
from hopgate.files import private_folder, user_folder
from hopgate.kb import KnowledgeBase
from hopgate.options import options_of
from hopgate.serve import gate_process
from hopgate.serve.bounds import Served, Service, Strict, request_model
from hopgate.serve.gate_process import RECORD, GateRun
from hopgate.serve.middleware import PREFIX, RefusedError
from hopgate.serve.settings import ServeSettings

router = APIRouter(prefix=PREFIX, tags=["gates"])

Split = Annotated[str, Field(pattern=r"^[\w.-]{1,80}$")]
GateId = Annotated[str, PathParameter(description="The gate's id.", max_length=80)]
# The report is a page of its own, shown in a frame that may do nothing.
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'"
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")
# How long a process may take to close the store before it is killed.
PATIENCE_S = 10


# Those of a plan's settings that do not name another graph than the one that is served.
ASKED = ("k", "tune", "split", "about", "shuffles", "relevant_from", "worthwhile", "seed")
PlanRequest = request_model(
    "PlanRequest",
    [option for option in options_of(Plan) if option.name in ASKED],
    split=Split,
    tune=Split | Annotated[str, Field(max_length=0)],
)


class GateRequest(PlanRequest):  # type: ignore[misc, valid-type]
    """A gate to run: on which questions, and how; as the options of `hopgate gate`."""

    questions: Annotated[str, Field(max_length=200)] | None = None


class ApplyRequest(Strict):
    """Whether what a gate chose is applied though it is not OPEN."""

    force: bool = False


@router.get("/gates")
def list_gates(served: Served) -> dict[str, Any]:
    """List the gates of this store, the newest first, and the questions that one may be run on."""
    served.require_whole_store("gates are")
    return {"gates": [_answer(run, served) for run in served.gates.list()], "questions": served.gates.questions}


@router.post("/gates", status_code=202)
def run_gate(asked: GateRequest, served: Served) -> dict[str, Any]:
    """Begin a gate on this store's graph as it is; one runs at a time."""
    _require_changing(served)
    plan = Plan(**asked.model_dump(exclude={"questions"}, exclude_none=True))
    run = served.gates.begin(asked.questions, {name: getattr(plan, name) for name in ASKED})
    return _answer(run, served)


@router.get("/gates/{id}")
def get_gate(id: GateId, served: Served) -> dict[str, Any]:
    """Say how far a gate is, and what it decided and measured, as `hopgate gate --json` prints it."""
    served.require_whole_store("gates are")
    run = served.gates.get(id)
    return {**_answer(run, served), "report": served.gates.report(id) if run.state == "done" else None}


@router.post("/gates/{id}/cancel")
def cancel_gate(id: GateId, served: Served) -> dict[str, Any]:
    """End a gate that is running."""
    _require_changing(served)
    return _answer(served.gates.cancel(id), served)


@router.get("/gates/{id}/report", response_class=HTMLResponse)
def get_report(id: GateId, served: Served) -> HTMLResponse:
    """The gate's page: figures and questions, no text of a memory."""
    served.require_whole_store("gates are")
    served.gates.report(id)
    page = (served.gates.place(id) / PAGE).read_text(encoding="utf-8")
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


@router.post("/gates/{id}/apply")
def apply(id: GateId, asked: ApplyRequest, served: Served) -> dict[str, Any]:
    """Make the configuration that a gate chose the store's own, where it opened."""
    _require_changing(served)
    served.gates.report(id)
    judgement = judged(served.gates.place(id))
    if not judgement.opened and not asked.force:
        raise RefusedError(
            409, "nothing was applied: no part opened, and force applies the recommended arm all the same"
        )
    applied = apply_settings(judgement, served.kb)
    return {"applied": applied, "gate": _answer(served.gates.get(id), served)}


def _require_changing(served: Service) -> None:
    served.require_whole_store("gates are")
    served.require_writing()


def _answer(run: GateRun, served: Service) -> dict[str, Any]:
    """A gate: what it judges, how far it is, what it decided, and whether that is in force."""
    report: dict[str, Any] = served.gates.report(run.id) if run.state == "done" else {}
    in_force = served.kb.store_settings.resolve().sources.values()
    return {
        **asdict(run),
        **{name: report.get(name) for name in ("verdict", "headline", "todo")},
        "chosen": report.get("recommended", {}).get("fuser"),
        "applied": bool(report) and f"gate {report['fingerprint']}" in in_force,
    }


class GateRuns:
    """Runs and keeps the gates of a store."""

    def __init__(self, kb: KnowledgeBase, settings: ServeSettings) -> None:
        self._kb = kb
        self._questions = {folder.name: folder for folder in settings.questions}
        self._given = settings.gates
        self._lock = threading.Lock()
        self._running = ""
        self._process: subprocess.Popen[str] | None = None

    @property
    def folder(self) -> Path:
        """Where they are kept: in the store's own folder, or for a server's database in the user's data directory."""
        store = self._kb.store
        if self._given is not None:
            return self._given
        if store.directory is not None:
            return store.directory / "gates"
        name = hashlib.sha256(store.dsn.encode()).hexdigest()[:16]
        return user_folder("data", "set HOME") / "gates" / name

    @property
    def questions(self) -> list[str]:
        """The names of the folders that a gate may be run on."""
        return sorted(self._questions)

    def begin(self, questions: str | None, options: dict[str, Any]) -> GateRun:
        """Begin a gate; refused where one is running."""
        if questions is None and len(self._questions) == 1:
            (questions,) = self._questions
        if questions not in self._questions:
            known = ", ".join(self.questions) or "none: start hopgate serve with --questions DIR"
            raise RefusedError(422, f"name the questions that the gate is run on; there are {known}")
        with self._lock:
            if self._is_running(self._running):
                raise RefusedError(409, f"the gate {self._running} is running: wait for its end, or cancel it")
            now = datetime.now(UTC)
            run = GateRun(f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}", questions, options, now.isoformat())
            private_folder(self.folder / run.id)
            run.kept(self.folder / run.id)
            self._running, self._process = run.id, self._started(self.folder / run.id, self._questions[questions])
        return run

    def list(self) -> list[GateRun]:
        """Every gate that is kept, the newest first."""
        names = [path.parent.name for path in self.folder.glob(f"*/{RECORD}") if _ID.fullmatch(path.parent.name)]
        return [self.get(name) for name in sorted(names, reverse=True)]

    def get(self, key: str) -> GateRun:
        """One gate; an unknown one is refused."""
        is_running = self._is_running(key)  # asked first: what has ended by now says so
        run = GateRun.read(self.place(key))
        if run.state == "running" and not is_running:
            return replace(run, state="failed", error="its process was ended: run the gate again")
        return run

    def place(self, key: str) -> Path:
        """The folder of a gate; an unknown one is refused."""
        if not _ID.fullmatch(key) or not (self.folder / key / RECORD).is_file():
            raise RefusedError(404, f"there is no gate {key[:80]!r}")
        return self.folder / key

    def report(self, key: str) -> dict[str, Any]:
        """What a gate decided and measured; refused where it has not ended with a verdict."""
        if (state := self.get(key).state) != "done":
            raise RefusedError(409, f"the gate {key} has no verdict: it is {state}")
        return dict(json.loads((self.place(key) / DECISION).read_text(encoding="utf-8")))

    def cancel(self, key: str) -> GateRun:
        """End a gate that is running; refused where it is not."""
        place = self.place(key)
        with self._lock:
            if self._process is not None and self._is_running(key):
                self._process.terminate()
                try:
                    self._process.wait(PATIENCE_S)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
                if (run := GateRun.read(place)).state == "running":
                    return run.kept(place, state="cancelled")
        raise RefusedError(409, f"the gate {key} is not running")

    def close(self) -> None:
        """End what is running."""
        with contextlib.suppress(RefusedError):
            self.cancel(self._running)

    def _is_running(self, key: str) -> bool:
        return self._process is not None and self._running == key and self._process.poll() is None

    def _started(self, folder: Path, questions: Path) -> subprocess.Popen[str]:
        store = self._kb.store
        directory = str(store.directory) if store.directory else None
        task = {"directory": directory, "dsn": store.dsn, "questions": str(questions), "folder": str(folder)}
        process = subprocess.Popen(
            [sys.executable, "-m", gate_process.__name__],
            stdin=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            # With this process's path, so that it finds what this one found.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            # Ctrl-C in the server's terminal would reach it, too, and leave its traceback there.
            start_new_session=True,
        )
        assert process.stdin is not None
        with process.stdin as pipe, contextlib.suppress(BrokenPipeError):
            pipe.write(json.dumps(task) + "\n")
        return process
