"""A later note that says only that something is over: what was ends, and nothing is instead."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from dated_notes import note

import hopgate

OVER = [
    ("Eli plays goalie for the Frontenac Flyers.", "Eli has quit the Flyers. He says his knees are old.", "Flyers"),
    ("Hamish is secretary of the club.", "Hamish has stepped down as secretary. Nobody put a hand up.", "Hamish"),
    ("Iris has piano lessons with Mr Feeney.", "Iris has given up the piano. Peace at last.", "Feeney"),
    ("Jonas geht mittwochs zur Schach-AG.", "Jonas hat mit der Schach-AG aufgehört.", "Schach-AG"),
    ("Our GP is Dr Reuter.", "Dr Reuter has retired.", "Reuter"),
    ("I bank with Barclays.", "Closed my Barclays account.", "Barclays"),
    ("Our electricity is from Bulb.", "We've left Bulb.", "Bulb"),
    ("Marvin is our goalkeeper.", "Marvin is no longer our goalkeeper.", "Marvin"),
    ("Dad drives a Golf.", "Dad has sold the Golf.", "Golf"),
    ("Mein Internet ist bei Vodafone.", "Vodafone gekündigt.", "Vodafone"),
    ("Oma ist im Haus Linde.", "Oma ist nicht mehr im Haus Linde.", "Linde"),
]
HOLDS = [
    (
        "Marcus Bell teaches at Fairfield Primary.",
        "Hannah has left Fairfield Primary, cake and all.",
        "Fairfield Primary",
    ),
    ("Our internet is with Ziggo.", "Femke has quit Ziggo, too slow she says.", "Ziggo"),
    ("Anna works at Siemens.", "Anna left Siemens early today, dentist.", "Siemens"),
    ("Anna works at Siemens.", "Anna left Siemens at four to get the kids.", "Siemens"),
    ("Our dentist is Dr Patel.", "Dr Patel doesn't work any more on Fridays.", "Patel"),
    ("Vera uses Notion.", "Vera no longer loves Notion, but it does the job.", "Notion"),
    ("Olga lives in Riga.", "Olga moved the meeting from Riga to Tallinn.", "Riga"),
    ("The backups run on badger.", "We copied the backups from badger to otter.", "badger"),
    ("The spare key is with Ada.", "The spare key went from Ada to Bo and back to Ada.", "Ada"),
    ("Our newspaper is the Guardian.", "The neighbours changed from the Guardian to the Times.", "Guardian"),
    ("Rob is our gardener.", "Rob has gone and bought a new mower.", "Rob"),
    ("Finn works at Ikea.", "Finn quit Ikea in his dream last night.", "Ikea"),
    ("Gail works at Boots.", "Gail no longer works at Boots on Sundays.", "Boots"),
    ("Quinn works at Adobe.", "Quinn left Adobe as the last one, the lights were off already.", "Adobe"),
    ("Rita works at the bakery.", "Rita has left the bakery and is on her way.", "bakery"),
    ("Dr Ames is our vet.", "Dr Ames has stopped the antibiotics.", "Ames"),
    ("Kai uses Garmin.", "Kai has given up on Garmin support, they never answer.", "Garmin"),
    ("My bank is HSBC.", "I transferred 200 pounds from HSBC to Monzo.", "HSBC"),
    ("Mona lives in Porto.", "Mona moved her office from Porto to Braga.", "Porto"),
    ("The team meeting is on Mondays.", "For Easter the team meeting moves from Monday to Tuesday.", "monday"),
    ("Swimming is at 4 pm.", "Swimming goes from 4 pm to 5 pm.", "4 pm"),
    ("The piano is in the hall.", "They moved the piano from the hall to the stage for the concert and back.", "hall"),
    ("Our singer is Cleo.", "Cleo quit. April fool!", "Cleo"),
    ("Petra wohnt in Köln.", "Petra ist von Köln nach Bonn geradelt.", "Köln"),
    ("Petra wohnt in Köln.", "Petras Firma ist von Köln nach Bonn umgezogen.", "Köln"),
    ("Tanja wohnt in Ulm.", "Tanjas Schwester ist von Ulm nach Wien gezogen.", "Ulm"),
    ("Das Backup liegt auf dachs.", "Ich habe eine Kopie vom Backup von dachs auf otter gezogen.", "dachs"),
    ("Meine Chefin ist Frau Brandt.", "Frau Brandt ist nicht mehr da, versuchen Sie es morgen.", "Brandt"),
    ("Clara arbeitet bei BASF.", "Clara hat ihr Parkplatzabo bei BASF gekündigt.", "BASF"),
    ("Clara arbeitet bei BASF.", "Wenn Clara bei BASF gekündigt hat, rufe ich sie an.", "BASF"),
    ("Lisa goes to Oakfield School.", "Lisa changed classrooms, she is now in room 12.", "Oakfield"),
    ("Kate lives in Bristol.", "Kate drove from Bristol to Glasgow on Friday.", "Bristol"),
    ("Kim lives in Bristol.", "Kim moved within Bristol, from Clifton to Bedminster.", "Bristol"),
    ("Traefik runs on node1.", "Stopped Traefik on node1 for ten minutes to swap the cable.", "node1"),
    ("Grandpa lives at Willow Court.", "Grandpa moved to a bigger room at Willow Court.", "Willow"),
    ("Lena geht auf die Goethe-Schule.", "Lenas Freundin hat die Goethe-Schule gewechselt.", "Goethe"),
    ("Markus arbeitet bei der Sparkasse.", "Markus hat sein Konto bei der Sparkasse gekündigt.", "sparkasse"),
    ("Nora is my physio.", "Nora says I can stop the exercises, no longer needed.", "Nora"),
    ("Our internet is with BT.", "Cancelled the BT engineer, the line is back.", "BT"),
    ("Our landlord is Mr Kopp.", "Mr Kopp left us a note about the bins.", "Kopp"),
    ("Our plumber is Mr Finch.", "Mr Finch has not retired, that was a rumour.", "Finch"),
    ("My bank is Lloyds.", "Lloyds closed at four, had to come back today.", "Lloyds"),
    ("Our power is from Ovo.", "We've left Ovo a bad review.", "Ovo"),
    ("Max spielt Tennis.", "Max geht heute nicht mehr zum Tennis, zu spät.", "Tennis"),
    ("Mein Chef ist Herr Wolters.", "Herr Wolters hat die Firma schon um drei verlassen.", "Wolters"),
    ("Amir is a member of the Alpine Club.", "Amir has left the Alpine Club, he'll be home in ten minutes.", "Alpine"),
    ("Ben is captain of the Otters.", "Ben stopped two penalties for the Otters.", "Ben"),
]


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_over_ends(tmp_path: Path, at_once: bool) -> None:
    assert _held(tmp_path, OVER, at_once=at_once) == [(name, True, False) for _, _, name in OVER]


def test_what_is_told_of_something_else_ends_nothing(tmp_path: Path) -> None:
    held = _held(tmp_path, HOLDS, at_once=True)
    assert [name for name, before, after in held if before != after] == []
    assert sum(before for _, before, _ in held) > len(HOLDS) * 0.7  # else there is nothing that could end


@pytest.mark.parametrize(
    ("before", "after", "was", "is_"),
    [
        (
            "Cheat sheet: kestrel runs on fra-02, heron is on Postgres 13, wren runs in the basalt cluster.",
            "heron is on Postgres 16 since this morning.",
            "Postgres 13",
            "Postgres 16",
        ),
        (
            "Committee: Lotte leads the routing team, Mireille chairs the incident review, Erik is CTO.",
            "Kees took over the routing team this week.",
            "Lotte",
            "Kees",
        ),
        ("Passwortmanager ist bei mir KeePass.", "Von KeePass auf Vaultwarden umgestiegen.", "KeePass", "Vaultwarden"),
    ],
)
def test_what_stands_among_other_things_is_found(tmp_path: Path, before: str, after: str, was: str, is_: str) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", before, 1), note("b", after, 3))
        kb.build()
        assert [(_has(kb, was, month), _has(kb, is_, month)) for month in (2, 4)] == [(True, False), (False, True)]


def test_it_may_begin_again(tmp_path: Path) -> None:
    before, over, name = OVER[0]
    with hopgate.open(tmp_path) as kb:
        kb.add(note("a", before, 1), note("b", over, 3), note("c", "Eli plays for the Frontenac Flyers now.", 5))
        kb.build()
        assert [_has(kb, name, month) for month in (2, 4)] == [True, False]


def _held(folder: Path, pairs: list[tuple[str, str, str]], *, at_once: bool) -> list[tuple[str, bool, bool]]:
    """Whether an edge has the name before the later note, and after it; each pair in a scope of its own."""
    found = []
    with hopgate.open(folder) as kb:
        for place in range(2):
            for number, pair in enumerate(pairs):
                day = datetime(2024, 1 + 2 * place, 5, tzinfo=UTC)
                kb.add(hopgate.Memory(f"{number}{place}", pair[place], scope=f"s{number}", created_at=day))
            if place or not at_once:
                kb.build()
        for number, (_, _, name) in enumerate(pairs):
            found.append((name, *(_has(kb, name, month, f"s{number}") for month in (2, 4))))
    return found


def _has(kb: hopgate.KnowledgeBase, name: str, month: int, scope: str | None = None) -> bool:
    edges = kb.graph.edges(as_of=datetime(2024, month, 20, tzinfo=UTC), scope=scope)
    return any(name in edge.source or name in edge.target for edge in edges if edge.relation != "has in its name")
