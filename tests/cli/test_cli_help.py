"""Every command explains itself, with an example, and a wrong call is refused in a line."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from cli_run import Runner

from hopgate import __version__
from hopgate.cli import COMMANDS, application


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


@pytest.mark.parametrize(("path", "command"), every_command().items(), ids=str)
def test_help_explains_everything_with_an_example(bare: Runner, path: str, command: click.Command) -> None:
    told = bare(*path.split(), "--help").out
    assert f"Usage: hopgate {path}" in told and command.help
    if not isinstance(command, click.Group):
        assert f"Example: hopgate {path.split(maxsplit=1)[0]}" in " ".join(told.split())
    assert bare(*path.split(), "-h").out == told
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{path} {parameter.name}"


def test_shells_complete_commands_and_options(bare: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "_HOPGATE_COMPLETE=bash_complete" in bare("completion", "bash").out
    assert "fish" in bare("completion", "fish").out

    def completed(words: str, at: int) -> list[str]:
        monkeypatch.setenv("_HOPGATE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(at))
        return bare().out.split()

    assert completed("hopgate re", 1) == ["plain,restore", "plain,recall", "plain,report"]
    assert completed("hopgate recall x --sort-by rel", 4) == ["plain,relevance"]
    assert "plain,--lexical-ranker" in completed("hopgate recall x --lex", 3)


def test_the_list_of_commands(bare: Runner) -> None:
    told = bare("--help").out
    for name, (_, line) in COMMANDS.items():
        assert name in told and line.split()[0] in told
    assert bare("--version").out == f"hopgate {__version__}\n"


def test_the_bare_command_lists_the_commands_too(bare: Runner) -> None:
    assert all(name in bare().out for name in COMMANDS)


@pytest.mark.parametrize(
    "arguments",
    [
        ["recal", "x"],
        ["recall"],
        ["recall", "x", "--k", "ten"],
        ["recall", "x", "--colour"],
        ["db", "upgrad"],
        ["delete"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_refused_without_a_traceback(bare: Runner, arguments: list[str]) -> None:
    assert "--help" in bare(*arguments, status=2).refused() or "a number" in bare(*arguments, status=2).refused()


def test_nothing_heavy_is_imported_for_help_and_nothing_at_all_for_the_package() -> None:
    heavy = "{'numpy', 'scipy', 'onnxruntime', 'sklearn', 'networkx', 'rich', 'pydantic'}"
    code = (
        f"import sys, hopgate\nheavy = {heavy}\nbad = heavy & set(sys.modules); assert not bad, bad\n"
        "from hopgate.cli import main\ntry: main(['recall', '--help'])\nexcept SystemExit: pass\n"
        "bad = heavy & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_a_lexical_recall_imports_no_numpy_and_no_graph(dsn: str) -> None:
    code = (
        "import sys\nfrom hopgate.cli import main\n"
        f"main(['recall', 'x', '--dense', '0', '--graph', '0', '--json', '--dsn', {dsn!r}])"
    )
    check = (
        "\nheavy = {'numpy', 'scipy', 'onnxruntime', 'tokenizers', 'rich.table', 'hopgate.extract'}"
        "\nbad = heavy & set(sys.modules); assert not bad, bad"
    )
    wrapped = code.replace("\nmain(", "\ntry: main(") + "\nexcept SystemExit: pass" + check
    done = subprocess.run([sys.executable, "-c", wrapped], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
