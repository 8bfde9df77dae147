"""What ends something by the rules' word, read together with what it ends: in a store, as it grows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from dated_notes import note

import hopgate
from hopgate.extract.extraction import Source
from hopgate.graph.build import read_ends
from hopgate.kb import KnowledgeBase

STATE = "Ada lives in York."
# To the rules a move; to a reader a novel.
NOVEL = "Ada's flat-share story: in chapter two Ada lives in Rome."


def homes(kb: KnowledgeBase, month: int, scope: str | None = None) -> set[str]:
    when = datetime(2024, month, 20, tzinfo=UTC)
    return {edge.target for edge in kb.graph.edges(as_of=when, scope=scope) if edge.relation == "lives in"}


def noted(kb: KnowledgeBase) -> list[tuple[str, str, bool | None]]:
    with kb.store.transaction() as connection:
        return connection.execute(
            "SELECT e.external_id, l.external_id, n.is_end FROM noted_ends n "
            "JOIN memories e ON e.id = n.earlier_id JOIN memories l ON l.id = n.later_id ORDER BY 1, 2"
        ).fetchall()


@pytest.mark.parametrize("scope", [None, "ada"])
def test_what_only_looks_like_a_move_ends_nothing(tmp_path: Path, scope: str | None) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1, scope), note("b", NOVEL, 3, scope))
        kb.build()
        assert homes(kb, 3, scope) == {"York"}
        assert noted(kb) == [("a", "b", False)]


def test_one_by_one_as_all_at_once(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1))
        kb.build()
        kb.add(note("b", NOVEL, 3))
        kb.build()
        assert homes(kb, 3) == {"York"}
        kb.build(rebuild=True)
        assert homes(kb, 3) == {"York"}


@pytest.mark.parametrize("later", ["Gitea runs on alder.", "Gitea runs on alder now."])
def test_a_plain_contradiction_ends_what_was(tmp_path: Path, later: str) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", "Gitea runs on birch.", 1), note("b", later, 3))
        kb.build()
        assert {edge.target: edge.valid_to is None for edge in kb.graph.edges()} == {"birch": False, "alder": True}


def test_rules_alone_ask_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ends, "may_end", _broken)
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1), note("b", NOVEL, 3))
        kb.build("rules")
        assert homes(kb, 3) == {"Rome"}
        assert noted(kb) == [("a", "b", None)]


def test_what_is_no_end_counts_once_the_other_is_gone(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1), note("b", NOVEL, 3))
        kb.build()
        kb.delete(["a"])
        assert homes(kb, 3) == {"Rome"}
        assert not noted(kb)


@pytest.mark.parametrize("marked", ["a", "b"])
def test_what_turns_sensitive_leaves_no_note(tmp_path: Path, marked: str) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1), note("b", NOVEL, 3))
        kb.build()
        kb.mark_sensitive([marked])
        assert not noted(kb)


def test_a_note_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1), note("b", NOVEL, 3))
        kb.build()
        kb.add(note("b", "Ada has moved to Rome.", 3))
        kb.build()
        assert homes(kb, 3) == {"Rome"}


def test_what_changes_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_it_was = read_ends.may_end
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1), note("b", NOVEL, 3))

        def may_end(*both: Source) -> bool:
            monkeypatch.setattr(read_ends, "may_end", as_it_was)
            kb.add(note("b", "Ada has moved to Rome.", 3))
            return as_it_was(*both)

        monkeypatch.setattr(read_ends, "may_end", may_end)
        kb.build()
        kb.build()
        assert homes(kb, 3) == {"Rome"}


def test_what_was_broken_off_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1), note("b", NOVEL, 3))
        with monkeypatch.context() as broken:
            broken.setattr(read_ends, "may_end", _broken)
            with pytest.raises(KeyboardInterrupt):
                kb.build()
        assert noted(kb) == [("a", "b", None)]
        kb.build()
        assert homes(kb, 3) == {"York"}


def test_the_same_said_twice_outlives_one_of_them(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1), note("a2", STATE, 2), note("b", NOVEL, 3))
        kb.build()
        kb.delete(["a2"])
        assert homes(kb, 3) == {"York"}


def test_what_is_over_by_its_own_word_stays(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(
            note("a", STATE, 1),
            note("h", "Ada lived in Rome from 2010 to 2015.", 2),
            note("b", "Ada lives in Paris now.", 5),
        )
        kb.build()
        assert {edge.target for edge in kb.graph.edges() if edge.relation == "lives in"} == {"York", "Rome", "Paris"}
        assert homes(kb, 6) == {"Paris"}
        assert not [edge for edge in kb.graph.edges() if edge.relation not in ("lives in", "has in its name")]


@pytest.mark.parametrize("beside", [(), ("Ada lives in Paris.",), ("Ada lives in Paris now.",)])
def test_nobody_elses_memory_matters_to_a_scope(tmp_path: Path, beside: tuple[str, ...]) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE, 1, "ada"), note("b", NOVEL, 3, "ada"))
        kb.add(*(note(f"x{at}", text, 2, "bob") for at, text in enumerate(beside)))
        kb.build()
        assert homes(kb, 3, "ada") == {"York"}


@pytest.mark.parametrize("together", [True, False])
def test_one_that_does_not_count_takes_nothing_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    ends = {("birch", "maple"): False, ("maple", "alder"): False, ("birch", "alder"): True}
    monkeypatch.setattr(
        read_ends, "may_end", lambda one, other: ends[one.text.split()[-1][:-1], other.text.split()[-1][:-1]]
    )
    with hopgate.open(tmp_path) as kb:
        for month, host in ((1, "birch"), (3, "maple"), (5, "alder")):
            kb.add(note(host, f"Gitea runs on {host}.", month))
            if not together:
                kb.build()
        kb.build()
        assert {edge.target: edge.valid_to is None for edge in kb.graph.edges()} == {"birch": False, "alder": True}


def test_what_the_rules_doubt_counts_where_both_are_read(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(
            note("a", "My dentist is Mr Pargeter on Castle Street.", 1),
            note("b", "Mr Pargeter has retired. My dentist is now Miss Lindqvist, who hums while she works.", 3),
        )
        kb.build()
        assert [edge.target for edge in kb.graph.edges() if edge.valid_to is None] == ["Miss Lindqvist"]


def test_who_says_what_is_over_is_not_asked_twice(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", "Gitea runs on birch.", 1), note("b", "Gitea moved from birch to alder on 3 March.", 3))
        kb.build("rules")
        assert not noted(kb)


def test_long_memories_are_not_read_together(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", STATE + " She likes it there." * 20, 1), note("b", "Ada lives in Rome.", 3))
        kb.build()
        assert homes(kb, 3) == {"Rome"}
        assert not noted(kb)


def _broken(*_: object) -> bool:
    raise KeyboardInterrupt
