"""Looks are counted by what was asked, whatever the folder, the ids and the punctuation."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.ledger import Ledger

QUESTIONS = [f"Where did person {number} live, before the move?" for number in range(40)]


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Ledger.of_user()


def changed(way):
    return {
        "the same": QUESTIONS,
        "another order": QUESTIONS[::-1],
        "one query less": QUESTIONS[1:],
        "one alone": QUESTIONS[:1],
        "one character": ["Where did person 0 live before the move", *QUESTIONS[1:]],
        "one letter": ["Where did person 0 life, before the move?", *QUESTIONS[1:]],
        "case, marks and white space": [f"  {text.upper()} !" for text in QUESTIONS],
        "a grown set": [*QUESTIONS, *(f"What does person {number} eat?" for number in range(50))],
        "a part in another set": ["What is new?", QUESTIONS[7]],
        "asked twice": QUESTIONS * 2,
    }[way]


@pytest.mark.parametrize(
    "way",
    ["the same", "another order", "one query less", "one alone", "one character", "one letter",
     "case, marks and white space", "a grown set", "a part in another set", "asked twice"],
)  # fmt: skip
def test_a_look_still_counts(ledger, way):
    assert ledger.look(changed(way)) == 1
    ledger.record(QUESTIONS, "a set")
    assert ledger.look(changed(way)) == 2
    ledger.record(changed(way), "a set, somewhat changed")
    assert ledger.look(changed(way)) == 3


def test_it_is_the_users_and_not_the_folders(ledger, tmp_path):
    ledger.record(QUESTIONS, "first")
    assert Ledger.of_user().look(QUESTIONS) == 2
    assert ledger.path.parent.parent == tmp_path / "state"
    assert ledger.path.stat().st_mode & 0o777 == 0o600


def test_looks_add_up_question_by_question(ledger):
    ledger.record(QUESTIONS[:20], "first half")
    ledger.record(QUESTIONS[20:], "second half")
    assert ledger.look(QUESTIONS) == 2  # none of its questions was looked at twice
    ledger.record(QUESTIONS, "all")
    assert ledger.look(QUESTIONS) == ledger.look(QUESTIONS[:5]) == 3
    assert ledger.look(["What is new?"]) == 1 and ledger.look([]) == 1


def test_questions_of_marks_alone_are_not_one(ledger):
    ledger.record(["???"], "marks")
    assert (ledger.look(["???"]), ledger.look(["!"])) == (2, 1)


def test_no_text_is_kept(ledger):
    ledger.record(QUESTIONS, "a set")
    row = json.loads(ledger.path.read_text())
    assert row["what"] == "a set" and len(row["questions"]) == 40
    assert "person" not in ledger.path.read_text()


def test_without_a_file_nothing_is_counted(tmp_path):
    Ledger(None).record(QUESTIONS, "nothing")
    assert Ledger(None).look(QUESTIONS) == 0
    assert Ledger(tmp_path / "none").look(QUESTIONS) == 1


def test_looks_at_once_never_mix(ledger):
    many = [f"{text} {number}" for number in range(100) for text in QUESTIONS]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: ledger.record(many, str(number)), range(12)))
    assert ledger.look(many[:1]) == 13


def test_what_is_no_look_is_refused_by_its_line(ledger):
    ledger.record(QUESTIONS, "first")
    with ledger.path.open("a") as file:
        file.write('{"questions": 3}\n')
    with pytest.raises(HopgateError, match="line 2: this is no look"):
        ledger.look(QUESTIONS)


def test_a_ledger_that_could_not_be_kept_is_refused_at_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(HopgateError, match="set XDG_STATE_HOME"):
        Ledger.of_user()
