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


def ends(tmp_path: Path, *pairs: tuple[str, str]) -> list[list[tuple[str, str, bool]]]:
    """Of pairs of notes, what the graph has in the end: relation, value, and whether it is over."""
    with hopgate.open(tmp_path) as kb:
        for at, pair in enumerate(pairs):
            kb.add(
                *(
                    Memory(f"{at}.{month}", text, scope=str(at), created_at=datetime(2024, month, 5, tzinfo=UTC))
                    for month, text in zip((1, 3), pair, strict=True)
                )
            )
        kb.build()
        return [
            [(edge.relation, edge.target, bool(edge.valid_to)) for edge in kb.graph.edges(scope=str(at))]
            for at in range(len(pairs))
        ]


def test_somebody_elses_thing_ends_nothing(tmp_path: Path) -> None:
    found = ends(
        tmp_path,
        ("The bike is in the shed.", "Jo's bike has its place in the hallway now, the shed was too damp."),
        ("The piano is in the lounge.", "Nan's piano has found a home in the conservatory, the lounge was too small."),
        ("Physio is with Greta.", "Tim's physio is with Hugo from now on, Greta was too far."),
        ("The rota is in Loop.", "Agency nurses have moved over to Planday for their rota."),
        ("Film night is at Ole's.", "Film night is at Ida's now and again."),
    )
    assert not [edge for edges in found for edge in edges if edge[2]]


def test_days_times_and_amounts_are_one_value_each(tmp_path: Path) -> None:
    days, alarm, rent, project = ends(
        tmp_path,
        ("Choir practice is on Tuesdays.", "Choir practice has moved to Thursdays."),
        ("The tide alarm goes off at 5:30.", "Put the tide alarm from 5:30 to 6:15 for good."),
        ("The rent is 900 euros.", "Rent has gone up to 990 euros."),
        ("The project is due on 1 March 2024.", "Deadline for the project moved to 15 April 2024."),
    )
    assert [edge[1] for edge in days if not edge[2]] == ["thursday"]
    assert {edge[1]: edge[2] for edge in alarm} == {"5:30": True, "6:15": False}
    assert [edge[1] for edge in rent if not edge[2]] == ["990 euros"]
    assert [edge[1] for edge in project if not edge[2]] == ["2024-04-15"]


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
