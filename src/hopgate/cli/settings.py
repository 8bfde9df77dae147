"""`hopgate settings`: every value, where it comes from, and what it is for."""

from __future__ import annotations

from typing import Annotated

import typer

from hopgate.cli.output import cell, console, opened, print_json, say
from hopgate.cli.shared_options import AsJson, Data, Dsn

app = typer.Typer(no_args_is_help=False)


@app.callback(invoke_without_command=True)
def show(context: typer.Context, data: Data = None, dsn: Dsn = None, as_json: AsJson = False) -> None:
    """Show every setting of recall, where its value comes from, and what it is for.

    Defaults come first, then what the store holds (set here, or by a gate), then settings.toml, then the environment;
    the later one wins.

    Example: hopgate settings --json
    """
    if context.invoked_subcommand is not None:
        return
    with opened(data, dsn) as kb:
        rows, stale = kb.store_settings.rows(), kb.store_settings.stale_gate()
    if as_json:
        print_json({"settings": rows, "graph_changed_since": stale})
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("setting", "value", "from", "what it is"):
        table.add_column(title, overflow="fold")
    for row in rows:
        shown = "none" if row["value"] is None else str(row["value"])
        table.add_row(*(cell(text) for text in (row["name"], shown, row["source"], row["meaning"])))
    console().print(table)
    if stale:
        say(f"the graph was changed since {stale}: run hopgate gate again to see whether it still holds")


@app.command("set")
def set_value(
    name: Annotated[str, typer.Argument(help="The setting, as hopgate settings names it.")],
    value: Annotated[str, typer.Argument(help="Its value.")],
    data: Data = None,
    dsn: Dsn = None,
) -> None:
    """Set a value for this store, from the next query on.

    Example: hopgate settings set graph 0
    """
    from hopgate.recall.settings import OPTIONS

    with opened(data, dsn) as kb:
        kb.store_settings.set({name: OPTIONS[name].read(value) if name in OPTIONS else value})
        source = kb.store_settings.resolve().sources.get(name, "hopgate settings")
    say(f"set {name} to {value}")
    if source != "hopgate settings":
        say(f"{source} sets it too, and wins")


@app.command("unset")
def unset_value(
    name: Annotated[str, typer.Argument(help="The setting to forget.")], data: Data = None, dsn: Dsn = None
) -> None:
    """Forget what this store sets: the file, the environment or the default decides again.

    Example: hopgate settings unset graph
    """
    with opened(data, dsn) as kb:
        kb.store_settings.unset([name])
        source = kb.store_settings.resolve().sources.get(name, "default")
    say(f"{name} comes from {source} again")
