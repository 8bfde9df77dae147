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
        ("Den Chor leitet Annegret Pohl, und das seit 19 Jahren!", "chor | led by | Annegret Pohl"),
        ("Aylin arbeitet jetzt zehn Jahre bei der Sparkasse.", "Aylin | works at | Sparkasse"),
        ("Meine Schwester Petra arbeitet im Klinikum in der Aufnahme.", "Petra | works at | klinikum"),
        ("Die Pässe liegen in der Schublade im Büro.", "pässe | located in | schublade"),
        ("Unsere Passwörter liegen in KeePass, leider.", "passwörter | located in | KeePass"),
        ("In Lüneburg wohnt Tante Gerda.", "Tante Gerda | lives in | Lüneburg"),
        ("Oma lebt im Seniorenheim am Park.", "Oma | lives in | seniorenheim"),
        ("Auf dem NUC läuft Jellyfin.", "Jellyfin | runs on | NUC"),
        ("Wir zahlen 840 Euro Miete.", "miete | costs | 840 Euro"),
        ("Vaultwarden is on the Pi in the hall closet.", "Vaultwarden | runs on | Pi"),
        ("Petrakis raised the rent from $1,450 to $1,525.", "rent | costs | $1,525"),
        ("Lange mit Lene telefoniert. Sie wohnt in Leipzig.", "Lene | lives in | Leipzig"),
        ("My boss, Mr Tiemann, wants a plan by Friday.", "I | reports to | Mr Tiemann"),
        ("Jo Lind, my manager, is off sick.", "I | reports to | Jo Lind"),
        ("Meera has started at Jimmy's as a ward sister.", "Meera | works at | Jimmy's"),
        ("Lea works Saturdays at Greggs.", "Lea | works at | Greggs"),
        ("My wife works for Oxfam.", "wife | works at | Oxfam"),
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
