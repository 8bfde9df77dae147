"""`/health` and `/metrics`: whether the store answers, what it holds, what was asked."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import PlainTextResponse

import hopgate
from hopgate.errors import HopgateError
from hopgate.serve.access import PREFIX
from hopgate.serve.problems import RefusedError
from hopgate.serve.service import Served

router = APIRouter(prefix=PREFIX, tags=["server"])
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
COUNTED = ("memories", "sensitive", "superseded", "pending_vectors", "pending_graph", "failed_graph", "graph_version")


class HealthAnswer(BaseModel):
    """That the store answers, what the server allows, and what the store holds unless it is bound to scopes."""

    status: str
    version: str
    read_only: bool
    show_sensitive: bool
    scopes: list[str] | None
    store: dict[str, int | str | bool]


@router.get("/health", response_model=HealthAnswer)
def health(served: Served) -> HealthAnswer:
    """Say that the store answers, and what it holds."""
    settings = served.settings
    try:
        found: dict[str, Any] = served.kb.upkeep.status()
    except HopgateError as error:
        raise RefusedError(503, str(error)) from None
    named = (*COUNTED, "graph_built", "extractor", "embedder")
    return HealthAnswer(
        status="ok",
        version=hopgate.__version__,
        read_only=settings.read_only,
        show_sensitive=settings.show_sensitive,
        scopes=list(settings.scopes) if settings.scopes is not None else None,
        store={} if settings.scopes is not None else {name: found[name] for name in named},
    )


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(served: Served) -> PlainTextResponse:
    """Requests and their times, and what the store holds, in Prometheus' text format."""
    gauges: dict[str, float] = {}
    if served.settings.scopes is None:
        found = served.kb.upkeep.status()
        gauges = {name: found[name] for name in COUNTED}
        counts = served.kb.graph.counts()
        gauges |= {f"graph_{name}": value for name, value in counts.items() if isinstance(value, int)}
    return PlainTextResponse("\n".join([*served.metrics.lines(gauges), ""]), media_type=PROMETHEUS)
