"""Odd input: one sentence and status 2; and what a terminal or another program would obey is only shown."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_run import Runner

from hopgate import Memory
from hopgate.errors import HopgateError
from hopgate.exports.memories import ConceptPage, write_vault
from hopgate.kb import KnowledgeBase

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dsn: str) -> Runner:
    return Runner(capsys, "--dsn", dsn)


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "x", "--scope", "\udcff"),
        ("recall", "\udcff"),
        ("add", "x", "--scope", "\udcff"),
        ("add", "\udcff"),
        ("delete", "\udcff"),
        ("sensitive", "\udcff"),
        ("show", "\udcff"),
        ("edges", "\udcff"),
        ("concepts", "show", "\udcff"),
        ("settings", "set", "fuser", "\udcff"),
        ("ingest", "/nowhere/\udcff"),
    ],
)
def test_arguments_that_are_not_utf_8(run: Runner, arguments: tuple[str, ...]) -> None:
    run(*arguments, status=2).refused()


def test_nul_in_ids_and_scopes(kb: KnowledgeBase) -> None:
    kb.add(Memory("m", "Ada keeps the key."))
    for ask in (
        lambda: kb.recall("key", scope="a\0b"),
        lambda: kb.recall("key", exclude=["a\0"]),
        lambda: kb.get("a\0"),
        lambda: kb.delete(["a\0"]),
        lambda: kb.mark_sensitive(["a\0"]),
        lambda: kb.graph.edges("a\0"),
        lambda: kb.graph.concepts(scope="a\0"),
        lambda: kb.add(Memory("a\0", "x")),
        lambda: kb.get("a\ud800"),
    ):
        try:
            assert not ask()
        except HopgateError as error:
            assert "\n" not in str(error)


def test_what_a_terminal_obeys_does_not_reach_it(kb: KnowledgeBase, run: Runner) -> None:
    kb.add(Memory(f"id{ESCAPE}", f"Ada Byron lives in London.{ESCAPE}", title=f"Title{ESCAPE}", scope=f"s{ESCAPE}"))
    kb.build()
    shown = ""
    for arguments in (
        ("recall", "Ada Byron", "--explain"),
        ("recall", "Ada Byron", "--json"),
        ("show", f"id{ESCAPE}"),
        ("edges", "Ada Byron"),
        ("concepts", "list"),
        ("export",),
        ("graph", "export", "--format", "graphml", "--memories"),
        ("graph", "export", "--format", "json", "--memories"),
    ):
        ran = run(*arguments, status=None)
        assert not {"\x1b", "\x07", "\x9b"} & set(ran.out + ran.err), arguments
        shown += ran.out
    assert "Ada" in shown
    assert not {"\x1b", "\x07", "\x9b"} & set(run("delete", f"nobody{ESCAPE}", status=2).err)


def test_graphml_is_xml_whatever_names_hold(kb: KnowledgeBase, run: Runner) -> None:
    kb.add(Memory("a<&\"'\x01\ufffe", "Ada Byron lives in London.", title="<b>&"))
    kb.build()
    graph = ElementTree.fromstring(run("graph", "export", "--format", "graphml", "--memories").out)
    assert len(graph.findall(".//{*}node")) >= 3


def test_a_vault_shows_names_and_obeys_none(tmp_path: Path) -> None:
    page = ConceptPage("<img src=x> [a](b)", "k: {x}", ("a\u2028b",), (("says |[x](y)", "<b>", True, ()),))
    write_vault(tmp_path / "vault", [], [page], {})
    (written,) = (tmp_path / "vault" / "Concepts").glob("*.md")
    text = written.read_text()
    assert "<img" not in text and "[a](b)" not in text and "<b>" not in text and "\u2028" not in text
