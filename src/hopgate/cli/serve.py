"""`hopgate serve` and `mcp`: the store in a browser, by HTTP, and for assistants; and `completion` for shells."""

from __future__ import annotations

import contextlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopgate.cli import parameters
from hopgate.cli.output import say
from hopgate.cli.parameters import PATH, Where, click_options, flag, on_store
from hopgate.errors import HopgateError
from hopgate.options import options_of
from hopgate.serve.settings import MCP_PORT, ServeSettings, is_loopback, new_token

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

token_file = click.option(
    "--token-file",
    type=PATH,
    help="Read the token from this file, which only you may read.",
    show_default="a new one, printed once",
)
MCP_ASKED = ("scopes", "read_only", "show_sensitive", "host", "port")
ASKED = (*MCP_ASKED, "questions", "mcp")


@click.command("serve")
@click_options(option for option in options_of(ServeSettings) if option.name in ASKED)
@token_file
@flag("--open", "Open it in the browser.", "open_browser")
@on_store
def serve(where: Where, token_file: Path | None, open_browser: bool, **given: Any) -> None:
    """Show the store in a browser, and serve it to programs under /api/v1.

    Every request needs the token in the URL that is printed once. Ctrl-C ends it.

    Example: hopgate serve --read-only --open
    """
    require_packages()
    settings = ServeSettings(_token(given["host"], token_file), **parameters.values(given))
    with where.opened() as kb:
        run(kb, settings, open_browser=open_browser, token_file=token_file)


def run(
    kb: KnowledgeBase, settings: ServeSettings, *, open_browser: bool = False, token_file: Path | None = None
) -> None:
    """Say where the store is served, and serve it until the end."""
    from hopgate.serve import launch

    with launch.bound_socket(settings) as listening:
        address = launch.url_of(settings, listening, settings.token)
        if token_file is None:
            say(f"open {address}")
        else:
            say(f"open {launch.url_of(settings, listening, 'TOKEN')} with the token that is in {token_file}")
        say("Ctrl-C ends it")
        if open_browser:
            import threading
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            launch.serve(kb, settings, listening)
    say("ended")


@click.command("mcp")
@click_options(option for option in options_of(ServeSettings) if option.name in MCP_ASKED)
@flag("--http", "Serve by HTTP under /mcp, at --host and --port (8378), instead of on standard input.")
@token_file
@on_store
def mcp(where: Where, http: bool, token_file: Path | None, **given: Any) -> None:
    """Offer the store to an assistant by the Model Context Protocol: remember, recall, explain, forget.

    An assistant starts it itself and talks to it on standard input and output. With --http it is a server of its own,
    behind a token that is printed once. Sensitive memories are not there without --show-sensitive. The first --scope is
    the one that is written to.

    Example: hopgate mcp --scope home --read-only
    """
    require_packages("mcp")
    from hopgate.serve.mcp import PATH, create_mcp, http_app, run_stdio

    settings = ServeSettings(_token(given["host"], token_file), **{"port": MCP_PORT, **parameters.values(given)})
    with where.opened() as kb:
        if not http:
            run_stdio(create_mcp(kb, settings))
            return
        from hopgate.serve.launch import bound_socket, server_of, url_of

        with bound_socket(settings) as listening:
            token = settings.token if token_file is None else f"in {token_file}"
            say(f"connect to {url_of(settings, listening, None).rstrip('/')}{PATH} with the bearer token {token}")
            with contextlib.suppress(KeyboardInterrupt):
                server_of(http_app(kb, settings), settings, lifespan="on").run(sockets=[listening])
            say("ended")


def _token(host: str | None, token_file: Path | None) -> str:
    """The token of a file, or a new one where only this machine can reach the server."""
    if token_file is not None:
        from hopgate.serve.launch import read_token

        return read_token(token_file)
    if host is not None and not is_loopback(host):
        raise HopgateError(
            f"others can reach {host}: write a token into a file that only you can read, and give it with --token-file"
        )
    return new_token()


def require_packages(*names: str) -> None:
    """Refuse where what serves is not installed."""
    for name in ("fastapi", "uvicorn", *names):
        try:
            there = importlib.util.find_spec(name) is not None
        except ValueError:
            there = False
        if not there:
            raise HopgateError("this needs packages that are not installed: run pip install 'hopgate[serve]'")


@click.command("completion")
@click.argument("shell", help="The shell.", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete hopgate's commands and options.

    Example: hopgate completion bash > ~/.local/share/bash-completion/completions/hopgate
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    say(kind(context.find_root().command, {}, "hopgate", "_HOPGATE_COMPLETE").source())
