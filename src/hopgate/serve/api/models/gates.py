"""Gates, as they are asked for and answered."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field

from hopgate.eval.gate.plan import SHUFFLES, Arms
from hopgate.serve.api.models.values import Strict
from hopgate.serve.gate_runs import State

Split = Annotated[str, Field(pattern=r"^[\w.-]{1,80}$")]
GateId = Annotated[str, Path(description="The gate's id.", max_length=80)]


class GateRequest(Strict):
    """A gate to run: on which questions, and how; as the options of `hopgate gate`."""

    questions: Annotated[str, Field(max_length=200)] | None = None
    arms: Arms = "default"
    k: Annotated[int, Field(ge=1, le=50)] = 10
    tune: Split | Annotated[str, Field(max_length=0)] = "dev"
    split: Split = "test"
    shuffles: Annotated[int, Field(ge=0, le=200)] = SHUFFLES
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    rerank: bool = False


class ApplyRequest(Strict):
    """Whether what a gate chose is applied though it is not OPEN."""

    force: bool = False


class ProgressAnswer(BaseModel):
    """What a gate is doing, and how much of it is done."""

    stage: str
    done: int
    total: int | None


class GateAnswer(BaseModel):
    """A gate: what it judges, how far it is, and what it decided."""

    id: str
    state: State
    questions: str
    options: dict[str, Any]
    begun: str
    ended: str | None
    error: str | None
    progress: ProgressAnswer | None
    verdict: str | None
    reason: str | None
    chosen: str | None
    applied: bool


class GateDetailAnswer(GateAnswer):
    """A gate with all that it measured, as `hopgate gate --json` prints it."""

    report: dict[str, Any] | None


class GatesAnswer(BaseModel):
    """The gates of this store, the newest first, and the questions that one may be run on."""

    gates: list[GateAnswer]
    questions: list[str]


class GateComparisonAnswer(BaseModel):
    """Two gates side by side: arm → measure → one, other and the difference."""

    one: GateAnswer
    other: GateAnswer
    same_questions: bool
    arms: dict[str, dict[str, dict[str, float | None]]]


class AppliedAnswer(BaseModel):
    """What became the store's own settings."""

    applied: dict[str, Any]
    gate: GateAnswer
