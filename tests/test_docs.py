"""Every python and console block of the README and the guide runs, and every command and option is documented."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from docs_run import assert_shown, blocks, commands, run_command, run_python
from word_endpoint import serving

import hopgate
from hopgate.plot.example import fill
from hopgate.store.embedded import EmbeddedServer

ROOT = Path(__file__).parents[1]
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
PAGES = [ROOT / "README.md", *GUIDE]
# What a page may show without the tests running it: other programs, and models that are not on every machine.
SHELL = (
    "git ",
    "cd ",
    "make ",
    "pip ",
    "python -m venv",
    "python -m pip",
    "export ",
    "createdb ",
    "psql ",
    "sudo ",
    ". ",
)
ADDRESS = "postgresql://me@localhost/notes"
ENDPOINT = "openai:my-model@http://localhost:8080/v1"


@pytest.fixture(scope="session")
def example(server: EmbeddedServer, template: str) -> str:
    """A database with the synthetic corpus and its graph, to be copied."""
    name = "docs_example"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    with hopgate.open(server.dsn.replace("dbname=postgres", f"dbname={name}")) as kb:
        fill(kb)
    return name


@pytest.fixture
def place(
    server: EmbeddedServer, example: str, template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """An empty folder, a store with the example in it, and a real address for each one that pages make up."""
    monkeypatch.chdir(tmp_path)
    names = {"docs_filled": example, "docs_empty": template}
    with psycopg.connect(server.dsn, autocommit=True) as connection, serving("my-model") as endpoint:
        for name, source in names.items():
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {source}")
        host = quote(connection.info.host, safe="")
        filled, empty = (f"postgresql://{connection.info.user}@/{name}?host={host}" for name in names)
        monkeypatch.setenv("HOPGATE_STORE", filled)
        yield {ADDRESS: empty, ENDPOINT: endpoint.spec}
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs(page: Path, place: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name == "README.md":
        monkeypatch.setenv("HOPGATE_STORE", place[ADDRESS])
    namespace = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks(page, place):
            if block.language == "python":
                run_python(block, namespace)
            elif block.language == "console":
                for line, expected in commands(block):
                    assert_shown(expected, run_command(line), f"{block}: {line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_not_run_is_other_programs(page: Path) -> None:
    for block in blocks(page):
        assert block.language in ("python", "console", "sh", "json", "toml", "text"), block
        if block.language == "sh":
            for line in filter(None, map(str.strip, block.text.splitlines())):
                assert line.startswith((*SHELL, "#")) or "MODEL" in line, f"{block}: a test could run {line}"


def test_the_reference_of_commands_is_what_the_commands_say() -> None:
    from docs_commands import reference

    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference(), "run make docs to write it anew"
