"""Wordings that look like others that tell something: what a reviewer made of new patterns."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hopgate.extract.extraction import Fact, Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared


def facts(text: str, day: int = 1) -> list[tuple[str, str, str, str | None]]:
    """What a note of March 2024 states for sure."""
    source = Source("m1", Cleared(text), created_at=datetime(2024, 3, day, tzinfo=UTC))
    made: tuple[Fact, ...] = Phrases().extract([source])[0].facts
    return [(fact.subject, fact.relation, fact.object, fact.valid_from) for fact in made]


@pytest.mark.parametrize(
    "text",
    [
        "One of my books is due 3 May.",
        "The essay was due on the 14th.",
        "The slides are due on the 2nd day of the conference.",
        "The report is due by the 3rd reviewer.",
        "Rent is due on the 1st of every month.",
        "Ubuntu läuft seit 22.04 auf birch.",
        "Tom asked me to help Sarah move to Bristol.",
        "Anna found her own place in Team Blue.",
        "Standup is at 10:00 from tomorrow until Friday.",
        "Die Nachbarn haben das Fahrrad in den Keller gestellt.",
        "Ich glaube, wir haben das Zelt in den Keller geräumt.",
        "Le bus passe à 10h.",
        "Das Sommerfest ist am Freitag ausgefallen.",
    ],
)
def test_nothing_is_told_for_sure(text: str) -> None:
    assert facts(text, 20) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Mrs Holloway is the piano teacher of Emma.", ("Emma", "has piano teacher", "Mrs Holloway", "2024-03-20")),
        ("Renewal for the domain is due 3 May.", ("domain", "due", "2024-05-03", None)),
        ("The essay is due on the 14th.", ("essay", "due", "2024-03-14", None)),
        ("The essay is due by the 2nd.", ("essay", "due", "2024-04-02", None)),
        ("Das Training ist ab 18.10 Uhr.", ("training", "takes place", "18.10 uhr", None)),
        ("Das Sommerfest ist am Freitag geplant.", ("sommerfest", "takes place", "freitag", None)),
        ("Wir haben das Zelt in den Keller geräumt.", ("zelt", "located in", "keller", "2024-03-20")),
        ("Borough Market is in London.", ("Borough Market", "located in", "London", None)),
        ("The summer gig is in the village hall.", ("summer gig", "located in", "village hall", "2024-03-20")),
    ],
)
def test_what_is_told_by_nearly_the_same_words(text: str, told: tuple[str, str, str, str | None]) -> None:
    assert told in facts(text, 20 if told[3] or "2nd" in text else 1)
