"""Facts as people note them: what a note of 10 August 2024 says to hold or to be over, and what it does not say."""

from __future__ import annotations

from datetime import datetime

import pytest

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.rules.survey import with_context
from hopgate.memory import Memory


def facts(*texts: str, thread: str = "") -> list[tuple[Fact, ...]]:
    """The facts of notes that were written one after the other."""
    notes = [
        Memory(f"m{hour}", text, created_at=datetime(2024, 8, 10, hour), thread=thread)
        for hour, text in enumerate(texts, start=9)
    ]
    return [extraction.facts for extraction in Phrases().extract(with_context(notes))]


def told(fact: Fact) -> str:
    """A fact as a row has it: "since –", "– until", or no dates; the day of the note is now."""
    dates = f" | {fact.valid_from or ''} – {fact.valid_to or ''}" if fact.valid_from or fact.valid_to else ""
    return (
        f"{fact.subject} | {fact.relation} | {fact.object}{dates}".replace("|  –", "| –")
        .replace("2024-08-10", "now")
        .rstrip()
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Shifted authelia off beryl and onto jade.",
            "authelia | runs on | jade | now –; authelia | runs on | beryl | – now",
        ),
        ("Met Ingrid. She left Turku in May and lives in Vaasa now.", "Ingrid | lives in | Vaasa | now –"),
        (
            "Ingrid switched jobs, from Simrad to Kitron.",
            "Ingrid | works at | Kitron | now –; Ingrid | works at | Simrad | – now",
        ),
        (
            "Ingrid handed Team Otter over to Oscar.",
            "Team Otter | led by | Oscar | now –; Team Otter | led by | Ingrid | – now",
        ),
        (
            "Ingrid moved from Team Otter to Team Lynx.",
            "Ingrid | part of | Team Lynx | now –; Ingrid | part of | Team Otter | – now",
        ),
        ("Ingrid doesn't report to Oscar any more, she reports to Bea.", "Ingrid | reports to | Bea"),
        (
            "Ingrid's manager used to be Oscar. Her new manager is Bea.",
            "Ingrid | reports to | Oscar | – now; Ingrid | reports to | Bea",
        ),
        ("I left Kitron, I'm at Simrad now.", "I | works at | Simrad | now –; I | works at | Kitron | – now"),
        (
            "Deadline of OPS-9 moved from 1 July 2024 to 31 July 2024.",
            "OPS-9 | due | 2024-07-31; OPS-9 | due | 2024-07-01 | – now",
        ),
        (
            "Dragged the cello out of the cellar and into the garage.",
            "cello | located in | garage | now –; cello | located in | cellar | – now",
        ),
        (
            "Moved jellyfin from quartz to onyx on 4 June 2024. Took an hour.",
            "jellyfin | runs on | onyx | 2024-06-04 –; jellyfin | runs on | quartz | – 2024-06-04",
        ),
        ("grafana is on topaz now, no longer on quartz.", "grafana | runs on | topaz | now –"),
        ("topaz hosts grafana and loki.", "grafana | runs on | topaz; loki | runs on | topaz"),
        (
            "Netflix now costs 15,99 € instead of 12,99 €.",
            "netflix | costs | 15,99 € | now –; netflix | costs | 12,99 € | – now",
        ),
        ("Henrik joined Nordlys on 1 March 2023.", "Henrik | works at | Nordlys | 2023-03-01 –"),
        (
            "Rosa moved from Porto to Braga in May 2024.",
            "Rosa | lives in | Braga | 2024-05 –; Rosa | lives in | Porto | – 2024-05",
        ),
        ("Rosa ist im Mai nach Kassel gezogen.", "Rosa | lives in | Kassel | 2024-05 –"),
        ("Rosa et Pierre habitent à Nantes.", "Rosa | lives in | Nantes; Pierre | lives in | Nantes"),
        (
            "The router sits on the shelf in the hall. topaz stands in the garage.",
            "router | located in | shelf; topaz | located in | garage",
        ),
        (
            "Fjordtech moved its office from Bergen to Oslo in June 2024.",
            "Fjordtech | located in | Oslo | 2024-06 –; Fjordtech | located in | Bergen | – 2024-06",
        ),
        (
            "Ingrid took over Project Otter from Henrik in June 2024.",
            "Project Otter | led by | Ingrid | 2024-06 –; Project Otter | led by | Henrik | – 2024-06",
        ),
        ("Henrik reports to Ingrid.", "Henrik | reports to | Ingrid"),
        ("The canoe belongs to Henrik.", "canoe | owned by | Henrik"),
        ("Sold the canoe to Rosa on 3 July 2024.", "canoe | sold to | Rosa | 2024-07-03 –"),
        ("Loki replaces Splunk.", "Splunk | replaced by | Loki | now –"),
        ("The report is due on 5 September.", "report | due | 2024-09-05"),
        ("Rosa ist allergisch gegen Nüsse.", "Rosa | allergic to | nüsse"),
        ("Henrik and Rosa are married.", "Henrik | married to | Rosa"),
        ("Milla is Henrik's daughter.", "Henrik | parent of | Milla"),
        ("Otter is part of the Nordic programme.", "Otter | part of | Nordic"),
        ("dusk = Raspberry Pi 5", "dusk | alias of | Raspberry Pi 5"),
        ("Rosa no longer works at Nordlys.", "Rosa | works at | Nordlys | – now"),
        ("Mein Chef, Herr Tiemann, will bis Freitag einen Plan.", "I | reports to | Herr Tiemann"),
        ("Die Pässe liegen in der Schublade im Büro.", "pässe | located in | schublade"),
        ("Vaultwarden is on the Pi in the hall closet.", "Vaultwarden | runs on | Pi"),
        (
            "Petrakis raised the rent from $1,450 to $1,525.",
            "rent | costs | $1,525 | now –; rent | costs | $1,450 | – now",
        ),
        ("Lange mit Lene telefoniert. Sie wohnt in Leipzig.", "Lene | lives in | Leipzig"),
        ("Lea works Saturdays at Greggs.", "Lea | works at | Greggs"),
        (
            "David lives in Bristol, and Priya works at Southmead Hospital.",
            "David | lives in | Bristol; Priya | works at | Southmead Hospital",
        ),
        ("Anna arbeitet bei Bosch und Ben wohnt in Leeds.", "Ben | lives in | Leeds; Anna | works at | Bosch"),
        (
            "Gitea runs on birch-1 and birch-2 now.",
            "Gitea | runs on | birch-1 | now –; Gitea | runs on | birch-2 | now –",
        ),
        ("Anna works at Bosch and Siemens part time.", "Anna | works at | Bosch; Anna | works at | Siemens"),
        ("Ada worked for Acme from 2012 to 2014.", "Ada | works at | Acme | 2012 – 2014"),
        ("Immich no longer runs on nas-2 since 2024-02-01.", "Immich | runs on | nas-2 | – 2024-02-01"),
    ],
)
def test_a_note_gives_its_facts_with_their_dates(text: str, expected: str) -> None:
    [found] = facts(text)
    assert "; ".join(map(told, found)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Oscar is moving to Leeds next month.",
        "authelia temporarily runs on jade until Friday.",
        "authelia runs on jade until beryl is repaired.",
        "We're replacing Nagios with Icinga next year.",
        "Mail is at Mailbox.",
        "authelia also runs on jade.",
        "Tested authelia on jade for a day.",
        "TODO: authelia -> jade",
        "Ingrid handed the salt to Oscar.",
        "Ingrid left for Vaasa this morning.",
        "The problem is in the details.",
        "Ines's husband works for Brandt Optics.",
        "Does kafka run on topaz?",
        "Malte ist Kunde bei der Telekom.",
        "Moira Kerr has retired, and Alison Tait is the practice manager now.",
        "Frau Ahlers hat gehört, unsere Apotheke sei an einen Dr. Kessler verkauft worden.",
        "Ab jetzt bringen wir das Auto zur Werkstatt Kowalski.",
        "Anna is down to 2 a week.",
        "By six Ada has usually left Brunner Logistics.",
        "At Tesco, our landlord from Leeds said hi.",
    ],
)
def test_plans_visits_doubts_and_other_words_are_no_facts(text: str) -> None:
    assert facts(text) == [()]


def test_where_somebody_works_tells_what_a_move_is() -> None:
    _, moved, went = facts("Ingrid works at Kitron.", "Ingrid moved from Kitron Ltd to Simrad.", "Ingrid went to Oslo.")
    assert [(fact.relation, fact.object) for fact in moved][:1] == [("works at", "Simrad")]
    assert went == ()


def test_a_pronoun_is_somebody_or_something_of_the_turns_before() -> None:
    turns = facts("Kit: I live in Leeds", "Rosa: Henrik called", "Kit: he works at Nordlys", thread="t")
    assert ["; ".join(map(told, found)) for found in turns] == [
        "Kit | lives in | Leeds",
        "",
        "Henrik | works at | Nordlys",
    ]
    _, answer = facts("Ana: which box has authelia?", "Luis: it's on jade", thread="t")
    assert list(map(told, answer)) == ["authelia | runs on | jade"]
    assert facts("She works at Nordlys.") == [()]
