"""Which notes wait to be read with earlier ones, and of which of these the model is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import hopgate
from hopgate.extract.context import with_context
from hopgate.extract.extraction import Extraction, Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.spec import extractor_from
from hopgate.extract.tagger.worth_reading import Likelihood, tells_change
from hopgate.memory import Cleared, Memory

WRITTEN = datetime(2024, 5, 6, tzinfo=UTC)


def read(text: str, *, tagger: bool = True) -> Extraction:
    [made] = Phrases(tagger=tagger).extract(with_context([Memory("m1", text, created_at=WRITTEN)]))
    return made


def test_a_note_that_may_tell_of_a_change_is_to_be_read_with_others() -> None:
    assert read("Split done, the ferry desk is no longer part of Pier 4 but part of Pier 9.").may_change
    assert not read("The ferry desk is part of Pier 4.").may_change


def test_whether_it_does_the_model_says() -> None:
    texts = "The ferry desk is part of Pier 9 now, not Pier 4.", "Might move the ferry desk to Pier 9 next year."
    assert [tells_change(Source("m1", Cleared(text))) for text in texts] == [Likelihood.YES, Likelihood.NO]


def test_rules_alone_ask_for_none() -> None:
    assert not read("The ferry desk is no longer part of Pier 4 but part of Pier 9.", tagger=False).may_change


def test_extraction_runs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopgate.extract.tagger.worth_reading.tagged", pytest.fail)
    assert read("Backups go to Wasabi from now on").may_change


def test_names_are_those_of_the_rules() -> None:
    text = "We've gone from HealthRoster to Loop for the rota."
    assert read(text).mentions == read(text, tagger=False).mentions


def test_a_long_text_is_not_worth_it() -> None:
    assert not read("The ladder is in the basement now. " * 50).may_change


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
