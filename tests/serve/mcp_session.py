"""Sessions of the SDK's own client with a real `hopgate mcp`: by standard input and output, and by HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult
from patience import PATIENCE
from serving import TOKEN, serving

from hopgate.kb import KnowledgeBase


def command(dsn: str, *options: str) -> StdioServerParameters:
    """A real `hopgate mcp` process."""
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "HOPGATE_STORE", "HOPGATE_LINGER") if name in os.environ}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "hopgate", "mcp", "--dsn", dsn, *options],
        env={**kept, "OMP_NUM_THREADS": "1"},
    )


@contextlib.contextmanager
def mcp_serving(kb: KnowledgeBase, **bounds: Any) -> Iterator[str]:
    """Serve by HTTP on a real port until the block ends; give the address."""
    with serving(kb, mcp=True, **bounds) as running:
        yield f"{running.url}/mcp"


@contextlib.asynccontextmanager
async def by_http(url: str, token: str = TOKEN, **options: Any) -> AsyncIterator[Client]:
    """A session by HTTP with a token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http), **options) as client,
    ):
        yield client


def in_session(kb: KnowledgeBase, work: Callable[[Client], Awaitable[Any]], *, user: Any = None, **bounds: Any) -> Any:
    """Serve a store, and do some work in one session; `user` is asked where a tool asks back."""

    async def session(url: str) -> Any:
        asked = {} if user is None else {"elicitation_callback": user}
        async with by_http(url, **asked) as client:
            return await work(client)

    with mcp_serving(kb, **bounds) as url:
        return asyncio.run(session(url))


class User:
    """Somebody who is asked, and answers the same each time."""

    def __init__(self, action: str, delete: bool | None = None) -> None:
        self.asked: list[str] = []
        self._answer = ElicitResult(action=action, content=None if delete is None else {"delete": delete})  # type: ignore[arg-type]

    async def __call__(self, _: object, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return self._answer


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; give its structured answer."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that refuses; give what it says."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    assert result.structured_content is None
    return str(result.content[0].text)  # type: ignore[union-attr]
