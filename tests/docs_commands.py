"""`docs/cli.md`, written from the commands themselves; `python tests/docs_commands.py` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

HEAD = """# Command line

Every command and option, written from the commands themselves by `make docs`; a test fails where this page and they
differ. Exit status: 0 for success (any verdict included, unless `--exit-code` asks), 2 for a mistake of the user's or
of the data's, with one sentence that says what to do.
"""


def reference() -> str:
    import typer

    from hopgate.cli import COMMANDS, typer_app

    root: Any = typer.main.get_command(typer_app(list(COMMANDS)))
    parts = [HEAD, *(text for name in COMMANDS for text in _command(root.commands[name], ["hopgate", name]))]
    return "\n".join(parts)


def undocumented(command: Any, name: str) -> list[str]:
    """Options and arguments that say nothing about themselves."""
    faults = [] if command.help else [name]
    return faults + [f"{name} {_title(one)}" for one in command.params if not getattr(one, "help", None)]


def _command(command: Any, path: list[str]) -> Iterator[str]:
    group = hasattr(command, "commands")
    if group and not any(_shown(command)):
        for name, part in command.commands.items():
            yield from _command(part, [*path, name])
        return
    faults = undocumented(command, " ".join(path))
    assert not faults, f"say what these are for: {faults}"
    text, _, example = command.help.partition("Example:")
    yield f"## {' '.join(path)}\n"
    yield "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n")) + "\n"
    if example:
        yield f"```text\n{' '.join(example.split())}\n```\n"
    if shown := _shown(command):
        yield "| | |\n|---|---|\n" + "\n".join(f"| `{_title(one)}` | {_help(one)} |" for one in shown) + "\n"
    for name, part in command.commands.items() if group else ():
        yield from _command(part, [*path, name])


def _shown(command: Any) -> list[Any]:
    return [one for one in command.params if "--help" not in one.opts]


def _title(one: Any) -> str:
    if one.param_type_name == "argument":
        return str(one.metavar or one.name.upper())
    names = ", ".join([*one.opts, *one.secondary_opts])
    return names if one.is_flag else f"{names} {_kind(one)}"


def _kind(one: Any) -> str:
    names = {int: "N", float: "X", str: "TEXT", Path: "PATH", datetime: "DATE", list[str]: "TEXT", list[Path]: "PATH"}
    kind = one.type_descriptor.annotation
    return "|".join(kind) if _is_choice(kind) else names[kind]


def _is_choice(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def _help(one: Any) -> str:
    text = " ".join((getattr(one, "help", "") or "").split()).replace("|", "\\|")
    default = getattr(one, "show_default", None)
    if isinstance(default, str):
        return f"{text} Default: {default}."
    if one.param_type_name != "argument" and not one.is_flag and one.default not in (None, ()) and not one.multiple:
        return f"{text} Default: {one.default}."
    return text


if __name__ == "__main__":
    target = Path(__file__).parents[1] / "docs" / "cli.md"
    target.write_text(reference(), encoding="utf-8")
