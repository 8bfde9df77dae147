"""What testers' notebooks showed of single notes: sentences that go on, German owners and firms, roles beside names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.extraction import Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.tokenise import analysed
from hopgate.memory import Cleared, Memory


def told(text: str) -> set[str]:
    """The facts of a note, as lines."""
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 2, tzinfo=UTC))])
    return {f"{fact.subject} | {fact.relation} | {fact.object}" for fact in found.facts}


def named(text: str) -> set[str]:
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 2, tzinfo=UTC))])
    return {mention.name for mention in found.mentions}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "David lives in Bristol, and Priya works at Southmead Hospital.",
            {"David | lives in | Bristol", "Priya | works at | Southmead Hospital"},
        ),
        ("Anna works at Bosch and Ben lives in Leeds.", {"Anna | works at | Bosch", "Ben | lives in | Leeds"}),
        ("Anna arbeitet bei Bosch und Ben wohnt in Leeds.", {"Anna | works at | Bosch", "Ben | lives in | Leeds"}),
        ("Gitea runs on birch-1 and birch-2 now.", {"Gitea | runs on | birch-1", "Gitea | runs on | birch-2"}),
        ("Meine Schwester Ute wohnt mit ihrem Malte in Bremen.", {"Ute | lives in | Bremen"}),
        ("Ada lives with Ben in Leeds.", {"Ada | lives in | Leeds"}),
        ("Stefan Roth has left Brunner Logistics.", {"Stefan Roth | works at | Brunner Logistics"}),
        ("Ann has left London.", set()),
        ("Ab jetzt bringen wir das Auto zur Werkstatt Kowalski.", set()),
        ("Datadog goes up to 2,300 a month.", {"Datadog | costs | 2,300"}),
        ("Jonas' Klasse 5c am Leibniz-Gymnasium ist in Raum 204.", set()),
        ("Mutter wohnt in Celle.", {"Mutter | lives in | Celle"}),
        ("Lena ist Mutter und wohnt in Celle.", {"Lena | lives in | Celle"}),
        ("Ute wohnt in der Bahnhofstraße.", {"Ute | lives in | Bahnhofstraße"}),
        ("Herr Jonas Berg wohnt in Bremen.", {"Herr Jonas Berg | lives in | Bremen"}),
        ("Anna is down to 2 a week.", set()),
        ("By six Ada has usually left Brunner Logistics.", set()),
        ("Ada has left Southmead Hospital.", set()),
        ("Anna works at Bosch and Ben retired.", {"Anna | works at | Bosch"}),
        ("Anna works at Bosch and Siemens part time.", {"Anna | works at | Bosch", "Anna | works at | Siemens"}),
        ("Mai lives in Leeds.", {"Mai | lives in | Leeds"}),
        ("At Tesco, our landlord from Leeds said hi.", set()),
    ],
)
def test_facts_of_a_note(text: str, facts: set[str]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Milas Schwimmkurs ist samstags.", {"Mila"}),
        ("Sabines Mann war da.", {"Sabine"}),
        ("Herrn Özdemirs Tochter Elif war da.", {"Herr Özdemir", "Elif"}),
        ("Wir waren bei Herrn Özdemir.", {"Herr Özdemir"}),
        ("Der Pflegedienst Sonnenblick kommt morgens.", {"Pflegedienst Sonnenblick"}),
        ("Mia hat jetzt bei Herrn Baum Klavierunterricht.", {"Mia", "Herr Baum"}),
        ("Die Miete geht jeden Ersten per Dauerauftrag raus.", set()),
        ("Afterwards Herr Lindner told us a story.", {"Herr Lindner"}),
        ("In der Schule Elternabend am Montag.", set()),
        ("Onkel Hans Werkstatt ist in Celle.", {"Onkel Hans", "Celle"}),
        ("Ralf Huber trainiert die E-Jugend beim SV Waldsee.", {"Ralf Huber", "E-Jugend", "SV Waldsee"}),
        ("Tobias hat die E-Jugend von Ralf Huber übernommen.", {"Tobias", "E-Jugend", "Ralf Huber"}),
        ("Die Oberfräse hab ich Wiegand geliehen.", {"Oberfräse", "Wiegand"}),
        ("Bei der Schreinerei Holzapfel war keiner da.", {"Schreinerei Holzapfel"}),
        ("Ab Mai donnerstags statt dienstags.", set()),
    ],
)
def test_names_of_a_note(text: str, names: set[str]) -> None:
    assert named(text) == names


@pytest.mark.parametrize("text", ["Kinderarzt angerufen, Termin Montag.", "Die Miete geht jeden Ersten raus."])
def test_a_terse_german_note_is_german(text: str) -> None:
    assert analysed(text).code == "de"


def test_a_price_that_rises_does_so_on_the_day_of_the_note() -> None:
    text = "Unser Stundensatz steigt auf 64 Euro."
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 2, tzinfo=UTC))])
    assert [fact.valid_from for fact in found.facts] == ["2024-05-02"]


def test_a_price_that_rises_on_a_day_does_so_then() -> None:
    text = "The rent goes up from £1,850 to £1,950 in August."
    (found,) = Phrases().extract([Source("m", Cleared(text), created_at=datetime(2024, 5, 2, tzinfo=UTC))])
    assert {(fact.object, fact.valid_from) for fact in found.facts if not fact.valid_to} == {("£1,950", "2024-08")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Jellyfin is hosted on the little Odroid.", {"Jellyfin|runs on|Odroid"}),
        # What was on a machine, or at a hoster, is on another one.
        ("Der AdGuard ist von plover auf den Raspberry umgezogen.", {"AdGuard|runs on|Raspberry"}),
        ("Der Pihole läuft auf plover.", {"Pihole|runs on|plover"}),
        ("Die Kopie der Nextcloud läuft auf plover.", set()),
        ("Billing API moved from Azure to Hetzner on 3 May.", {"billing api|runs on|Hetzner"}),
        ("We moved our savings from Chase to Schwab.", set()),
    ],
)
def test_what_runs_on_machines_named_in_passing(text: str, expected: set[str]) -> None:
    memories = [Memory("m1", text, created_at=datetime(2024, 5, 20, tzinfo=UTC)), Memory("m2", "Gitea runs on plover.")]
    found = Phrases().extract(with_context(memories))[0]
    facts = [fact for fact in found.facts if fact.valid_to is None and fact.relation in ("runs on", "located in")]
    assert {f"{fact.subject}|{fact.relation}|{fact.object}" for fact in facts} == expected
