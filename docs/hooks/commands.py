"""`docs/cli.md`: every command with its options, every setting and variable; `make docs` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from hopgate.cli import COMMANDS, application
from hopgate.options import Environment, Option, as_rows, options_of
from hopgate.recall.settings import OPTIONS

HEAD = """# Command line

Exit status: 0 for success (any verdict included, unless `--exit-code` asks), 2 for a mistake of the user's or of the
data's, with one sentence that says what to do.
"""
SETTINGS = """## Settings

`hopgate settings set NAME VALUE`, `NAME = VALUE` in `settings.toml`, or the variable `HOPGATE_NAME`.
"""
VARIABLES = """## Variables
"""


def reference() -> str:
    """The page."""
    context = click.Context(application, info_name="hopgate", **application.context_settings)
    commands = (application.get_command(context, name) for name in COMMANDS)
    pages = (text for command in commands if command for text in _command(command, context))
    variables = [Option(each.variable, str, "", each.meaning, shown=each.shown) for each in options_of(Environment)]
    return "\n".join([HEAD, *pages, SETTINGS, _rows(OPTIONS.values()), VARIABLES, _rows(variables)])


def _rows(options: Iterable[Option]) -> str:
    lines = (f"| `{row['name']}` | {row['meaning']} | {row['default']} | {row['limits']} |" for row in as_rows(options))
    return "| | | default | |\n|---|---|---|---|\n" + "\n".join(lines) + "\n"


def _command(command: click.Command, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=command.name, parent=parent)
    text, _, example = f"{command.help}\n\n{command.epilog or ''}".partition("Example:")
    yield f"## {context.command_path}\n"
    yield "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n")) + "\n"
    if example:
        yield f"```text\n{' '.join(example.split())}\n```\n"
    rows = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    if rows:
        yield "| | |\n|---|---|\n" + "\n".join(f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows) + "\n"
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from _command(inner, context)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    (Path(__file__).parents[1] / "cli.md").write_text(reference(), encoding="utf-8")
