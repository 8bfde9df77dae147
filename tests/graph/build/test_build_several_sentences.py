"""Notes of several sentences, and changes that call a thing otherwise than the note that they are of: what they end.

Each pair is in a scope of its own: what was noted, what is noted later, what held, and what holds instead; or, where
nothing may end, what must hold still.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import hopgate
from hopgate import Memory
from hopgate.kb import KnowledgeBase

CHANGES = (
    ("Team standup is Tuesdays at 9:15.", "Starting next week standup moves to Mondays.", "tuesday", "monday"),
    ("Band rehearsal is on Thursdays.", "Rehearsal is on Wednesdays now.", "thursday", "wednesday"),
    (
        "Band rehearsal is Thursday at 7 in the fellowship hall.",
        "We rehearse in the upper room from now on.",
        "fellowship hall",
        "upper room",
    ),
    ("The lineup: Dana sings, Caleb Stoddard is our drummer, me on keys.",
     "Caleb is off to college, so Micah Tran is our drummer from here on out.", "caleb stoddard", "micah tran"),
    ("Lupe Herrera owns billing.", "Tom Baxter owns billing now.", "lupe herrera", "tom baxter"),
    ("My sister Imogen rang from Utrecht, where she lives with Joost.", "Imogen and Joost have moved to Ghent!",
     "utrecht", "ghent"),
    ("Maya takes piano from Mrs. Abernathy. Wednesdays after school.",
     "Mrs. Abernathy is retiring to Florida. Maya's new piano teacher is Mr. Okafor.", "abernathy", "okafor"),
    ("Attracta Noone is the warden at Rowan Court. She is patient with the heating.",
     "Attracta is retiring from Rowan Court. The new warden is Philip Mannion.", "warden of rowan court attracta noone",
     "warden of rowan court philip mannion"),
    ("Back to work today. Carmel Duignan is still my line manager at the health centre.",
     "Noreen Fahy has taken over from Carmel as my line manager. Carmel's gone to Merlin Park.", "carmel", "noreen"),
    ("The incubator is in the utility room.", "Lent the incubator to Wendy for her quail, so it's in her porch.",
     "utility room", "wendy"),
    ("Frau Lindner ist die Hausmeisterin im Erlenwinkel.",
     "Frau Lindner ist in den Ruhestand gegangen. Ihr Nachfolger ist Herr Dittrich.", "lindner", "dittrich"),
    ("Der Jahresbeitrag im Verein beträgt 24 Euro.", "Der Verein hat den Jahresbeitrag von 24 auf 30 Euro erhöht.",
     "24 euro", "30 euro"),
    ("Jonas hat Klavierunterricht bei Frau Lindner. Er übt nicht gern.",
     "Jonas hat in Marburg einen neuen Klavierlehrer, Herrn Bosse.", "lindner", "bosse"),
    ("Den Ersatzschlüssel hat Frau Hoppe.", "Den Ersatzschlüssel habe ich Frau Hoppe wieder abgenommen und Gudrun "
     "gegeben.", "hoppe", "gudrun"),
    ("Unser Chorleiter ist Herr Wiegand, er ist streng, aber gerecht.",
     "Wir haben uns im Chor von Herrn Wiegand verabschiedet. Frau Petrosjan hat die Chorleitung übernommen.",
     "wiegand", "petrosjan"),
)  # fmt: skip
NO_CHANGES = (
    ("Paperless runs on heron.", "Paperless gets rsynced to badger every night now as a backup.", "heron"),
    ("Dad lives in the bungalow on Chapel Lane.", "Dr Mistry is off to Leeds. Dad is under Dr Lomax now.", "bungalow"),
    ("My dentist is Mr Amin.", "Dr Okoro has left the practice, I'm with Dr Hallam now.", "mr amin"),
    ("Milas Klassenlehrerin heißt Frau Thoma.", "Milas Klasse ist umgezogen und sitzt jetzt in Raum 204.", "thoma"),
    ("Handouts for puppy class are in the blue folder.", "From this week puppy class is held in the village hall.",
     "blue folder"),
    ("Oma Trudl wohnt in Hallstadt.", "Wir haben überlegt, ob Oma Trudl ins Seniorenheim St. Otto zieht. Sie will "
     "nicht.", "hallstadt"),
    ("The café gets its coffee from Pike Roasters.", "Fire at Pike Roasters in Kendal last night, nobody hurt.",
     "pike roasters"),
    ("The U14 training is on Tuesdays.", "The U12 training is on Fridays now.", "tuesday"),
    ("Our choir sings in the chapel. Mia's practice is on Mondays.", "Noah's practice is on Fridays now.", "monday"),
    ("The wheelbarrow is in the shed.", "Lent the wheelbarrow to Rhona for August.", "shed"),
    ("Terrell is primary on-call. The rota is on the wall.", "Greg takes over as secondary on-call from Nadia.",
     "terrell"),
    # What a reviewer showed.
    ("The team standup is in room 4.", "The team standup is at 12 now.", "room 4"),
    ("Our piano teacher is Anke Sutter.", "Anke Sutter has the flu, her replacement is Lena Vogt.", "anke sutter"),
    ("Tickets for the match are in the drawer.", "The match is in Leeds now.", "drawer"),
    ("The router is in the hallway.", "The old router is in the attic now.", "hallway"),
    ("The old laptop is in the attic.", "The laptop is in the study now.", "attic"),
    ("The photos are on the NAS.", "The photos from this year are on the laptop.", "nas"),
    ("Pilates is with Rosa.", "Pilates is in the annex now.", "rosa"),
    ("Der Beitrag im Tennisclub ist 20 Euro.", "Die Musikschule hat den Beitrag von 20 Euro auf 25 Euro erhöht.",
     "20 euro"),
)  # fmt: skip


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with hopgate.open(tmp_path_factory.mktemp("sentences")) as kb:
        for at, (state, later, *_) in enumerate((*CHANGES, *NO_CHANGES)):
            kb.add(
                Memory(f"a{at}", state, scope=str(at), created_at=datetime(2024, 3, 4, tzinfo=UTC)),
                Memory(f"b{at}", later, scope=str(at), created_at=datetime(2024, 5, 4, tzinfo=UTC)),
            )
        kb.build()
        yield kb


def said(kb: KnowledgeBase, at: int) -> tuple[str, str]:
    then, now = (
        " . ".join(
            f"{edge.source} {edge.target}"
            for edge in kb.graph.edges(as_of=day, scope=str(at))
            if edge.relation not in ("works at", "has in its name", "replaced by")
        ).lower()
        for day in (datetime(2024, 4, 4, tzinfo=UTC), datetime(2024, 6, 4, tzinfo=UTC))
    )
    return then, now


@pytest.mark.parametrize("at", range(len(CHANGES)), ids=[later for _, later, *_ in CHANGES])
def test_a_change_is_read(kb: KnowledgeBase, at: int) -> None:
    then, now = said(kb, at)
    *_, before, after = CHANGES[at]
    assert before in then and after not in then
    assert after in now and before not in now


@pytest.mark.parametrize("at", range(len(NO_CHANGES)), ids=[later for _, later, _ in NO_CHANGES])
def test_what_is_of_something_else_ends_nothing(kb: KnowledgeBase, at: int) -> None:
    then, now = said(kb, len(CHANGES) + at)
    assert NO_CHANGES[at][2] in now or NO_CHANGES[at][2] not in then
