"""Tags and flags in every shape in which notes and tables have them: each is read as what it is, or refused."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.memory import Memory
from hopgate.sources.read import read_source
from hopgate.sources.source import LeftOutWarning

RULES = SensitivityRules(tags=("secret",))

SHAPES = (Path(__file__).parent / "front_matter.txt").read_text(encoding="utf-8").split("## ")[1:]
ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\ufeff": "\ufeff"}
BODY = "The code is 1234.\n"


def shapes(words: str) -> list[str]:
    """What stands above a note's text, of the lists whose headings have these words."""
    texts = []
    for heading, rows in (shape.split("\n", 1) for shape in SHAPES):
        for row in rows.splitlines() if words in heading else ():
            text = re.sub(r"\\(n|r|t|ufeff)", lambda match: ESCAPES[match[0]], row)
            texts.append(f"---\n{text}\n---\n" if heading.startswith("front matter") else text)
    return [text for text in texts if text.strip("-\n")]


def note(folder: Path, text: str) -> Memory:
    (folder / "note.md").write_bytes((text + BODY).encode())
    [memory] = RULES.applied(read_source(folder).memories)
    return memory


@pytest.mark.parametrize("text", shapes("sensitive note"), ids=repr)
def test_a_marked_note_is_sensitive(tmp_path, text):
    memory = note(tmp_path, text)
    assert memory.is_sensitive and memory.text == BODY.strip()


@pytest.mark.parametrize("text", shapes("refused"), ids=repr)
def test_what_is_not_understood_is_refused(tmp_path, text):
    with pytest.raises(HopgateError, match=r"note\.md") as refused:
        note(tmp_path, text)
    assert "1234" not in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "---\n", "---\n---\n", "---\n\nA line above.\n", "# Title\n\n---\n\nWhen: at nine.\n\n---\n"], ids=repr
)
def test_a_plain_note_is_not_sensitive(tmp_path, text):
    memory = note(tmp_path, text)
    assert not memory.is_sensitive and BODY.strip() in memory.text


def rows(folder: Path, name: str, text: str) -> Iterator[Memory | HopgateError]:
    (folder / name).write_text(text)
    for _, memory in read_source(folder / name).items:
        yield memory if isinstance(memory, HopgateError) else next(RULES.applied([memory]))


@pytest.mark.parametrize(
    "cell",
    [
        "secret",
        "home|secret",
        "home;secret",
        "home, secret",
        " secret ",
        "#Secret",
        '["secret"]',
        '["home", secret]',
        "{home,secret}",
    ],
)
def test_a_tag_of_a_table(tmp_path, cell):
    quoted = '"' + cell.replace('"', '""') + '"'
    [memory] = rows(tmp_path, "notes.csv", f"text,tags\nThe code.,{quoted}\n")
    assert isinstance(memory, Memory) and memory.is_sensitive


FLAGS = {True: ("true", "Yes", " 1 "), False: ("false", "no", "0"), None: ("", "x")}


@pytest.mark.parametrize(
    ("cell", "sensitive"), [(cell, sensitive) for sensitive, cells in FLAGS.items() for cell in cells]
)
def test_a_flag_of_a_table(tmp_path, cell, sensitive):
    [memory] = rows(tmp_path, "notes.csv", f"text,is_sensitive\nThe code.,{cell}\n")
    if sensitive is None:
        assert isinstance(memory, HopgateError)
    else:
        assert isinstance(memory, Memory) and memory.is_sensitive is sensitive


def test_tags_that_look_the_same_are_the_same():
    rules = SensitivityRules(tags=("é", "#Top Secret"))
    for tag in ("e\u0301", "É", "é/keys", "top  secret", " #TOP SECRET ", "top\u00a0secret"):
        assert rules.meets(Memory("m1", "x", tags=(tag,))), tag
    for tag in ("e", "top", "topsecret", "secret", "keys/é"):
        assert not rules.meets(Memory("m1", "x", tags=(tag,))), tag


def test_links_are_not_followed_and_what_leaves_the_folder_is_named(tmp_path):
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    for folder in (vault / "real", outside):
        folder.mkdir(parents=True)
        (folder / "note.md").write_text("A note.\n")
    for name, target in (("a", "."), ("b", "."), ("real/up", ".."), ("again", "real"), ("copy.md", "real/note.md")):
        (vault / name).symlink_to(target)
    assert [memory.external_id for memory in read_source(vault).memories] == ["real/note.md"]
    (vault / "out").symlink_to(outside)
    (vault / "out.md").symlink_to(outside / "note.md")
    with pytest.warns(LeftOutWarning, match="is a link out of") as named:
        assert len(list(read_source(vault).memories)) == 1
    assert {str(vault / "out"), str(vault / "out.md")} == {str(warning.message).split()[0] for warning in named}
