"""The application: the endpoints of the API, the explorer's pages, and what stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI

import hopgate
from hopgate.serve.access import PREFIX, Access
from hopgate.serve.api import (
    clusters,
    concepts,
    edges,
    explain,
    gates,
    graph_view,
    health,
    memories,
    mend,
    recall,
    timeline,
)
from hopgate.serve.gate_runs import GateRuns
from hopgate.serve.hardening import Hardening
from hopgate.serve.limits import Limits
from hopgate.serve.openapi_document import describe
from hopgate.serve.pages import add_pages
from hopgate.serve.problems import handle_errors, responses
from hopgate.serve.request_metrics import Metered, RequestMetrics
from hopgate.serve.rule_reader import RuleReader
from hopgate.serve.service import Service

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.serve.serve_settings import ServeSettings

ROUTERS: tuple[APIRouter, ...] = tuple(
    part.router for part in (recall, explain, memories, concepts, edges, clusters, gates, health)
)

# What only the explorer's pages ask for.
EXPLORER: tuple[APIRouter, ...] = tuple(part.router for part in (graph_view, timeline, mend))


def create_app(kb: KnowledgeBase, settings: ServeSettings) -> FastAPI:
    """Make the application that serves a store; who made the knowledge base closes it.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> from hopgate.serve import ServeSettings, create_app
    >>> with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
    ...     app = create_app(kb, ServeSettings("sixteen-letters-x"))
    ...     "/api/v1/recall" in app.openapi()["paths"]
    True
    """
    app = FastAPI(
        title="hopgate",
        version=hopgate.__version__,
        summary="Recall over a concept graph, and what it is made of.",
        # The pages that FastAPI would serve load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        separate_input_output_schemas=False,
        redirect_slashes=False,
    )
    metrics = RequestMetrics()
    app.state.service = Service(kb, settings, metrics, GateRuns(kb, settings), RuleReader(kb))
    for router in (*ROUTERS, *EXPLORER):
        app.include_router(router, responses=responses())
    add_pages(app, [route for router in ROUTERS for route in router.routes])
    if settings.mcp:
        from hopgate.serve.mcp.mcp_server import mount

        mount(app, kb, settings)
    handle_errors(app)
    describe(app)
    # The last one added is the outermost.
    app.add_middleware(Limits, settings=settings)
    app.add_middleware(Access, settings=settings)
    app.add_middleware(Metered, metrics=metrics)
    app.add_middleware(Hardening)
    return app
