"""The application: the endpoints of the API, the explorer's pages, and what stands around them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.exceptions import HTTPException
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from swagger_ui_bundle import swagger_ui_path

import hopgate
from hopgate.errors import HopgateError
from hopgate.serve import api_graph, api_memories
from hopgate.serve.bounds import Served, Service
from hopgate.serve.middleware import API, PREFIX, Guard, Problem, RefusedError, handle_errors, responses

if TYPE_CHECKING:
    from starlette.types import Scope

    from hopgate.kb import KnowledgeBase
    from hopgate.serve.settings import ServeSettings

server = APIRouter(prefix=PREFIX, tags=["server"])
ROUTERS: tuple[APIRouter, ...] = (
    api_memories.router,
    api_memories.memories,
    api_graph.router,
    server,
    api_graph.explorer,
)
STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
IN_STORE = ("memories", "sensitive", "superseded", "pending_vectors", "pending_graph", "failed_graph", "graph_version",
            "graph_built", "concepts", "edges", "extractor", "embedder", "late")  # fmt: skip
TOKEN, COOKIE = "The token that hopgate serve printed.", "Set by the URL that hopgate serve printed."


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
    app = Application(
        title="hopgate",
        version=hopgate.__version__,
        summary="Recall over a concept graph, and what it is made of.",
        # The pages that FastAPI would serve load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json",
        separate_input_output_schemas=False,
        redirect_slashes=False,
        # What the document says of the token; `Guard` asks for it.
        dependencies=[
            Depends(HTTPBearer(scheme_name="bearer", description=TOKEN, auto_error=False)),
            Depends(APIKeyCookie(name=settings.cookie, scheme_name="cookie", description=COOKIE, auto_error=False)),
        ],
    )
    app.state.services = {bearer.token: Service(kb, bearer, settings.max_k) for bearer in settings.everybody()}
    for router in ROUTERS:
        app.include_router(router, responses=responses(), dependencies=[Depends(refuse_unknown_parameters)])
    add_reference(app)
    if settings.mcp:
        from hopgate.serve.mcp import mount

        mount(app, kb, settings)
    app.router.default = Pages(directory=STATIC, check_dir=False)
    handle_errors(app, settings.max_body)
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=settings.max_body)
    app.add_middleware(Guard, settings=settings)
    return app


class Application(FastAPI):
    """An application whose document says what an error looks like."""

    def openapi(self) -> dict[str, Any]:
        """Give the document."""
        document = super().openapi()
        document["components"]["schemas"][Problem.__name__] = Problem.model_json_schema()
        return document


@server.get("/health")
def health(served: Served) -> dict[str, Any]:
    """Say that the store answers, what the server allows, and what the store holds unless it is bound to scopes."""
    try:
        state, counts = served.kb.upkeep.status(), served.kb.graph.counts()
    except HopgateError as error:
        raise RefusedError(503, str(error)) from None
    return {
        "status": "ok",
        "version": hopgate.__version__,
        "read_only": served.bounds.read_only,
        "show_sensitive": served.bounds.show_sensitive,
        "scopes": served.allowed_scopes(),
        "store": {} if served.bound is not None else {name: (counts | state)[name] for name in IN_STORE},
    }


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a parameter in the address that the endpoint does not take: a typo must not widen what is asked."""
    fields = get_flat_params(request.scope["route"].dependant)
    known = {field.alias for field in fields if isinstance(field.field_info, Query)}
    for name in request.query_params:
        if name not in known:
            several = f"there are {', '.join(sorted(known))}" if known else "it takes none"
            raise RefusedError(422, f"there is no parameter {name[:80]!r} here: {several}")


def add_reference(app: FastAPI) -> None:
    """Serve what describes the API to people, from a package's own files: nothing is loaded from elsewhere."""
    page = Route(f"{API}docs", lambda _: FileResponse(STATIC / "api.html"), include_in_schema=False)
    app.router.routes += [page, Mount(f"{API}docs", StaticFiles(directory=swagger_ui_path))]


class Pages(StaticFiles):
    """The explorer, under every address that nothing else has: its files, and its one page for all places in it."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Give a file by its name, which has an ending; everything else is a place in the explorer."""
        if scope["path"].startswith(API):
            raise HTTPException(404)
        answer = await super().get_response(path if Path(path).suffix else INDEX, scope)
        # It may be kept, and is asked about each time: after an update nobody sees the old pages.
        answer.headers["Cache-Control"] = "no-cache"
        return answer
