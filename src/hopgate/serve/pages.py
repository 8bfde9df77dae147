"""The explorer's files, and the one page that every address of it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.staticfiles import StaticFiles

from hopgate.serve.access import API

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

STATIC = Path(__file__).parent / "static"
INDEX = "index.html"
# A file may be kept, and is asked about each time: after an update nobody sees the old pages.
CACHED = {"Cache-Control": "no-cache"}


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
