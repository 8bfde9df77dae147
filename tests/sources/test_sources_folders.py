"""A folder of notes is kept in step: ids, what is left out, what is gone, and what cannot be read."""

import json
import os

import pytest
import samples

from hopgate.errors import HopgateError
from hopgate.memory import Memory
from hopgate.sources.read import read_source
from hopgate.sources.source import LeftOutWarning, ReadOptions

NOTES = {"Cat.md": "The cat sleeps.", "Home/Boiler.md": "It hums.", "Home/Attic/Lamp.md": "It is dim."}
# What stands in a note -> what is said of it, after its path.
WRONG = {
    b"---\ntitle: x\ndate: {{date}}\n---\nA template.": "line 3: the front matter is no YAML",
    b"---\ndate: 14.03.2024\n---\nA day.": "line 2: date must be an ISO 8601 date or time, not '14.03.2024'",
    b"A line.\nca\xe9": "line 2: not UTF-8 at byte 10",
    b"---\nis_sensitive: ture\n---\nA secret.": "line 2: is_sensitive must be true or false",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "notes" / name).write_text(text)
    return tmp_path / "notes"


def ids(kb):
    return {memory.external_id for memory in kb.export()}


@pytest.mark.parametrize("mark", [".obsidian/app.json", ".hopgateignore", None])
@pytest.mark.parametrize("part", ["", "Home", "Home/Attic", "Home/Attic/Lamp.md"])
def test_a_note_has_the_id_that_it_has_in_its_folder(kb, folder, mark, part, monkeypatch):
    if mark is None:
        # A folder that shows nothing is known by what came from it.
        kb.ingest(folder)
    else:
        (folder / mark).parent.mkdir(exist_ok=True)
        (folder / mark).touch()
    monkeypatch.chdir(folder)
    kb.ingest(part or ".")
    assert ids(kb) == {name for name in NOTES if mark is None or name.startswith(part)}


def test_what_was_deleted_or_renamed_goes_and_nothing_else(kb, folder):
    kb.add(Memory("mine.md", "Not from there."))
    kb.ingest(folder / "Home" / "Attic")
    assert kb.ingest(folder, prune=True).pruned == 1 and ids(kb) == {*NOTES, "mine.md"}
    (folder / "Cat.md").unlink()
    assert kb.ingest(folder / "Home", prune=True).pruned == 0
    (folder / "Home" / "Boiler.md").rename(folder / "Home" / "Heating.md")
    (folder / "Home" / "Attic" / "Lamp.md").write_bytes(b"\xff")
    with pytest.warns(UserWarning, match=r"1 set aside, first .*Lamp\.md, line 1: not UTF-8"):
        written = kb.ingest(folder, prune=True)
    assert (written.pruned, written.added) == (2, 1)
    # What came from a file that cannot be read now stays.
    assert ids(kb) == {"Home/Heating.md", "Home/Attic/Lamp.md", "mine.md"}
    with pytest.raises(HopgateError, match="only a folder of notes"):
        kb.ingest(folder / "Home" / "Heating.md", prune=True)
    with pytest.raises(HopgateError, match="read to its end"):
        kb.ingest(folder, prune=True, limit=1)


def test_notes_of_one_folder_and_one_moment_are_no_conversation(kb, folder):
    for name in ("Attic.md", "Cellar.md"):
        (folder / "Home" / name).write_text(f"---\ndate: 2024-05-01T10:00:00+09:00\n---\nThe {name[:-3]} is dry.")
    kb.ingest(folder)
    kb.build()
    with kb.store.transaction() as connection:
        assert connection.execute("SELECT * FROM hopgate_arcs(NULL)").fetchall() == []


def test_sections_stay_where_their_note_cannot_be_read(kb, folder):
    (folder / "Cat.md").write_text("# Cat\n\n## Food\n\nFish.\n\n## Bed\n\nA box.\n")
    kb.ingest(folder, options=ReadOptions(sections=True))
    (folder / "Cat.md").write_bytes(b"\xff")
    with pytest.warns(UserWarning, match="1 set aside"):
        assert kb.ingest(folder, options=ReadOptions(sections=True), prune=True).pruned == 0
    assert {"Cat.md#food", "Cat.md#bed"} < ids(kb)


def test_what_is_listed_in_hopgateignore_is_left_out(folder):
    (folder / ".hopgateignore").write_text("# mine\nAttic/\n*at.md\n!Home/Hat.md\n")
    (folder / "Home" / "Hat.md").write_text("It is red.")
    for place in (folder, folder / "Home"):
        assert [memory.external_id for memory in read_source(place).memories] == ["Home/Boiler.md", "Home/Hat.md"]


@pytest.mark.parametrize("line", ["\\", "a*a*a*a*a*b", "**/x/**/x/**/y"])
def test_a_line_of_hopgateignore_that_is_no_pattern_or_never_ends_is_refused(folder, line):
    os.mkfifo(folder / "pipe.md")
    (folder / ".hopgateignore").write_text(f"*.tmp\n{line}\n")
    with pytest.raises(HopgateError, match=r"hopgateignore, line 2: not a pattern"):
        list(read_source(folder).memories)
    (folder / ".hopgateignore").unlink()
    assert "pipe.md" not in [memory.external_id for memory in read_source(folder).memories]


def test_what_is_no_note_is_named(folder):
    (folder / "Home" / "chat.json").write_text("[]")
    with pytest.warns(LeftOutWarning, match=r"Home/chat\.json and the like \(1 in all\) are given by name"):
        assert len(list(read_source(folder).memories)) == len(NOTES)


@pytest.mark.parametrize(("text", "reason"), WRONG.items())
def test_a_note_that_cannot_be_read_is_set_aside(folder, text, reason):
    (folder / "Bad.md").write_bytes(text)
    source = read_source(folder)
    assert {memory.external_id for memory in source.memories} == set(NOTES)
    [item] = source.rejected
    assert str(item).startswith(f"{folder / 'Bad.md'}, {reason}")
    for refused in (read_source(folder / "Bad.md"), read_source(folder, options=ReadOptions(strict=True))):
        with pytest.raises(HopgateError, match=r"Bad\.md, line"):
            list(refused.memories)


def test_a_bad_conversation_or_day_is_set_aside(tmp_path):
    export, days = samples.claude(tmp_path) / "conversations.json", samples.slack(tmp_path)
    rows = json.loads(export.read_text())
    export.write_text(json.dumps([{**rows[0], "chat_messages": [{"uuid": "x", "text": ["?"], "sender": 1}, 7]}, *rows]))
    (days / "general" / "2024-05-02.json").write_text("{")
    for path, what in ((export, "conversation 1"), (days, "general/2024-05-02.json")):
        source = read_source(path)
        assert len(list(source.memories)) == 2 and [what in str(item) for item in source.rejected] == [True]
