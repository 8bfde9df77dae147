"""A memory that tells of a change, read together with the earlier one that it is of: in a store, as it grows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from dated_notes import note

import hopgate
from hopgate.extract.extraction import Source
from hopgate.extract.tagger.ended_values import Ended
from hopgate.graph.build import read_together
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

OLD = "Violin lessons are with Mr Osei."
NEW = "Mr Osei has retired, so violin lessons are with Frau Kern from now on."


def held(kb: KnowledgeBase, month: int, scope: str | None = None) -> set[str]:
    when = datetime(2024, month, 20, tzinfo=UTC)
    return {edge.target for edge in kb.graph.edges(as_of=when, scope=scope) if edge.relation != "has in its name"}


def waiting(kb: KnowledgeBase) -> int:
    with kb.store.transaction() as connection:
        row = connection.execute("SELECT count(*) FROM waiting_changes").fetchone()
    assert row is not None
    return int(row[0])


def test_the_new_value_ends_the_old_one(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1), note("b", NEW, 3))
        kb.build()
        assert (held(kb, 1), held(kb, 3)) == ({"Mr Osei"}, {"Frau Kern"})
        assert waiting(kb) == 0


def test_one_by_one_as_all_at_once(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1))
        kb.build()
        kb.add(note("b", NEW, 3))
        kb.build()
        assert (held(kb, 1), held(kb, 3)) == ({"Mr Osei"}, {"Frau Kern"})


@pytest.mark.parametrize("gone", ["a", "b"])
def test_what_two_tell_goes_with_either(tmp_path: Path, gone: str) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1), note("b", NEW, 3), note("c", "Bought lemons with Mr Osei.", 2))
        kb.build()
        kb.delete([gone])
        assert not held(kb, 1) | held(kb, 3)
        with kb.store.transaction() as connection:
            assert not connection.execute("SELECT 1 FROM stated_values WHERE read_with IS NOT NULL").fetchall()
            assert not connection.execute("SELECT 1 FROM facts WHERE joint").fetchall()


@pytest.mark.parametrize("marked", ["a", "b"])
def test_what_turns_sensitive_leaves_no_word(tmp_path: Path, marked: str) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1), note("b", NEW, 3))
        kb.build()
        kb.mark_sensitive([marked])
        with kb.store.transaction() as connection:
            assert not connection.execute("SELECT 1 FROM stated_values WHERE read_with IS NOT NULL").fetchall()


def test_a_sensitive_memory_is_not_read_with_others(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        secret = Memory("a", OLD, created_at=datetime(2024, 1, 5, tzinfo=UTC), is_sensitive=True)
        kb.add(secret, note("b", NEW, 3))
        kb.build()
        assert not held(kb, 1) | held(kb, 3)
        assert waiting(kb) == 0


def test_another_scope_is_another_persons(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1, "ada"), note("b", NEW, 3, "bob"))
        kb.build()
        assert not [edge for edge in kb.graph.edges() if edge.valid_to]


def test_a_note_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1), note("b", NEW, 3))
        kb.build()
        kb.add(note("a", "Violin strings are out of stock.", 1))
        kb.build()
        assert held(kb, 1) == set()


def test_the_change_is_read_again_where_the_earlier_note_was_edited(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1), note("b", NEW, 3))
        kb.build()
        kb.add(note("a", OLD + " She likes them.", 1))
        kb.build()
        assert (held(kb, 1), held(kb, 3)) == ({"Mr Osei"}, {"Frau Kern"})
        assert waiting(kb) == 0


@pytest.mark.parametrize("meanwhile", ["moved", "added anew", "edited"])
def test_what_happens_to_a_memory_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1, "s1"), note("b", NEW, 3, "s1"))
        as_it_was = read_together.ended_by

        def ended_by(*both: Source, sure: bool) -> Ended | None:
            monkeypatch.setattr(read_together, "ended_by", as_it_was)
            if meanwhile == "added anew":
                kb.delete(["a"])
            text = OLD + " She likes them." if meanwhile == "edited" else OLD
            kb.add(note("a", text, 1, "s2" if meanwhile == "moved" else "s1"))
            return as_it_was(*both)

        monkeypatch.setattr(read_together, "ended_by", ended_by)
        kb.build()
        kb.build()
        with kb.store.transaction() as connection:
            pairs = connection.execute(
                "SELECT m.scope, o.scope FROM stated_values s JOIN memories m ON m.id = s.memory_id "
                "JOIN memories o ON o.id = s.read_with"
            ).fetchall()
        assert pairs == ([] if meanwhile == "moved" else [("s1", "s1")] * 2)
        assert waiting(kb) == 0


def test_what_was_broken_off_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", OLD, 1), note("b", NEW, 3))
        with monkeypatch.context() as broken:
            broken.setattr(read_together, "ended_by", _broken)
            with pytest.raises(KeyboardInterrupt):
                kb.build()
        assert waiting(kb) == 1
        kb.build()
        assert (held(kb, 1), held(kb, 3)) == ({"Mr Osei"}, {"Frau Kern"})
        assert waiting(kb) == 0


def _broken(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_the_memory_is_found_among_many(tmp_path: Path) -> None:
    names = ["Ann", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal", "Ida", "Jon"]
    with hopgate.open(tmp_path) as kb:
        kb.add(
            note("a", OLD, 1),
            *(
                note(f"n{at}", f"{names[at % 10]} was late for lesson {at} with {names[at % 7]}.", 2)
                for at in range(300)
            ),
            note("b", NEW, 3),
        )
        kb.build()
        [edge] = [edge for edge in kb.graph.edges() if edge.valid_to]
        assert (edge.source, edge.target) == ("violin lessons", "Mr Osei")


def test_what_several_may_be_of_is_said_to_be_over(tmp_path: Path) -> None:
    """A team may be part of several: another one does not end the first, and the words do."""
    with hopgate.open(tmp_path) as kb:
        kb.add(
            note("a", "The Antwerp depot is part of Benelux.", 1),
            note("b", "The Antwerp depot is part of Nordics since 1 March, and no longer part of Benelux.", 3),
        )
        kb.build()
        assert (held(kb, 1), held(kb, 3)) == ({"Benelux"}, {"Nordics"})


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Lea is allergic to nuts.", "Lea's school has gone nut-free, lunches are from the canteen now."),
        ("Kai is allergic to penicillin.", "Kai's prescription is penicillin-free now, he takes doxycycline instead."),
        ("Project Lantern is part of Platform.", "Project Lantern is now tracked in Linear."),
        ("Nils works at Ikea.", "Nils has moved to a new desk by the window."),
        ("Our doctor is Dr Rao.", "Dr Rao now works at the Mill Road practice."),
        ("Mum's car is a Polo.", "Mum's Polo is parked in Elm Road now."),
        ("Paperless runs on the NAS.", "Moved the NAS from the hall to the attic."),
        ("The team meets in room 4.", "The team has moved from Slack to Teams."),
    ],
)
def test_something_else_has_changed(tmp_path: Path, earlier: str, later: str) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", earlier, 1), note("b", later, 3))
        kb.build()
        assert not [edge for edge in kb.graph.memory("a").edges if edge.valid_to]
