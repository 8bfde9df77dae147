"""The OpenAPI document: what FastAPI makes of the endpoints, with the token and the form of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.serve.access import COOKIE
from hopgate.serve.problems import Problem

if TYPE_CHECKING:
    from fastapi import FastAPI

SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "The token that hopgate serve printed."},
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": f"{COOKIE}_PORT",
        "description": "Set where its URL was opened.",
    },
}


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
