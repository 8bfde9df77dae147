"""Looks are counted by what was asked, whatever the folder, the ids and the punctuation."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.eval.ledger import Ledger

QUESTIONS = [f"Where did person {number} live, before the move?" for number in range(40)]


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Ledger.of_user()


CHANGED = {
    "one alone": QUESTIONS[:1],
    "another letter": ["Where did person 0 life, before the move?", *QUESTIONS[1:]],
    "case and marks": [f"  {text.upper()} !" for text in QUESTIONS],
    "a grown set": [*QUESTIONS, *(f"What does person {number} eat?" for number in range(50))],
    "a part in another set, asked twice": ["What is new?", *QUESTIONS[7::-1] * 2],
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_a_look_still_counts(ledger, changed):
    """Attack 9: one query less, one character, a grown set."""
    assert ledger.look(changed) == 1
    ledger.record(QUESTIONS, "a set")
    assert ledger.look(changed) == 2
    ledger.record(changed, "a set, somewhat changed")
    assert ledger.look(changed) == 3


def test_it_is_the_users_alone_and_holds_no_text(ledger, tmp_path):
    ledger.record(QUESTIONS, "first")
    assert Ledger.of_user().look(QUESTIONS) == 2 and ledger.path is not None
    assert ledger.path.is_relative_to(tmp_path / "state") and ledger.path.stat().st_mode & 0o777 == 0o600
    row = json.loads(ledger.path.read_text())
    assert row["what"] == "first" and len(row["questions"]) == 40 and "person" not in ledger.path.read_text()


def test_looks_add_up_question_by_question(ledger):
    ledger.record(QUESTIONS[:20], "first half")
    ledger.record(QUESTIONS[20:], "second half")
    assert ledger.look(QUESTIONS) == 2  # none of its questions was looked at twice
    ledger.record(QUESTIONS, "all")
    assert ledger.look(QUESTIONS) == ledger.look(QUESTIONS[:5]) == 3
    assert ledger.look(["What is new?"]) == 1 and ledger.look([]) == 1
    ledger.record(["???"], "marks alone stand for themselves")
    assert (ledger.look(["???"]), ledger.look(["!"])) == (2, 1)
    # Looks of two processes at once never mix.
    many = [f"{text} {number}" for number in range(100) for text in QUESTIONS]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: ledger.record(many, str(number)), range(12)))
    assert ledger.look(many[:1]) == 13


def test_what_is_no_look_or_could_not_be_kept_is_refused(ledger, tmp_path, monkeypatch):
    ledger.record(QUESTIONS, "first")
    assert ledger.path is not None
    with ledger.path.open("a") as file:
        file.write('{"questions": 3}\n')
    with pytest.raises(HopgateError, match="line 2: this is no look"):
        ledger.look(QUESTIONS)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(HopgateError, match="set XDG_STATE_HOME"):
        Ledger.of_user()
