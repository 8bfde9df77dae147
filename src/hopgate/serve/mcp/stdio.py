"""The server on standard input and output: lines of JSON, none longer than it may be."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

# What a line that is too long becomes: no message, which the protocol answers with an error.
NO_MESSAGE = "{\n"


class BoundedLines:
    r"""The lines of a stream, each at most so long: of a longer one nothing is kept.

    Examples
    --------
    >>> import asyncio, io
    >>> async def read():
    ...     return [line async for line in BoundedLines(io.BytesIO(b"ab\n" + b"x" * 99 + b"\ncd"), 10)]
    >>> asyncio.run(read())
    ['ab\n', '{\n', 'cd']
    """

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream = stream
        self._most = most

    def __aiter__(self) -> BoundedLines:
        return self

    async def __anext__(self) -> str:
        # Nobody waits for a thread that waits for input.
        line = await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)
        if not line:
            raise StopAsyncIteration
        return line

    def _line(self) -> str:
        line = self._stream.readline(self._most + 1)
        if len(line) <= self._most:
            return line.decode("utf-8", "replace")
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(self._most)
        return NO_MESSAGE


def run_stdio(server: MCPServer[Any], max_message: int) -> None:
    """Serve until standard input ends."""
    anyio.run(partial(_serve, server, max_message))


async def _serve(server: MCPServer[Any], max_message: int) -> None:
    # Whatever prints while it serves must not land between the messages: the transport turns that to standard error.
    lines = cast("anyio.AsyncFile[str]", BoundedLines(sys.stdin.buffer, max_message))
    lowlevel = server._lowlevel_server
    async with stdio_server(stdin=lines) as (read, write):
        await lowlevel.run(read, write, lowlevel.create_initialization_options())
