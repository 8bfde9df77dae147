"""Errors as `application/problem+json` (RFC 9457), with the sentence that the command line would say."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from hopgate.errors import ConflictError, HopgateError, UnreachableError
from hopgate.redact import redacted

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

LOG = logging.getLogger("hopgate.serve")
MEDIA_TYPE = "application/problem+json"
# Of many mistakes in a request the first few say enough.
NAMED_MISTAKES = 3
_SENTENCES = {
    400: "the body of the request is not JSON in UTF-8",
    404: "there is nothing at this address: /api/v1/openapi.json lists what there is",
    405: "this address takes other methods: /api/v1/openapi.json lists them",
}


class Problem(BaseModel):
    """What went wrong, and what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class RefusedError(HopgateError):
    """A request that is refused with a status of its own."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Make the response."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": redacted(sentence)}
    # Half of a surrogate pair, repeated from a request, is no text.
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, dict(headers or {}), MEDIA_TYPE)


def responses() -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says of every endpoint's errors."""
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in (400, 401, 403, 404, 405, 409, 413, 421, 422, 503, 504)
    }


def handle_errors(app: FastAPI) -> None:
    """Let an application answer every error with a problem."""

    async def refused(_: Request, error: Exception) -> Response:
        return problem(status_of(error), str(error))

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return problem(422, mistakes(error.errors()))

    async def failed(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentence = _SENTENCES.get(error.status_code, str(error.detail))
        return problem(error.status_code, sentence, error.headers)

    app.add_exception_handler(HopgateError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, failed)


def status_of(error: Exception) -> int:
    """Give the status of an error that a user can meet.

    Examples
    --------
    >>> status_of(HopgateError("the query is empty")), status_of(RefusedError(404, "there is no memory 'm1'"))
    (422, 404)
    """
    if isinstance(error, RefusedError):
        return error.status
    return 409 if isinstance(error, ConflictError) else 503 if isinstance(error, UnreachableError) else 422


def mistakes(found: Any) -> str:
    """Say in one sentence which fields of a request are wrong and how; what they held is not repeated.

    Examples
    --------
    >>> mistakes([{"loc": ("body", "k"), "msg": "Input should be greater than 0"}])
    'body.k: input should be greater than 0'
    """
    texts = []
    for mistake in found[:NAMED_MISTAKES]:
        where, what = ".".join(map(str, mistake["loc"])), str(mistake["msg"])
        texts.append(f"{where}: {what[:1].lower()}{what[1:]}")
    more = len(found) - NAMED_MISTAKES
    return "; ".join(texts) + (f"; and {more} more" if more > 0 else "")
