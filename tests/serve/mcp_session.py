"""Sessions of the SDK's own client with a store's tools: in this process, and with a real `hopgate mcp`."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import ElicitRequestParams, ElicitResult

from hopgate.kb import KnowledgeBase
from hopgate.serve.mcp import create_mcp
from hopgate.serve.settings import Bounds


def command(dsn: str, *options: str) -> StdioServerParameters:
    """A real `hopgate mcp` process."""
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "HOPGATE_STORE", "HOPGATE_LINGER") if name in os.environ}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "hopgate", "mcp", "--dsn", dsn, *options],
        env={**kept, "OMP_NUM_THREADS": "1"},
    )


def in_session(kb: KnowledgeBase, work: Callable[[Client], Awaitable[Any]], *, user: Any = None, **bounds: Any) -> Any:
    """Do some work in one session with a store; `user` is asked where a tool asks back."""

    async def session() -> Any:
        asked = {} if user is None else {"elicitation_callback": user}
        async with Client(create_mcp(kb, Bounds(**bounds)), **asked) as client:
            return await work(client)

    return asyncio.run(session())


class User:
    """Somebody who is asked, and answers the same each time."""

    def __init__(self, action: str, delete: bool | None = None) -> None:
        self.asked: list[str] = []
        self._answer = ElicitResult(action=action, content=None if delete is None else {"delete": delete})

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
    return str(result.content[0].text)
