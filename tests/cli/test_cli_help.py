"""Every command explains itself, with an example, and a wrong call is refused in a line."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from cli_run import Runner

from hopgate import __version__
from hopgate.cli import COMMANDS, typer_app


def every_command() -> list[list[str]]:
    group = typer.main.get_command(typer_app(list(COMMANDS)))
    paths: list[list[str]] = []
    for name, command in sorted(group.commands.items()):  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        paths += [[name, sub] for sub in sorted(below)] if below else [[name]]
    return paths


@pytest.mark.parametrize("path", every_command(), ids=" ".join)
def test_help_says_what_it_does_with_an_example(bare: Runner, path: list[str]) -> None:
    told = bare(*path, "--help").out
    assert "Usage: hopgate " + " ".join(path) in told
    assert "Example: hopgate " + path[0] in " ".join(told.split())
    assert bare(*path, "-h").out == told


@pytest.mark.parametrize("path", every_command(), ids=" ".join)
def test_every_option_and_argument_is_documented(path: list[str]) -> None:
    command = typer.main.get_command(typer_app([path[0]]))
    for name in path:
        command = command.commands[name]  # type: ignore[attr-defined]
    assert command.help
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{path} {parameter.name}"


def test_the_list_of_commands(bare: Runner) -> None:
    told = bare("--help").out
    for name, (_, line) in COMMANDS.items():
        assert name in told and line.split()[0] in told
    assert bare("--version").out == f"hopgate {__version__}\n"


def test_the_bare_command_lists_the_commands_too(bare: Runner) -> None:
    ran = bare(status=None)
    assert "Usage: hopgate" in ran.out + ran.err and "Traceback" not in ran.err
    assert all(name in ran.out + ran.err for name in COMMANDS)


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
    ran = bare(*arguments, status=2)
    assert ran.out == "" and "Traceback" not in ran.err and "Error" in ran.err


def test_nothing_heavy_is_imported_for_help_and_nothing_at_all_for_the_package() -> None:
    heavy = "{'numpy', 'scipy', 'onnxruntime', 'sklearn', 'networkx', 'psycopg', 'rich.table'}"
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
