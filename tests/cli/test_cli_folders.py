"""`hopgate ingest` and `watch` keep a folder of notes in step."""

import pytest

from hopgate.cli import memories
from hopgate.sources.source import ReadOptions


@pytest.fixture
def vault(endpoint, monkeypatch, tmp_path):
    monkeypatch.setenv("HOPGATE_EMBEDDER", endpoint.spec)
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    (tmp_path / "vault" / "Cat.md").write_text("The cat sleeps.")
    return tmp_path / "vault"


def test_a_bad_note_is_listed_at_the_end_and_the_others_go_in(run, vault):
    (vault / "Day.md").write_text("---\ndate: 14.03.2024\n---\nRain.\n")
    shown = run("ingest", str(vault), status=1).out.splitlines()
    assert shown[0].endswith("an Obsidian vault, 1 memory, 1 of them new") and shown[-2] == "set aside, 1 item:"
    assert shown[-1].startswith(f"  {vault / 'Day.md'}, line 2: date must be")
    told = run("ingest", str(vault), "--json", status=1).json
    assert [item["where"] for item in told["rejected"]] == [str(vault / "Day.md")]
    assert "Day.md, line 2" in run("ingest", str(vault), "--strict", status=2).refused()


def test_of_several_sources_the_others_are_read(run, vault, tmp_path):
    table = tmp_path / "bought.csv"
    table.write_text("item,price\nUPS,129.50\n")
    shown = run("ingest", str(table), str(vault), "gone.txt", "--later", status=1).out.splitlines()
    assert "1 memory, 1 of them new" in shown[0] and shown[1] == "set aside, 2 items:"
    assert "say which is the text" in shown[2] and "gone.txt cannot be read" in shown[3]
    assert "say which is the text" in run("ingest", str(table), str(vault), "--strict", status=2).refused()


def test_a_folder_is_watched(run, vault):
    assert "embedded 1 memory, linked 1" in run("watch", str(vault), "--once").out
    (vault / "Cat.md").rename(vault / "Tom.md")
    assert "1 memory, 1 of them new, 1 gone" in run("watch", str(vault), "--once").out
    assert "is no folder" in run("watch", str(vault / "Tom.md"), "--once", status=2).err


def test_a_change_is_seen_while_watching(kb, vault, monkeypatch):
    lines: list[object] = []
    monkeypatch.setattr(memories.output, "show", lambda value, shown: lines.extend(shown))
    done = kb.upkeep.watch(look=memories.keeper(kb, [vault], ReadOptions()), wait=20)
    assert next(done).embedded == 1
    (vault / "Cat.md").write_text("The cat eats.")
    assert next(done).embedded == 1
    done.close()
    assert len(lines) == 2 and "0 of them new" in str(lines[1])
