"""Every command explains itself with an example, shells complete it, and little is imported for it."""

import subprocess
import sys

import click
import pytest

from hopgate import __version__
from hopgate.cli import COMMANDS, application
from hopgate.eval.measures import KINDS
from hopgate.sources.read import FORMATS


def every_command() -> dict[str, click.Command]:
    """Each command by its whole name, those of groups among them."""
    commands: dict[str, click.Command] = {}
    context = click.Context(application)
    for name in COMMANDS:
        command = application.get_command(context, name)
        assert command is not None
        commands[name] = command
        if isinstance(command, click.Group):
            commands |= {f"{name} {inner}": part for inner, part in command.commands.items()}
    return commands


def test_help_explains_everything_with_an_example(bare):
    for path, command in every_command().items():
        shown = bare(*path.split(), "--help").out
        assert f"Usage: hopgate {path}" in shown and command.help, path
        if not isinstance(command, click.Group):
            assert f"Example: hopgate {path.split(maxsplit=1)[0]}" in " ".join(shown.split()), path
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{path} {parameter.name}"


@pytest.mark.parametrize(
    ("command", "option", "known"),
    [("ingest", "form", [source.name for source in FORMATS]), ("gate", "measure", KINDS)],
    ids=["sources", "measures"],
)
def test_help_names_every_value_that_an_option_takes(command, option, known):
    [parameter] = [each for each in every_command()[command].params if each.name == option]
    assert [name for name in known if name not in str(getattr(parameter, "help", ""))] == []


def test_the_list_of_commands(bare):
    shown = bare("--help").out
    assert bare("-h").out == shown and all(name in bare().out for name in COMMANDS)
    for name, (_, line) in COMMANDS.items():
        assert name in shown and line.split()[0] in shown
    assert bare("--version").out == f"hopgate {__version__}\n"


def test_shells_complete_commands_and_options(bare, monkeypatch):
    assert "_HOPGATE_COMPLETE=bash_complete" in bare("completion", "bash").out
    assert "fish" in bare("completion", "fish").out

    def completed(words: str, at: int) -> list[str]:
        monkeypatch.setenv("_HOPGATE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(at))
        return bare().out.split()

    assert completed("hopgate re", 1) == ["plain,recall", "plain,restore", "plain,report"]
    assert completed("hopgate recall x --sort-by rel", 4) == ["plain,relevance"]
    assert "plain,--lexical-ranker" in completed("hopgate recall x --lex", 3)


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["recall", "--help"], "numpy scipy onnxruntime networkx rich pydantic"),
        (
            ["recall", "x", "--dense", "0", "--graph", "0", "--json", "--dsn", "DSN"],
            "scipy rich.table",
        ),
    ],
)
def test_little_is_imported(dsn, arguments, heavy):
    given = [dsn if each == "DSN" else each for each in arguments]
    code = (
        f"import sys, hopgate\nheavy = set({heavy.split()!r})\nassert not heavy & set(sys.modules)\n"
        f"from hopgate.cli import main\ntry: main({given!r})\nexcept SystemExit: pass\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
