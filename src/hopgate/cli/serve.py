"""`hopgate serve`: the store in a browser, and for programs by HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hopgate.cli.output import opened, say
from hopgate.cli.shared_options import Data, Dsn
from hopgate.errors import HopgateError

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.serve.settings import ServeSettings

Open = Annotated[bool, typer.Option("--open", help="Open it in the browser.")]
Port = Annotated[int | None, typer.Option(help="The port; 0 takes any that is free.", show_default="8377")]


def command(
    host: Annotated[
        str, typer.Option(help="The address to listen on; another than this machine's own needs --token-file.")
    ] = "127.0.0.1",
    port: Port = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Read the token from this file, which only you may read.", show_default="a new one"),
    ] = None,
    show_sensitive: Annotated[
        bool, typer.Option("--show-sensitive", help="Show the texts of sensitive memories, too.")
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse all that would change the store.")] = False,
    scope: Annotated[
        list[str] | None, typer.Option(help="Show and change only memories of this scope; may be given again.")
    ] = None,
    questions: Annotated[
        list[Path] | None,
        typer.Option(help="A folder with queries and qrels that gates may be run on; may be given again."),
    ] = None,
    mcp: Annotated[bool, typer.Option("--mcp", help="Serve assistants, too, under /mcp: see hopgate mcp.")] = False,
    open_browser: Open = False,
    data: Data = None,
    dsn: Dsn = None,
) -> None:
    """Show the store in a browser, and serve it to programs under /api/v1.

    Every request needs the token in the URL that is printed once. Ctrl-C ends it.

    Example: hopgate serve --open
    """
    imported()
    from hopgate.serve.launch import read_token
    from hopgate.serve.settings import PORT, ServeSettings, is_loopback, new_token

    if not is_loopback(host) and token_file is None:
        raise HopgateError(
            f"others can reach {host}: write a token into a file that only you can read, and give it with --token-file"
        )
    settings = ServeSettings(
        read_token(token_file) if token_file else new_token(),
        host=host,
        port=PORT if port is None else port,
        show_sensitive=show_sensitive,
        read_only=read_only,
        scopes=tuple(scope) if scope else None,
        questions=tuple(questions or ()),
        mcp=mcp,
    )
    with opened(data, dsn) as kb:
        run(kb, settings, open_browser=open_browser, token_file=token_file)


def run(
    kb: KnowledgeBase, settings: ServeSettings, *, open_browser: bool = False, token_file: Path | None = None
) -> None:
    """Say where the store is served, and serve it until the end."""
    from hopgate.serve.launch import bound_socket, serve, url_of

    with bound_socket(settings) as listening:
        if token_file is None:
            say(f"open {url_of(settings, listening, settings.token)}")
        else:
            say(f"open {url_of(settings, listening, 'TOKEN')} with the token that is in {token_file}")
        say("Ctrl-C ends it")
        if open_browser:
            import threading
            import webbrowser

            address = url_of(settings, listening, settings.token)
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        try:
            serve(kb, settings, listening)
        except KeyboardInterrupt:
            say("ended")


def imported() -> None:
    """Refuse where what serves is not installed."""
    try:
        import fastapi
        import uvicorn
    except ImportError:
        raise HopgateError("this needs packages that are not installed: run pip install 'hopgate[serve]'") from None
    assert fastapi and uvicorn
