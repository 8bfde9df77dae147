"""`/gates`: run one, follow it, look at its report, compare two, apply what it chose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from hopgate.eval.gate.chosen import apply_gate
from hopgate.eval.gate.judge import judge
from hopgate.eval.gate.saved import load_gate, saved_fingerprint
from hopgate.eval.gate.verdict import Verdict
from hopgate.eval.report.text_marks import filled
from hopgate.memory import Cleared, cleared
from hopgate.serve.access import PREFIX
from hopgate.serve.api.models.gates import (
    AppliedAnswer,
    ApplyRequest,
    GateAnswer,
    GateComparisonAnswer,
    GateDetailAnswer,
    GateId,
    GateRequest,
    GatesAnswer,
    ProgressAnswer,
)
from hopgate.serve.gate_comparison import compare_gates
from hopgate.serve.gate_runs import PAGE, GateRun
from hopgate.serve.problems import RefusedError
from hopgate.serve.service import Served, Service

router = APIRouter(prefix=f"{PREFIX}/gates", tags=["gates"])
# The report is a page of its own, shown in a frame that may do nothing.
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'"


@router.get("", response_model=GatesAnswer)
def list_gates(served: Served) -> GatesAnswer:
    """List the gates of this store, and the questions that one may be run on."""
    served.require_whole_store("gates are")
    in_force = _in_force(served)
    return GatesAnswer(
        gates=[_answer(run, served, in_force) for run in served.gates.list()], questions=served.gates.questions
    )


@router.post("", response_model=GateAnswer, status_code=202)
def run_gate(asked: GateRequest, served: Served) -> GateAnswer:
    """Begin a gate on this store's graph as it is; one runs at a time."""
    served.require_whole_store("gates are")
    served.require_writing()
    run = served.gates.begin(asked.questions, asked.model_dump(exclude={"questions"}))
    return _answer(run, served, set())


@router.get("/{id}", response_model=GateDetailAnswer)
def get_gate(id: GateId, served: Served) -> GateDetailAnswer:
    """Say how far a gate is, and what it decided."""
    served.require_whole_store("gates are")
    run = served.gates.get(id)
    report = served.gates.report(id) if run.state == "done" else None
    return GateDetailAnswer(**_answer(run, served, _in_force(served)).model_dump(), report=report)


@router.post("/{id}/cancel", response_model=GateAnswer)
def cancel_gate(id: GateId, served: Served) -> GateAnswer:
    """End a gate that is running."""
    served.require_whole_store("gates are")
    served.require_writing()
    return _answer(served.gates.cancel(id), served, set())


@router.get("/{id}/report", response_class=HTMLResponse)
def get_report(id: GateId, served: Served) -> HTMLResponse:
    """The report as a page, with those of the memories' texts that may be shown now."""
    served.require_whole_store("gates are")
    served.gates.report(id)

    def text_of(key: str) -> Cleared | None:
        memory = served.kb.get(key)
        readable = [] if memory is None or served.rules.is_sensitive(memory) else [(key, memory)]
        return next((text for _, text in cleared(readable)), None)

    page = filled((served.gates.place(id) / PAGE).read_text(encoding="utf-8"), text_of)
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


@router.get("/{id}/compare/{other}", response_model=GateComparisonAnswer)
def compare(id: GateId, other: GateId, served: Served) -> GateComparisonAnswer:
    """Lay two gates side by side."""
    served.require_whole_store("gates are")
    one, two = served.gates.report(id), served.gates.report(other)
    first, second = (_judged(served.gates.place(key)) for key in (id, other))
    in_force = _in_force(served)
    return GateComparisonAnswer(
        one=_answer(served.gates.get(id), served, in_force),
        other=_answer(served.gates.get(other), served, in_force),
        same_questions=first == second,
        arms=compare_gates(one, two),
    )


@router.post("/{id}/apply", response_model=AppliedAnswer)
def apply(id: GateId, asked: ApplyRequest, served: Served) -> AppliedAnswer:
    """Make the configuration that a gate chose the store's own, where it opened."""
    served.require_whole_store("gates are")
    served.require_writing()
    served.gates.report(id)
    place = served.gates.place(id)
    judgement = replace(judge(load_gate(place)[0]), fingerprint=saved_fingerprint(place))
    if judgement.decision.verdict is not Verdict.OPEN and not asked.force:
        raise RefusedError(
            409, "nothing was applied: the gate is not OPEN, and force applies the challenger all the same"
        )
    applied = apply_gate(judgement, served.kb)
    return AppliedAnswer(applied=applied, gate=_answer(served.gates.get(id), served, _in_force(served)))


def _answer(run: GateRun, served: Service, in_force: set[str]) -> GateAnswer:
    report: dict[str, Any] = served.gates.report(run.id) if run.state == "done" else {}
    progress = ProgressAnswer(stage=run.stage, done=run.done, total=run.total) if run.state == "running" else None
    return GateAnswer(
        id=run.id,
        state=run.state,
        questions=run.questions,
        options=run.options,
        begun=run.begun,
        ended=run.ended,
        error=run.error,
        progress=progress,
        verdict=report.get("verdict"),
        reason=report.get("reason"),
        chosen=report.get("chosen"),
        applied=bool(report) and f"gate {saved_fingerprint(served.gates.place(run.id))}" in in_force,
    )


def _in_force(served: Service) -> set[str]:
    """Who set the settings that are in force."""
    return set(served.kb.store_settings.resolve().sources.values())


def _judged(place: Path) -> tuple[Any, Any]:
    """The judgements and the k that a gate was decided with: only with the same are figures comparable."""
    header = json.loads((place / "gate.json").read_text(encoding="utf-8"))
    return header["qrels"], header["k"]
