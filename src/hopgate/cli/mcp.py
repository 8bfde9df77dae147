"""`hopgate mcp`: the store as tools of an assistant."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.output import opened, say
from hopgate.cli.serve import Port, imported
from hopgate.cli.shared_options import Data, Dsn
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.serve.mcp import McpSettings
    from hopgate.serve.settings import ServeSettings


def command(
    scope: Annotated[
        list[str] | None,
        typer.Option(help="Bind the assistant to this scope; again for more, the first is written to."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that changes the store.")] = False,
    allow_sensitive: Annotated[
        bool, typer.Option("--allow-sensitive", help="Return sensitive memories, too; by default they are not there.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Serve by HTTP under /mcp, instead of on standard input.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="With --http: where to listen; not this machine's own needs --token-file.")
    ] = "127.0.0.1",
    port: Port = None,
    token_file: Annotated[
        Path | None, typer.Option(help="With --http: a file with the token, which only you may read.")
    ] = None,
    data: Data = None,
    dsn: Dsn = None,
) -> None:
    """Offer the store to an assistant by the Model Context Protocol: remember, recall, explain, forget.

    An assistant starts it itself and talks to it on standard input and output. With --http it is a server of its own,
    behind a token that is printed once.

    Example: hopgate mcp --scope home --read-only
    """
    imported()
    if importlib.util.find_spec("mcp") is None:
        raise HopgateError("this needs packages that are not installed: run pip install 'hopgate[serve]'")
    from hopgate.serve.mcp import McpSettings

    bounds = McpSettings(tuple(scope) if scope else None, read_only, allow_sensitive)
    if not http:
        from hopgate.serve.mcp import create_mcp, run_stdio

        with opened(data, dsn) as kb:
            run_stdio(create_mcp(kb, bounds), bounds.max_message)
        return
    from hopgate.serve.launch import read_token
    from hopgate.serve.settings import MCP_PORT, ServeSettings, is_loopback, new_token

    if not is_loopback(host) and token_file is None:
        raise HopgateError(
            f"others can reach {host}: write a token into a file that only you can read, and give it with --token-file"
        )
    settings = ServeSettings(
        read_token(token_file) if token_file else new_token(),
        host=host,
        port=MCP_PORT if port is None else port,
        # A client keeps a stream open; what is too large the protocol itself answers.
        concurrent=64,
        max_body=2 * bounds.max_message,
    )
    with opened(data, dsn) as kb:
        _run_http(kb, bounds, settings, token_file)


def _run_http(kb: KnowledgeBase, bounds: McpSettings, settings: ServeSettings, token_file: Path | None) -> None:
    from hopgate.serve.launch import bound_socket, server_of, url_of
    from hopgate.serve.mcp import PATH, create_mcp, http_app

    with bound_socket(settings) as listening:
        token = settings.token if token_file is None else f"in {token_file}"
        say(f"connect to {url_of(settings, listening, None).rstrip('/')}{PATH} with the bearer token {token}")
        try:
            app = http_app(create_mcp(kb, bounds), settings, bounds.max_message)
            server_of(app, lifespan="on").run(sockets=[listening])
        except KeyboardInterrupt:
            say("ended")
