"""`mend`: what was changed by hand is listed in words, and taken back by its id where the store can."""

from __future__ import annotations

from cli_run import Runner

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory


def test_what_was_changed_by_hand_is_listed_and_taken_back(run: Runner, kb: KnowledgeBase) -> None:
    assert "nothing was changed by hand" in run("log").out
    kb.add(
        Memory("m1", "Ada Lovelace lives in London."),
        Memory("m2", "Augusta King met Charles Babbage in Paris."),
        Memory("m3", "The printer is in the attic."),
    )
    kb.build()
    kb.graph.merge("Ada Lovelace", "Augusta King")
    kb.mark_sensitive(["m1"])
    kb.delete(["m3"])
    gone, mark, merge = kb.upkeep.log()
    lines = run("log").out.splitlines()
    assert [line.split()[0] for line in lines] == [str(entry.id) for entry in (gone, mark, merge)]
    assert lines[0].endswith("1 memory was deleted")
    assert f"1 memory was marked as sensitive (m1) · hopgate undo {mark.id}" in lines[1]
    assert "'Augusta King' became part of" in lines[2]
    assert "cannot be undone" in run("undo", str(gone.id), status=2).refused()
    # What it would show is said first.
    assert "add --yes" in run("undo", str(mark.id), status=2).refused()
    assert kb.get("m1").is_sensitive  # type: ignore[union-attr]
    assert run("undo", str(mark.id), "--yes", "--json").json["undone_at"]
    assert not kb.get("m1").is_sensitive  # type: ignore[union-attr]
    assert "taken back: 'Augusta King' became part of" in run("undo", str(merge.id)).out
    assert "was undone already" in run("undo", str(merge.id), status=2).refused()
    assert "no entry 999" in run("undo", "999", status=2).refused()
    found = run("log", "--json", "--limit", "2").json
    assert [(one["action"], one["undoable"]) for one in found] == [("delete", False), ("mark sensitive", False)]
    assert "· undone 20" in run("log").out
