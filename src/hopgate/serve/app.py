"""The application: the endpoints of the API, the explorer's pages, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.staticfiles import StaticFiles

import hopgate
from hopgate.serve import api_gates, api_graph, api_memories, api_recall, api_upkeep
from hopgate.serve.api_gates import GateRuns
from hopgate.serve.bounds import Service
from hopgate.serve.middleware import API, COOKIE, PREFIX, Access, Hardening, Limits
from hopgate.serve.problems import Problem, handle_errors, responses

if TYPE_CHECKING:
    from starlette.requests import Request

    from hopgate.kb import KnowledgeBase
    from hopgate.serve.settings import ServeSettings

ROUTERS: tuple[APIRouter, ...] = (
    api_recall.router,
    api_memories.router,
    api_graph.router,
    api_gates.router,
    api_upkeep.router,
    # What only the explorer's pages ask for.
    api_graph.explorer,
    api_upkeep.explorer,
)
STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
# A file may be kept, and is asked about each time: after an update nobody sees the old pages.
CACHED = {"Cache-Control": "no-cache"}
SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "The token that hopgate serve printed."},
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": f"{COOKIE}_PORT",
        "description": "Set where its URL was opened.",
    },
}


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
    app.state.service = Service(kb, settings, GateRuns(kb, settings))
    for router in ROUTERS:
        app.include_router(router, responses=responses())
    add_pages(app, [route for router in ROUTERS for route in router.routes])
    if settings.mcp:
        from hopgate.serve.mcp import mount

        mount(app, kb, settings)
    handle_errors(app)
    describe(app)
    # The last one added is the outermost.
    app.add_middleware(Limits, settings=settings)
    app.add_middleware(Access, settings=settings)
    app.add_middleware(Hardening)
    return app


def add_pages(app: FastAPI, endpoints: Sequence[BaseRoute]) -> None:
    """Serve the explorer under every address that is not the API's; of that, the endpoints say what it takes."""
    files = StaticFiles(directory=STATIC, check_dir=False)

    async def page(request: Request) -> Response:
        path = request.url.path
        if path.startswith(API):
            others = [route for route in endpoints if route.matches(request.scope)[0] is Match.PARTIAL]
            allowed = {method for route in others for method in getattr(route, "methods", ())}
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))}) if others else HTTPException(404)
        name = path.lstrip("/") or INDEX
        # A file has an ending; everything else is a place in the explorer.
        wanted = name if "." in name.rpartition("/")[2] else INDEX
        answer = await files.get_response(wanted, request.scope)
        answer.headers.update(CACHED)
        return answer

    app.router.routes.append(Route("/{path:path}", page, methods=["GET", "HEAD"], include_in_schema=False))


def describe(app: FastAPI) -> None:
    """Let an application's document say how one is let in, and what an error looks like."""
    made = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = made()
            parts = found.setdefault("components", {})
            parts.setdefault("schemas", {})[Problem.__name__] = Problem.model_json_schema()
            parts["securitySchemes"] = SCHEMES
            found["security"] = [{name: []} for name in SCHEMES]
        return made()

    app.openapi = document  # type: ignore[method-assign]
