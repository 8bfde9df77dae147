"""What is changed by hand is previewed, stands in the log, and is taken back as if it had never been."""

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
        rows = {row.name: row.id for row in name_rows.read(connection)}
        concept_rows.mark_ambiguous(connection, rows[name], rows[near], 0.61)


def last(kb):
    return kb.upkeep.log(limit=1)[0]


def merged(kb, kept: str, other: str):
    kb.graph.merge(kept, other)
    return last(kb)


def test_a_merge_is_previewed_done_logged_and_undone(notes):
    before = content(notes)
    preview = notes.graph.merge("cellar", "basement", dry_run=True)
    assert (preview.kept, preview.other, preview.names) == ("cellar", "basement", ("basement",))
    assert content(notes) == before and notes.upkeep.log() == []
    entry = merged(notes, "cellar", "basement")
    assert (entry.action, entry.one, entry.other, entry.undoable) == ("merge", "cellar", "basement", True)
    assert notes.graph.concept("basement").concept.id == notes.graph.concept("cellar").concept.id
    undone = notes.upkeep.undo(entry.id)
    assert undone.undone_at is not None and not undone.undoable
    assert content(notes) == before
    with pytest.raises(HopgateError, match="undone already"):
        notes.upkeep.undo(entry.id)
    with pytest.raises(HopgateError, match="no entry 99"):
        notes.upkeep.undo(99)


def test_one_merge_of_several_is_undone_and_one_below_another_is_refused(notes):
    first, second = merged(notes, "cellar", "basement"), merged(notes, "cellar", "old tower")
    notes.upkeep.undo(first.id)
    assert notes.graph.concept("basement").concept.name == "basement"
    assert notes.graph.concept("old tower").concept.id == notes.graph.concept("cellar").concept.id
    notes.graph.merge("basement", "cellar")
    with pytest.raises(HopgateError, match="undo that merge first"):
        notes.upkeep.undo(second.id)


def test_a_refused_merge_is_proposed_again_once_that_is_undone(notes, run):
    assert run("concepts", "ambiguous", "--json").json == []
    undecided(notes, "basement", "cellar")
    assert "may be 'cellar'" in run("concepts", "ambiguous").out
    (one,) = notes.graph.ambiguous()
    assert (one.name, one.near, one.score) == ("basement", "cellar", pytest.approx(0.61))
    notes.graph.keep_apart("basement")
    entry = last(notes)
    assert (entry.action, entry.one, entry.other) == ("keep apart", "cellar", "basement")
    assert notes.graph.ambiguous() == []
    with pytest.raises(HopgateError, match="not undecided: hopgate concepts ambiguous lists"):
        notes.graph.keep_apart("basement")
    notes.upkeep.undo(entry.id)
    assert [one.name for one in notes.graph.ambiguous()] == ["basement"]


def test_curation_lets_a_memory_give_way_and_takes_it_back(notes):
    (one,) = [proposal for proposal in notes.graph.curate() if proposal.gives_way]
    assert (one.memory, one.older, one.gives_way) == ("again", "tower", "again")
    for newer in (False, True):
        notes.graph.supersede([one])
        entry = last(notes)
        assert entry.memory_ids == ("again",) and notes.get("again").superseded_by == "tower"
        with pytest.raises(HopgateError, match="gave way already"):
            notes.graph.supersede([one])
        if not newer:
            notes.upkeep.undo(entry.id)
            assert notes.get("again").superseded_by is None
    notes.upkeep.undo(entry.id)
    notes.graph.curate(apply=True)
    assert not notes.upkeep.entry(entry.id).undoable
    with pytest.raises(HopgateError, match="undone already"):
        notes.upkeep.undo(entry.id)
    assert notes.get("again").superseded_by == "tower"


def test_a_mark_is_logged_undone_once_and_leaves_no_name_in_the_log(notes):
    merge = merged(notes, "cellar", "basement")
    notes.mark_sensitive(["basement", "cat"])
    entry = last(notes)
    assert notes.get("cat").is_sensitive and set(entry.memory_ids) == {"cat", "basement"}
    with pytest.raises(HopgateError, match="no entry"):
        notes.upkeep.undo(merge.id)
    notes.upkeep.undo(entry.id)
    assert not notes.get("cat").is_sensitive
    notes.mark_sensitive(["cat"])
    marked = last(notes)
    notes.unmark_sensitive(["cat"])
    notes.mark_sensitive(["cat"])
    # A newer decision is left alone.
    with pytest.raises(HopgateError, match="undone already"):
        notes.upkeep.undo(marked.id)
    assert notes.get("cat").is_sensitive
