"""Which notes the tagger is asked about, what it makes doubtful, and which wait to be read with earlier ones."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import hopgate
from hopgate.extract.context import with_context
from hopgate.extract.extraction import DOUBTED, Extraction
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.spec import extractor_from
from hopgate.memory import Memory

WRITTEN = datetime(2024, 5, 6, tzinfo=UTC)


def read(text: str, *, tagger: bool = True) -> Extraction:
    [made] = Phrases(tagger=tagger).extract(with_context([Memory("m1", text, created_at=WRITTEN)]))
    return made


def test_a_note_that_tells_of_a_change_is_to_be_read_with_others() -> None:
    assert read("Split done, the ferry desk is no longer part of Pier 4 but part of Pier 9.").may_change
    assert not read("The ferry desk is part of Pier 4.").may_change
    assert not read("Might move the ferry desk to Pier 9 next year.").may_change


def test_rules_alone_ask_for_none() -> None:
    assert not read("The ferry desk is no longer part of Pier 4 but part of Pier 9.", tagger=False).may_change


def test_a_fact_of_which_the_tagger_sees_no_word_is_doubted() -> None:
    text = "Tempted to put Nextcloud on a Hetzner VPS some day. Not this year."
    assert [fact.confidence > DOUBTED for fact in read(text, tagger=False).facts] == [True]
    assert [fact.confidence for fact in read(text).facts] == [DOUBTED]


def test_names_are_those_of_the_rules() -> None:
    text = "We've gone from HealthRoster to Loop for the rota."
    assert read(text).mentions == read(text, tagger=False).mentions


def test_a_long_text_is_not_tagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopgate.extract.rules.phrases.tagged", pytest.fail)
    read("The ladder is in the basement now. " * 50)


def test_the_two_names_are_two_identities() -> None:
    assert extractor_from("phrases") == Phrases(tagger=True)
    assert extractor_from("rules") == Phrases()
    assert extractor_from("phrases").identity.hash != extractor_from("rules").identity.hash


def test_what_rules_built_rules_keep_up(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(Memory("a", "Notifications is part of the monolith.", created_at=WRITTEN))
        kb.build("rules")
        kb.add(
            Memory("b", "Notifications is no longer part of the monolith but part of comms-suite.", created_at=WRITTEN)
        )
        kb.upkeep.catch_up()
        assert kb.upkeep.made_by() == "rules"
        assert not kb.graph.edges()
