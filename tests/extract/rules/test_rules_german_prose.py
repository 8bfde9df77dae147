"""Plain facts as German notes put them: inverted, with an aside, by who has it; and English ones of the kind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.context import with_context
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Memory


def read(text: str) -> set[str]:
    [extraction] = Phrases().extract(with_context([Memory("m1", text, created_at=datetime(2024, 6, 1, tzinfo=UTC))]))
    return {f"{fact.subject} | {fact.relation} | {fact.object}" for fact in extraction.facts}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Mein Chef, Herr Tiemann, will bis Freitag einen Plan.", "I | reports to | Herr Tiemann"),
        ("Frau Kolbeck ist meine Chefin.", "I | reports to | Frau Kolbeck"),
        ("Seit heute ist Frau Kolbeck meine Chefin, kein Aprilscherz.", "I | reports to | Frau Kolbeck"),
        ("Unser Kinderarzt, Dr. Wessling, hört nichts auf der Lunge.", "I | has paediatrician | Dr. Wessling"),
        ("Den Chor leitet Annegret Pohl, und das seit 19 Jahren!", "chor | led by | Annegret Pohl"),
        ("Aylin arbeitet jetzt zehn Jahre bei der Sparkasse.", "Aylin | works at | Sparkasse"),
        ("Meine Schwester Petra arbeitet im Klinikum in der Aufnahme.", "Petra | works at | klinikum"),
        ("Die Pässe liegen in der Schublade im Büro.", "pässe | located in | schublade"),
        ("Unsere Passwörter liegen in KeePass, leider.", "passwörter | located in | KeePass"),
        ("Lea hat freitags Klavierunterricht bei Herrn Tschirner.", "Lea | has piano teacher | Herr Tschirner"),
        ("Mittagessen in der Kita kostet die Eltern 3,80 Euro am Tag.", "mittagessen | costs | 3,80 Euro"),
        ("In Lüneburg wohnt Tante Gerda.", "Tante Gerda | lives in | Lüneburg"),
        ("Oma lebt im Seniorenheim am Park.", "Oma | lives in | seniorenheim"),
        ("Auf dem NUC läuft Jellyfin.", "Jellyfin | runs on | NUC"),
        ("Wir zahlen 840 Euro Miete.", "miete | costs | 840 Euro"),
        ("Internet kommt von der Telekom.", "I | has internet | Telekom"),
        ("Unser Auto ist ein Skoda Octavia.", "I | has car | Skoda Octavia"),
        ("Ich fahr einen VW Caddy, Baujahr 2013.", "I | has car | VW Caddy"),
        ("Katrin und die Kinder sind nach Wangen gezogen.", "Katrin | lives in | Wangen"),
        ("Das Backup läuft jede Nacht auf die Synology.", "backup | runs on | Synology"),
        ("Vaultwarden is on the Pi in the hall closet.", "Vaultwarden | runs on | Pi"),
        ("Petrakis raised the rent from $1,450 to $1,525.", "rent | costs | $1,525"),
        ("Lange mit Lene telefoniert. Sie wohnt in Leipzig.", "Lene | lives in | Leipzig"),
        ("Lene ist umgezogen, von Leipzig nach Hamburg!", "Lene | lives in | Hamburg"),
        ("Hausärztin der Eltern ist jetzt Frau Dr. Özkan.", "eltern | has doctor | Frau Dr. Özkan"),
        ("Papa hat einen neuen Physiotherapeuten, einen Herrn Siewert.", "Papa | has physio | Herr Siewert"),
        ("Neue Vermieterin ist eine Frau Dr. Hinrichs aus Kiel.", "I | has landlord | Frau Dr. Hinrichs"),
        ("My boss, Mr Tiemann, wants a plan by Friday.", "I | reports to | Mr Tiemann"),
        ("Jo Lind, my manager, is off sick.", "I | reports to | Jo Lind"),
        ("Levin goes to Hill School, his class teacher is Mrs Hartke.", "Levin | has class teacher | Mrs Hartke"),
        ("Levin goes to Hill School, his class teacher is Mrs Hartke.", "Levin | has school | Hill School"),
        ("Meera has started at Jimmy's as a ward sister.", "Meera | works at | Jimmy's"),
        ("So I stop looking, Nani's people:\n- GP: Dr Farrow\n- carer: Lorraine", "Nani | has doctor | Dr Farrow"),
        ("Lea works Saturdays at Greggs.", "Lea | works at | Greggs"),
        ("My wife works for Oxfam.", "wife | works at | Oxfam"),
        ("My boss's name is Carla.", "I | reports to | Carla"),
        ("The spare tyres are up in the loft.", "spare tyres | located in | loft"),
        ("Sebastian has led the team since May.", "team | led by | Sebastian"),
    ],
)
def test_a_plain_fact_is_read(text: str, fact: str) -> None:
    assert fact in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mein Chef, Herr Tiemann, hat gekündigt.",
        "Testweise läuft Paperless auf buche.",
        "Vorübergehend läuft Immich auf buche.",
        "Malte ist Kunde bei der Telekom.",
        "Anna ist krank bei Siemens.",
        "I'm allergic to Mondays.",
        "The deadline is close.",
        "Femi moved from Monzo to Starling for some bonus.",
        "Moira Kerr has retired, and Alison Tait is the practice manager now.",
        "Frau Ahlers hat gehört, unsere Apotheke sei an einen Dr. Kessler verkauft worden.",
    ],
)
def test_what_is_not_said_is_no_fact(text: str) -> None:
    assert not read(text)


def test_an_opener_is_no_part_of_a_name() -> None:
    [extraction] = Phrases().extract(with_context([Memory("m1", "Luckily Mrs Niehaus has our spare key.")]))
    assert [mention.name for mention in extraction.mentions] == ["Mrs Niehaus"]
