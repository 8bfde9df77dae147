"""`hopgate serve` and `mcp`: the store in a browser, by HTTP, and for assistants."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopgate.cli import parameters
from hopgate.cli.output import say
from hopgate.cli.parameters import Location, click_options, flag, on_store, path
from hopgate.errors import HopgateError
from hopgate.serve.settings import Bounds, ServeSettings, is_loopback, new_token, own_text, read_bearers

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

ASKED = ("scopes", "read_only", "show_sensitive", "host", "port", "mcp")


@click.command("serve", epilog="Example: hopgate serve --read-only --open")
@click_options(ServeSettings, only=ASKED)
@path("--token-file", "Read the token from this file, which only you may read.", show_default="a new one, printed once")
@path("--tokens", "Let the tokens of this TOML file in, too, each with scopes, read_only and rate of its own.")
@flag("--open", "Open it in the browser.", "open_browser")
@on_store
def serve(location: Location, token_file: Path | None, tokens: Path | None, open_browser: bool, **given: Any) -> None:
    """Show the store in a browser, and serve it to programs under /api/v1.

    Every request needs the token in the URL that is printed once. Ctrl-C ends it.
    """
    require_packages()
    host = given["host"]
    if token_file is None and host is not None and not is_loopback(host):
        raise HopgateError(
            f"others can reach {host}: write a token into a file that only you can read, and give it with --token-file"
        )
    token = new_token() if token_file is None else own_text(token_file)
    bearers = () if tokens is None else read_bearers(tokens)
    settings = ServeSettings(token, bearers=bearers, **parameters.values(given))
    with location.opened(create=not settings.read_only) as kb:
        run(kb, settings, open_browser=open_browser, token_file=token_file)


def run(
    kb: KnowledgeBase, settings: ServeSettings, *, open_browser: bool = False, token_file: Path | None = None
) -> None:
    """Say where the store is served, and serve it until the end."""
    from hopgate.serve import launch

    with launch.bound_socket(settings) as listening:
        address = launch.url_of(settings, listening, settings.token)
        hidden = launch.url_of(settings, listening, "TOKEN")
        say(f"open {address}" if token_file is None else f"open {hidden} with the token that is in {token_file}")
        say("Ctrl-C ends it")
        if open_browser:
            import threading
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            launch.serve(kb, settings, listening)
    say("ended")


@click.command("mcp", epilog="Example: hopgate mcp --scope home --read-only")
@click_options(Bounds)
@on_store
def mcp(location: Location, **given: Any) -> None:
    """Offer the store to an assistant by the Model Context Protocol: remember, recall, explain, forget.

    An assistant starts it itself and talks to it on standard input and output; hopgate serve --mcp does so by HTTP.
    Sensitive memories are not there without --show-sensitive. The first --scope is the one that is written to.
    """
    require_packages("mcp")
    from hopgate.serve.mcp import create_mcp, run_stdio

    bounds = Bounds(**parameters.values(given))
    with location.opened(create=not bounds.read_only) as kb:
        run_stdio(create_mcp(kb, bounds))


def require_packages(*names: str) -> None:
    """Refuse where what serves is not installed."""
    for name in ("fastapi", "uvicorn", *names):
        try:
            importlib.import_module(name)
        except ImportError:
            sentence = "this needs packages that are not installed: run pip install 'hopgate[serve]'"
            raise HopgateError(sentence) from None
