"""What people note first and later, in their own words: what holds in between, and what afterwards.

Most were found by testers who read what the graph said of notes of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from dated_notes import note

import hopgate
from hopgate.kb import KnowledgeBase

BETWEEN, AFTERWARDS = (datetime(2024, month, 20, tzinfo=UTC) for month in (2, 7))


class Story(NamedTuple):
    """Two notes, of what they tell, and what holds between them and afterwards."""

    first: str
    later: str
    relation: str
    before: str
    after: str


CHANGES = [
    Story("Bernard is chair of the Harbour Society.",
          "AGM: Sheila elected chair of the Harbour Society, Bernard stood down.",
          "led by", "Bernard", "Sheila"),
    Story("Priya: standup is at 9:15 as always", "Tom: from Monday standup is at 10:00, Lisbon can't make it earlier",
          "takes place", "9:15", "10:00"),
    Story("Lena: Unser Standup ist täglich um 9:15", "Lena: Ab heute ist das Standup um 10 Uhr",
          "takes place", "9:15", "10 uhr"),
    Story("La réunion d'équipe a lieu le lundi à 10h.", "La réunion d'équipe passe au jeudi à partir de cette semaine.",
          "takes place", "lundi 10h", "jeudi"),
    Story("Sanne woont in Utrecht.", "Sanne is verhuisd naar Groningen, housewarming volgt nog.",
          "lives in", "Utrecht", "Groningen"),
    Story("Sarah lives in Leeds with Mark.", "Helped Sarah move to Bristol at the weekend. Knackered.",
          "lives in", "Leeds", "Bristol"),
    Story("The finance team sits in room 3.12.", "Finance team has moved to room 5.04.",
          "located in", "room 3.12", "room 5.04"),
    Story("The UPS sits in the loft beside the switch.",
          "Carried the UPS down from the loft; it sits in the garage now.",
          "located in", "loft", "garage"),
    Story("Annual fee for the climbing wall costs 120 pounds.", "Committee voted: the annual fee costs 135 pounds now.",
          "costs", "120 pounds", "135 pounds"),
    Story("Grant report for the Wolfson money is due 30 April.",
          "Wolfson extended it: the grant report is now due 21 May.",
          "due", "2024-04-30", "2024-05-21"),
    Story("The essay is due on the 14th.", "The essay is due on the 18th now.", "due", "2024-01-14", "2024-05-18"),
    Story("Das Archivportal läuft auf dem Server kiefer.",
          "Archivportal am 2.5. von kiefer auf lärche migriert, DNS schon angepasst.",
          "runs on", "kiefer", "lärche"),
    Story("Die Abteilung Einkauf sitzt in Gebäude C.",
          "Der Einkauf ist am 2. Mai von Gebäude C nach Gebäude F umgezogen.",
          "kept at", "Gebäude C", "Gebäude F"),
    Story("Priya: Rehearsal is on Thursdays.", "Cass: ok so rehearsal moves to Mondays, starting next week",
          "takes place", "thursday", "monday"),
    Story("The summer gig is at the Blue Anchor.", "Venue change! The summer gig is at the Corn Exchange.",
          "located in", "Blue Anchor", "Corn Exchange"),
    Story("Callum lives with his parents in Ottery.", "Callum has got his own place in Exeter, moved there on Sunday.",
          "lives in", "Ottery", "Exeter"),
    Story("Jour fixe mit der Buchhaltung ist montags um 10.",
          "Der Jour fixe mit der Buchhaltung wurde auf Mittwoch verlegt.",
          "takes place", "montag", "mittwoch"),
    Story("Projekt Phoenix wird von Carsten geleitet.",
          "Carsten hat gekündigt, die Leitung von Projekt Phoenix hat Svenja übernommen.",
          "led by", "Carsten", "Svenja"),
    Story("Der Router ist eine Fritzbox 7490.", "Fritzbox 7490 ersetzt durch eine Fritzbox 7590 AX.",
          "currently", "Fritzbox 7490", "Fritzbox 7590 AX"),
    Story("Pi-hole hat die IP 192.168.1.5.", "IP vom Pi-hole geändert auf 192.168.1.53.",
          "has ip", "192.168.1.5", "192.168.1.53"),
    Story("Papa: Die Weihnachtskisten sind auf dem Dachboden.",
          "Papa: Hab die Weihnachtskisten vom Dachboden in den Keller geräumt.",
          "located in", "dachboden", "keller"),
    Story("Choir rehearsal is on Wednesdays in the church hall.",
          "Choir rehearsal has moved from the church hall to the primary school, still Wednesdays.",
          "located in", "church hall", "primary school"),
    Story("Kassenwart ist Dieter Pohl.", "Dieter Pohl hat die Kasse abgegeben, Kassenwartin ist jetzt Ute Lang.",
          "has treasurer", "Dieter Pohl", "Ute Lang"),
    Story("Plot rent at the allotment is £38 a year.", "Letter from the council: plot rent goes up from £38 to £52.",
          "costs", "£38", "£52"),
    Story("Die Formatkreissäge steht in Halle 1.", "Formatkreissäge nach Halle 2 umgestellt.",
          "located in", "Halle 1", "Halle 2"),
    Story("Der Elternabend der 6c findet am 14. Mai statt.", "Elternabend der 6c wurde auf den 21. Mai verschoben.",
          "takes place", "2024-05-14", "2024-05-21"),
]  # fmt: skip
LOOK_ALIKES = [
    Story("Meine Hausärztin ist Dr. Lindner.", "Svenja hat ihre Hausärztin gewechselt, sie ist jetzt bei Dr. Okafor.",
          "has doctor", "Dr. Lindner", "Dr. Lindner"),
    Story("nginx runs on birch.", "Swapped nginx for Caddy as the reverse proxy on birch.",
          "runs on", "birch", "birch"),
    Story("Ann lives in Leeds.", "Helped Ann move to Postgres.", "lives in", "Leeds", "Leeds"),
    Story("Ann lives in Leeds.", "I'd help Ann move from Leeds to York if asked.", "lives in", "Leeds", "Leeds"),
    Story("Standup is at 9:15.", "Message from Ann today: standup is at 10:00.", "takes place", "9:15", "9:15"),
    Story("Team Blau wird von Carsten geleitet.", "Das Team wurde von Anna auf Bob verschoben.",
          "led by", "Carsten", "Carsten"),
    Story("Baguette costs £2.20.", "Baguette costs £2.90 at Gail's!", "costs", "£2.20", "£2.20"),
]  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """A store in which each story has a scope of its own."""
    with hopgate.open(tmp_path_factory.mktemp("told")) as kb:
        for at, story in enumerate((*CHANGES, *LOOK_ALIKES)):
            kb.add(note(f"{at}a", story.first, 1, str(at)), note(f"{at}b", story.later, 5, str(at)))
        kb.build()
        yield kb


def held(kb: KnowledgeBase, at: int, relation: str, when: datetime) -> set[str]:
    """What a story's things are said to have on a day."""
    return {edge.target for edge in kb.graph.edges(scope=str(at), as_of=when) if edge.relation == relation}


@pytest.mark.parametrize("at", range(len(CHANGES) + len(LOOK_ALIKES)))
def test_what_is_told_holds_from_when_it_is_told(told: KnowledgeBase, at: int) -> None:
    story = (*CHANGES, *LOOK_ALIKES)[at]
    assert held(told, at, story.relation, BETWEEN) == {story.before}, story.first
    assert held(told, at, story.relation, AFTERWARDS) == {story.after}, story.later


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Our treasurer is Nigel.", ("I", "has treasurer", "Nigel")),
        ("Unser Chorleiter ist Bernd Oltmann.", ("I", "has conductor", "Bernd Oltmann")),
        ("Ella's best friend is Poppy.", ("Ella", "has best friend", "Poppy")),
    ],
)
def test_who_holds_an_office_is_known_before_anything_changes(
    tmp_path: Path, text: str, told: tuple[str, str, str]
) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("1", text, 1))
        kb.build()
        assert told in {(edge.source, edge.relation, edge.target) for edge in kb.graph.edges()}


def test_who_teaches_somebody_is_told_once_and_ends_with_the_role(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("1", "Emma's piano teacher is Mrs Holloway.", 1))
        kb.add(note("2", "Emma has a new piano teacher, Mr Banerjee. Mrs Holloway retired.", 5))
        kb.build()
        assert {edge.target for edge in kb.graph.edges(as_of=AFTERWARDS) if edge.source == "Emma"} == {"Mr Banerjee"}
        assert not [edge for edge in kb.graph.edges(as_of=AFTERWARDS) if edge.relation == "piano teacher of"]
