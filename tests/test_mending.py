"""What is changed by hand is previewed, stands in the log, and is taken back as if it had never been."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from graph_content import Scripted, content

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.memory import Memory
from hopgate.store.graph import concept_rows, name_rows

DAY = datetime(2024, 1, 1, tzinfo=UTC)
TEXTS = {
    "tower": "Immich runs on the old tower.",
    "again": "immich runs on the old tower",
    "cat": "The cat sleeps in the cellar.",
    "basement": "The cat likes the basement.",
}
SAID = {
    "tower": found([], [Fact("Immich", "runs on", "old tower")]),
    "again": found([], [Fact("Immich", "runs on", "old tower")]),
    "cat": found([], [Fact("cat", "sleeps in", "cellar")]),
    "basement": found([Mention("cat"), Mention("basement")], []),
}


@pytest.fixture
def notes(kb):
    kb.add(*(Memory(key, text, created_at=DAY + timedelta(n)) for n, (key, text) in enumerate(TEXTS.items())))
    kb.build(Scripted(SAID), single_valued=["runs on"])
    return kb


def undecided(kb, name: str, near: str) -> None:
    with kb.store.transaction() as connection:
        rows = {row.name: row.id for row in name_rows.all_names(connection)}
        concept_rows.mark_ambiguous(connection, rows[name], rows[near], 0.61)


def test_a_merge_is_previewed_done_logged_and_undone(notes):
    before = content(notes)
    mend = notes.upkeep.mend
    preview = mend.preview_merge("cellar", "basement")
    assert (preview.kept, preview.other, preview.names) == ("cellar", "basement", ("basement",))
    assert content(notes) == before and mend.log() == []
    entry = mend.merge("cellar", "basement")
    assert (entry.action, entry.one, entry.other, entry.undoable) == ("merge", "cellar", "basement", True)
    assert notes.graph.concept("basement").concept.id == notes.graph.concept("cellar").concept.id
    undone = mend.undo(entry.id)
    assert undone.undone_at is not None and not undone.undoable
    assert content(notes) == before
    with pytest.raises(HopgateError, match="undone already"):
        mend.undo(entry.id)


def test_one_merge_of_several_is_undone_and_one_below_another_is_refused(notes):
    mend = notes.upkeep.mend
    first, second = mend.merge("cellar", "basement"), mend.merge("cellar", "old tower")
    mend.undo(first.id)
    assert notes.graph.concept("basement").concept.name == "basement"
    assert notes.graph.concept("old tower").concept.id == notes.graph.concept("cellar").concept.id
    mend.merge("basement", "cellar")
    with pytest.raises(HopgateError, match="undo that merge first"):
        mend.undo(second.id)


def test_a_merge_that_was_split_elsewhere_counts_as_undone(notes):
    entry = notes.upkeep.mend.merge("cellar", "basement")
    notes.graph.split("cellar")
    assert notes.upkeep.mend.entry(entry.id).undoable is False
    with pytest.raises(HopgateError, match="undone already"):
        notes.upkeep.mend.undo(entry.id)


def test_a_proposed_merge_says_why_and_names_its_least_similar_pair(notes):
    undecided(notes, "basement", "cellar")
    (one,) = notes.upkeep.mend.merge_proposals()
    assert (one.name, one.near, one.one.name, one.other.name) == ("basement", "cellar", "cellar", "basement")
    assert one.score == pytest.approx(0.61) and one.least_similar[:2] == ("cellar", "basement")


def test_a_refused_merge_is_proposed_again_once_that_is_undone(notes):
    undecided(notes, "basement", "cellar")
    mend = notes.upkeep.mend
    entry = mend.keep_apart("basement")
    assert (entry.action, entry.one, entry.other) == ("keep apart", "cellar", "basement")
    assert mend.merge_proposals() == []
    with pytest.raises(HopgateError, match="not undecided: hopgate concepts --ambiguous lists"):
        mend.keep_apart("basement")
    mend.undo(entry.id)
    assert [one.name for one in mend.merge_proposals()] == ["basement"]


def test_curation_lets_a_memory_give_way_and_takes_it_back(notes):
    mend = notes.upkeep.mend
    (one,) = mend.curation().proposals
    assert (one.memory, one.older, one.gives_way) == ("again", "tower", "again")
    entry = mend.supersede([one])
    assert entry.memory_ids == ("again",) and notes.get("again").superseded_by == "tower"
    with pytest.raises(HopgateError, match="gave way already"):
        mend.supersede([one])
    mend.undo(entry.id)
    assert notes.get("again").superseded_by is None


def test_curation_says_whether_it_looked_through_all(notes):
    mend = notes.upkeep.mend
    assert mend.curation().complete
    assert not mend.curation(limit=1).complete
    stopped = mend.curation(seconds=0)
    assert not stopped.complete and stopped.proposals == ()


def test_a_removal_is_previewed_exactly_and_changes_nothing(notes):
    before = content(notes)
    preview = notes.upkeep.mend.preview_removal(["cat"])
    assert preview.concepts == ("cellar",) and preview.edges == ("cat — sleeps in → cellar",)
    assert notes.upkeep.mend.preview_removal(["tower"]).edges_kept == 1
    assert content(notes) == before
    notes.upkeep.mend.delete(["cat"])
    names = {concept.name for concept in notes.graph.concepts()}
    assert "cellar" not in names and "cat" in names


def test_a_deletion_is_logged_without_its_id_and_cannot_be_undone(notes):
    entry = notes.upkeep.mend.delete(["cat"])
    assert (entry.memory_ids, entry.memories, entry.undoable) == ((), 1, False)
    with pytest.raises(HopgateError, match="cannot be undone"):
        notes.upkeep.mend.undo(entry.id)


def test_a_mark_is_logged_undone_and_leaves_no_name_in_the_log(notes):
    mend = notes.upkeep.mend
    merged = mend.merge("cellar", "basement")
    entry = mend.mark_sensitive(["basement", "cat"])
    assert notes.get("cat").is_sensitive and set(entry.memory_ids) == {"cat", "basement"}
    assert (mend.entry(merged.id).one, mend.entry(merged.id).other) == (None, None)
    with pytest.raises(HopgateError, match="undone already, or its names are gone"):
        mend.undo(merged.id)
    mend.undo(entry.id)
    assert not notes.get("cat").is_sensitive


def test_an_entry_that_is_not_there_is_refused(notes):
    with pytest.raises(HopgateError, match="no entry 99"):
        notes.upkeep.mend.undo(99)


def test_undoing_leaves_newer_decisions_alone(notes):
    mend = notes.upkeep.mend
    marked = mend.mark_sensitive(["cat"])
    notes.unmark_sensitive(["cat"])
    notes.mark_sensitive(["cat"])
    with pytest.raises(HopgateError, match="undone already"):
        mend.undo(marked.id)
    assert notes.get("cat").is_sensitive
    (one,) = mend.curation().proposals
    entry = mend.supersede([one])
    notes.graph.restore(["again"])
    notes.graph.curate(apply=True)
    assert not mend.entry(entry.id).undoable
    with pytest.raises(HopgateError, match="undone already"):
        mend.undo(entry.id)
    assert notes.get("again").superseded_by == "tower"
