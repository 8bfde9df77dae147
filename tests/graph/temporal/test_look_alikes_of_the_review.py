"""What a reviewer showed to be ended by notes that end nothing: compounds, loans that are over, a laid table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import hopgate
from hopgate import Memory
from hopgate.kb import KnowledgeBase

# What is stated, what is told later of something else, and what must hold still.
PAIRS = (
    ("Band is on Tuesdays.", "Husband moved from Tuesday to Friday.", "tuesday"),
    ("The ring is in the safe.", "The spring moved from the safe to the bench.", "safe"),
    ("Das Training ist dienstags.", "Das Torwarttraining wurde von Dienstag auf Freitag verlegt.", "dienstag"),
    ("Der Beitrag beträgt 20 Euro.", "Der Monatsbeitrag im Fitnessstudio steigt von 20 auf 25 Euro.", "20 euro"),
    ("The ladder is in the garage.", "Lent the ladder to Liam but he gave it back.", "garage"),
    ("The tripod is in the attic.", "Lent the tripod to Yusuf, got it back already.", "attic"),
    ("The mangle is in the cellar.", "Otto borrowed the mangle, returned it the same hour.", "cellar"),
    ("Der Bohrer liegt im Schrank.", "Den Bohrer hab ich Stefan geliehen, ist aber schon wieder da.", "schrank"),
    ("The wheelbarrow is in the shed.", "Lent the wheelbarrow to Rhona last year.", "shed"),
    ("Die Milch steht im Kühlschrank.", "Ich habe die Milch auf den Tisch gestellt.", "kühlschrank"),
    ("Das Auto steht in der Garage.", "Das Auto haben wir zur Inspektion in die Werkstatt gebracht.", "garage"),
    ("Der Antrag liegt im Ordner.", "Ich habe den Antrag bei der Stadt gestellt.", "ordner"),
    ("Linus is Greta's brother.", "Oskar is Greta's new brother.", "greta"),
    (
        "Judith Marsh conducts the Harbour Choir.",
        "Judith is ill so Gerald Blunt conducts the Harbour Choir.",
        "judith marsh",
    ),
    ("The Spotify fee is 10 euros.", "Netflix raises the fee from 10 to 12 euros.", "10 euros"),
    ("The API key is in the vault.", "Gave Sinéad the API key.", "vault"),
    ("The office key is with Rita.", "Gave Simon the office key to lock up.", "rita"),
)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with hopgate.open(tmp_path_factory.mktemp("review")) as kb:
        for at, (state, later, _) in enumerate(PAIRS):
            kb.add(
                Memory(f"a{at}", state, scope=str(at), created_at=datetime(2024, 3, 4, tzinfo=UTC)),
                Memory(f"b{at}", later, scope=str(at), created_at=datetime(2024, 5, 4, tzinfo=UTC)),
            )
        kb.build()
        yield kb


@pytest.mark.parametrize("at", range(len(PAIRS)), ids=[later for _, later, _ in PAIRS])
def test_nothing_is_ended(kb: KnowledgeBase, at: int) -> None:
    before, now = (
        " ".join(f"{edge.source} {edge.target}" for edge in kb.graph.edges(as_of=day, scope=str(at))).lower()
        for day in (datetime(2024, 4, 4, tzinfo=UTC), datetime(2024, 6, 4, tzinfo=UTC))
    )
    assert PAIRS[at][2] in now or PAIRS[at][2] not in before
