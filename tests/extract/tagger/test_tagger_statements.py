"""What the tagger adds to what the rules read, and what it takes back."""

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


def changes(text: str) -> list[tuple[str, str, str]]:
    return [(one.thing, one.value, one.former) for one in read(text).stated if one.is_change]


def test_a_change_that_no_rule_reads() -> None:
    text = "Split done, the ferry desk is no longer part of Pier 4 but part of Pier 9."
    assert not any(one.is_change for one in read(text, tagger=False).stated)
    assert changes(text) == [("ferry desk", "Pier 9", "Pier 4")]


def test_a_state_that_no_rule_reads() -> None:
    text = "Notifications is part of the monolith."
    assert not read(text, tagger=False).stated
    assert [(one.thing, one.value) for one in read(text).stated] == [("Notifications", "monolith")]


def test_a_state_of_the_rules_becomes_a_change_and_keeps_its_relation() -> None:
    text = "The laptop is retired; Jellyfin runs on rack01."
    assert not any(one.is_change for one in read(text, tagger=False).stated)
    [one] = [one for one in read(text).stated if one.is_change]
    assert (one.thing, one.relation, one.value, one.former) == ("Jellyfin", "runs on", "rack01", "laptop")


def test_what_the_rules_hold_for_untold_is_no_change() -> None:
    assert changes("Switched our deploys to Buildkite on Monday and reverted to Jenkins on Wednesday.") == []


def test_a_part_and_what_is_somebody_elses_are_not_the_thing() -> None:
    assert changes("A photocopy of Mum's will is now at the notary's office.") == []
    assert changes("Mum replaced her Pixel 6 with a Fairphone 5.") == []


def test_a_fact_of_which_the_tagger_sees_no_word_is_doubted() -> None:
    text = "Tempted to put Nextcloud on a Hetzner VPS some day. Not this year."
    assert [fact.confidence > DOUBTED for fact in read(text, tagger=False).facts] == [True]
    assert [fact.confidence for fact in read(text).facts] == [DOUBTED]


def test_mine_in_a_talk_is_the_speakers() -> None:
    turn = Memory("m1", "Mo: the Giant is sold, my bike is a Brompton", thread="t", created_at=WRITTEN)
    [made] = Phrases(tagger=True).extract(with_context([turn]))
    assert ("Mo's bike", "Brompton") in {(one.thing, one.value) for one in made.stated if one.is_change}


def test_names_and_facts_are_those_of_the_rules() -> None:
    text = "We've gone from HealthRoster to Loop for the rota."
    assert read(text).mentions == read(text, tagger=False).mentions


def test_a_long_text_is_not_tagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopgate.extract.rules.phrases.tagged", pytest.fail)
    read("The ladder is in the basement now. " * 50)


def test_the_two_names_are_two_identities() -> None:
    assert extractor_from("phrases") == Phrases(tagger=True)
    assert extractor_from("rules") == Phrases()
    assert extractor_from("phrases").identity.hash != extractor_from("rules").identity.hash
    assert extractor_from("phrases").identity.extractor == extractor_from("rules").identity.extractor


def test_in_a_store_the_new_value_ends_the_old_one(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(
            Memory("a", "Notifications is part of the monolith.", created_at=datetime(2024, 1, 8, tzinfo=UTC)),
            Memory(
                "b",
                "Split done, Notifications is no longer part of the monolith but part of comms-suite.",
                created_at=datetime(2024, 3, 4, tzinfo=UTC),
            ),
        )
        kb.build()
        held = [
            {edge.target for edge in kb.graph.edges(as_of=datetime(2024, month, 20, tzinfo=UTC))} for month in (1, 3)
        ]
        assert held == [{"monolith"}, {"comms-suite"}]
        kb.build("rules", rebuild=True)
        assert not kb.graph.edges()
