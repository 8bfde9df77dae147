"""The application: the endpoints of the API, the explorer's pages, and what stands around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.dependencies.models import Dependant
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from swagger_ui_bundle import swagger_ui_path

import hopgate
from hopgate.errors import HopgateError
from hopgate.serve import api_gates, api_graph, api_memories
from hopgate.serve.api_gates import GateRuns
from hopgate.serve.bounds import Served, Service
from hopgate.serve.middleware import (
    API,
    COOKIE,
    PREFIX,
    Guard,
    Problem,
    RefusedError,
    handle_errors,
    responses,
)

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.serve.settings import ServeSettings

server = APIRouter(prefix=PREFIX, tags=["server"])
ROUTERS: tuple[APIRouter, ...] = (
    api_memories.router,
    api_memories.memories,
    api_graph.router,
    api_gates.router,
    server,
    api_graph.explorer,
    api_graph.mend,
)
STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
IN_STORE = ("memories", "sensitive", "superseded", "pending_vectors", "pending_graph", "failed_graph", "graph_version",
            "graph_built", "extractor", "embedder", "late")  # fmt: skip
# A file may be kept, and is asked about each time: after an update nobody sees the old pages.
CACHED = {"Cache-Control": "no-cache"}
SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "The token that hopgate serve printed."},
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": f"{COOKIE}_PORT",
        "description": "Set by its URL.",
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
        app.include_router(router, responses=responses(), dependencies=[Depends(refuse_unknown_parameters)])
    add_reference(app)
    registry = add_metrics(app)
    add_pages(app, [route for router in ROUTERS for route in router.routes])
    if settings.mcp:
        from hopgate.serve.mcp import mount

        mount(app, kb, settings)
    handle_errors(app)
    describe(app)
    app.add_middleware(Guard, settings=settings, registry=registry)
    return app


@server.get("/health")
def health(served: Served) -> dict[str, Any]:
    """Say that the store answers, what the server allows, and what the store holds unless it is bound to scopes."""
    try:
        state = served.kb.upkeep.status()
    except HopgateError as error:
        raise RefusedError(503, str(error)) from None
    return {
        "status": "ok",
        "version": hopgate.__version__,
        "read_only": served.bounds.read_only,
        "show_sensitive": served.bounds.show_sensitive,
        "scopes": served.allowed_scopes(),
        "store": {} if served.bound is not None else {name: state[name] for name in IN_STORE},
    }


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a parameter in the address that the endpoint does not take: a typo must not widen what is asked."""
    known = set(_parameters(request.scope["route"].dependant))
    for name in request.query_params:
        if name not in known:
            several = f"there are {', '.join(sorted(known))}" if known else "it takes none"
            raise RefusedError(422, f"there is no parameter {name[:80]!r} here: {several}")


def _parameters(dependant: Dependant) -> Iterator[str]:
    """The names of what an endpoint takes in its address, itself and by what it depends on."""
    yield from (field.alias for field in dependant.query_params)
    for other in dependant.dependencies:
        yield from _parameters(other)


def add_reference(app: FastAPI) -> None:
    """Serve what describes the API to people, from a package's own files: nothing is loaded from elsewhere."""
    page = Route(f"{API}docs", lambda _: FileResponse(STATIC / "api.html"), include_in_schema=False)
    app.router.routes += [page, Mount(f"{API}docs", StaticFiles(directory=swagger_ui_path))]


def add_metrics(app: FastAPI) -> CollectorRegistry:
    """Serve counts and times of requests by address, and what the process uses, as Prometheus reads them."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    app.router.routes.append(Route("/metrics", metrics, include_in_schema=False))
    return registry


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
