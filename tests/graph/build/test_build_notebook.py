"""One person's notes in one store, as people keep them: several things in a note, the same people in many.

What testers' notebooks showed; in stores of two notes each most of it had not.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dated_notes import note

import hopgate
from hopgate.kb import KnowledgeBase

BETWEEN, AFTERWARDS = (datetime(2024, month, 20, tzinfo=UTC) for month in (2, 7))
FIRST = (
    "My doctor is Dr Sharma, her practice is on Mill Road.",
    "Harbour Choir starts again. We rehearse on Tuesdays in St Anne's Hall and Judith Marsh conducts.",
    "Marcus Bell also teaches at Fairfield Primary, Hannah says the children adore him.",
    "Tom: heron is in the hall cupboard, next to the hoover. Don't unplug it.",
    "Priya: By the way the spare key is with Mrs Adeyemi downstairs, in case you lock yourself out.",
    "Signed up for pottery with Elena at the Adult College. Wednesdays, room 4, £12 a session.",
    "Our car is a Skoda Octavia.",
    "Rent is 890 a month, goes to Mr Keller, our landlord.",
    "Rosa has piano with Frau Sokolova every Wednesday at four.",
    "Meine Schwester Ute wohnt mit ihrem Malte in Bremen, im Viertel.",
    "Herr Krüger ist Vorsitzender vom Kleingartenverein Sonnental.",
    "Herr Lindner leitet unseren Chor seit 2019.",
    "Our contact at Brunner Logistics is Stefan Roth.",
    "Northwell's database is on db02, postgres 13.",
    "Declan: The passports are in the blue folder on top of the wardrobe.",
    "Kundendatei liegt auf dem NAS im Büro.",
    "Elternabend. Mia geht in die 7b, ihre Klassenlehrerin ist Frau Hinz.",
    "Cian plays corner back for Kilbrack GAA. U17 training is on Wednesdays at seven.",
    "The torque wrench is in the blue toolbox in the cellar.",
    "Der Akkuschrauber liegt in der Werkbank, zweite Schublade.",
    "Ladder is in the carport behind the bikes.",
    "Bríd Lally is still our ward manager on St Brigid's and already has the February roster up.",
    "Ralf Huber trainiert die E-Jugend beim SV Waldsee. Lukas spielt da im Mittelfeld.",
    "Büro im Kreativpark, sehr hell. Die Miete beträgt 320 Euro im Monat.",
    "Mein Garten: Mia hat jeden Dienstag Schwimmtraining im Hallenbad.",
    "Unser Geschäftskonto ist bei der Sparkasse, Betreuer dort ist Herr Nolte.",
    "Geschäftsführer vom Autohaus Wetzel ist Bernd Wetzel. Er unterschreibt alles selbst.",
    "The eye clinic is at St Luke's Hospital, and my consultant there is Mr Okoye.",
    "Walking group goes out on Thursdays. Seven miles over the downs, very sticky underfoot.",
    "Bike lives in the stairwell now that it is too wet outside.",
    "Curtis Boyle is my landlord at the workshop on SE 17th, nice enough.",
    "Marcus Lyle is conducting the Irwell Sinfonia again this season.",
    "Maisie's math teacher is Mr. Whitaker.",
    "Drawing register runs on bramble, and so do the timesheets.",
    "Gertrud und Alois wohnen in Mering, im Reihenhaus am Badanger.",
    "Das Raclettegerät steht in der Garage, im Regal neben den Weihnachtskisten.",
    "Impfkühlschrank steht im Labor, Temperatur jeden Morgen ablesen.",
    "Das Ultraschallgerät steht in Raum 1, das ist Holgers Sprechzimmer.",
    "Der Rasenmäher steht im Schuppen, Messer muss geschliffen werden.",
    "Neil Barlow is our contact at Stockport Council for the footbridge. Prefers phone to email.",
    "Filling done. My dentist is Mr Sharma in Burnage.",
    "Wiebke wohnt mit Mia und Lasse in Eckernförde, Lornsenstraße 12.",
    "Callum's sailing coach is Erin Zwicker.",
)
LATER = (
    "Letter from the surgery: Dr Sharma has gone to Australia and my doctor is now Dr Whitlock.",
    "Choir AGM. Judith Marsh retires at Easter after nineteen years and Marcus Bell takes over as conductor.",
    "Hannah has left Fairfield Primary for good. She works at the Castle Museum now.",
    "Tom: Yep, and Marcus has already posted the autumn dates.",
    "Tom: Mrs Adeyemi is off to Lagos for three months, so the spare key is with Hannah now.",
    "Our pottery class has moved from room 4 to room 7 because of the damp.",
    "Autohaus Brinkmann wollte 1.200 Euro für die Bremsen! Ab jetzt bringen wir das Auto zur Werkstatt Kowalski.",
    "Frau Sokolova stops teaching. Rosa's new piano teacher is Herr Brandt.",
    "Ute ist mit Malte nach Leipzig gezogen.",
    "Versammlung im Gartenverein: Herr Krüger hört auf, Frau Demir ist die neue Vorsitzende.",
    "Anna Vogt hat die Leitung vom Chor von Herrn Lindner übernommen.",
    "Stefan Roth has left Brunner Logistics. Anita Voss is the contact there from now on.",
    "Ticket 4711, Northwell: nightly report times out.",
    "Declan: No, I moved the passports to the desk drawer after the Limerick trip.",
    "Frau Kessler hört auf. Ab 1. Mai ist Herr Dornbusch unser Steuerberater, Büro in der Weender Landstraße.",
    "Frau Vogt hört auf, Mia hat jetzt bei Herrn Baum Klavierunterricht.",
    "Dr. Pohl hört auf. Unsere neue Kinderärztin ist Dr. Yilmaz.",
    "Pitch in Kilbrack flooded so the U17s trained on the astro in Athenry this week.",
    "Lent the torque wrench to Yusuf, he is rebuilding his Vespa.",
    "Habe den Akkuschrauber an Jochen verliehen, er baut eine Gartenlaube.",
    "Lent the ladder to Uwe, he brings it back tomorrow.",
    "Grace Mulkerrin is the new ward manager on St Brigid's. She was in ED before, very direct.",
    "Tobias Kern hat die E-Jugend von Ralf Huber übernommen. Lukas findet ihn cool.",
    "Die Büromiete im Kreativpark steigt von 320 auf 350 Euro.",
    "Ab sofort hat Mia ihr Schwimmtraining donnerstags statt dienstags.",
    "Herr Nolte geht in Rente. Unsere neue Betreuerin bei der Sparkasse ist Frau Albers.",
    "Carina Wetzel ist die neue Geschäftsführerin vom Autohaus Wetzel.",
    "The eye clinic has moved from St Luke's to Thirlby Cottage Hospital, and they say parking is free there.",
    "Walking group will be on Tuesdays from now on, as Jean minds her grandson on Thursdays.",
    "Moved the bike from the stairwell to the shed behind the department.",
    "Curtis sold the building. My new landlord is Nadia Feld, who also owns the tire place next to Lou.",
    "Beth Okafor has taken over from Marcus Lyle as conductor of the Irwell Sinfonia.",
    "Mr. Whitaker left to be a vice principal. Maisie's new math teacher is Ms. Tran.",
    "Dev has moved the timesheets to thistle.",
    "Gertrud und Alois sind nach Bobingen gezogen, betreutes Wohnen, zwei Zimmer mit Balkon. Drei Autos voll Bücher.",
    "Das Raclettegerät haben wir an Familie Thoma verliehen, die haben nächste Woche volle Bude.",
    "Wir hatten überlegt, den Impfkühlschrank in Raum 2 zu stellen. Wird nichts, zu wenig Steckdosen.",
    "Zweites Ultraschallgerät (gebraucht) ist da und steht in Raum 4. Holger behält seins.",
    "Rasenmäher von Herrn Maurer steht in seiner Garage, er hat mir angeboten, ihn mal zu leihen.",
    "Neil Barlow retired today. Anna Kowalska is now our contact at Stockport Council for the footbridge.",
    "Owen finally has a dentist, Ms Bell in Withington. Sixty-eight pounds for a look and a frown.",
    "Wiebke ist mit Mia und Lasse nach Flensburg umgezogen.",
    "Erin is away, so Doug coached Callum on Saturday. Cold, grey, happy boy.",
)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with hopgate.open(tmp_path_factory.mktemp("notebook")) as kb:
        kb.add(*(note(f"a{at}", text, 1) for at, text in enumerate(FIRST)))
        kb.add(*(note(f"b{at}", text, 5) for at, text in enumerate(LATER)))
        kb.build()
        yield kb


def said_of(kb: KnowledgeBase, word: str, when: datetime) -> str:
    """The edges of a day in which a word stands, as lines."""
    lines = (f"{edge.source} | {edge.relation} | {edge.target}" for edge in kb.graph.edges(as_of=when))
    return "\n".join(line for line in lines if word.casefold() in line.casefold())


@pytest.mark.parametrize(
    ("about", "before", "after"),
    [
        ("has doctor", "Dr Sharma", "Dr Whitlock"),
        ("choir", "Judith Marsh", "Marcus Bell"),
        ("spare key", "Mrs Adeyemi", "Hannah"),
        ("pottery", "room 4", "room 7"),
        ("piano teacher", "Frau Sokolova", "Herr Brandt"),
        ("Ute", "Bremen", "Leipzig"),
        ("Sonnental", "Herr Krüger", "Frau Demir"),
        ("chor |", "Herr Lindner", "Anna Vogt"),
        ("Brunner", "Stefan Roth", "Anita Voss"),
        ("passports", "blue folder", "desk drawer"),
        ("wrench", "toolbox", "Yusuf"),
        ("Akkuschrauber", "Werkbank", "Jochen"),
        ("Brigid", "Lally", "Grace"),
        ("E-Jugend", "Ralf Huber", "Tobias Kern"),
        ("miete |", "320", "350"),
        ("schwimmtraining", "dienstag", "donnerstag"),
        ("Betreuer", "Nolte", "Albers"),
        ("Autohaus Wetzel | led by", "Bernd", "Carina"),
        ("eye clinic", "St Luke", "Thirlby"),
        ("walking group", "thursday", "tuesday"),
        ("bike", "stairwell", "shed"),
        ("Sinfonia | has conductor", "Marcus Lyle", "Beth Okafor"),
        ("math teacher", "Whitaker", "Tran"),
        ("timesheets", "bramble", "thistle"),
        ("Gertrud", "Mering", "Bobingen"),
        ("Raclette", "garage", "Thoma"),
        ("contact of", "Barlow", "Kowalska"),
        ("Wiebke", "Eckernförde", "Flensburg"),
    ],
)
def test_a_change_among_many_notes_ends_what_it_is_of(
    notebook: KnowledgeBase, about: str, before: str, after: str
) -> None:
    then, now = (said_of(notebook, about, when) for when in (BETWEEN, AFTERWARDS))
    assert before in then and after not in then
    assert after in now and before not in now


@pytest.mark.parametrize(
    ("about", "still", "never"),
    [
        ("heron", "hall cupboard", "Marcus"),  # a note of something else by the same speaker
        ("Marcus Bell", "Marcus Bell", "Castle Museum"),  # somebody else's new place
        ("has car", "Skoda", "Kowalski"),  # where a car is brought to
        ("has landlord", "Nadia Feld", "890"),  # the last of three
        ("has doctor", "Dr Whitlock", "Australia"),  # where the former one went to
        ("db02", "db02", "report"),  # a label before a sentence
        ("kundendatei", "NAS", "Dornbusch"),  # an office that another one has, too
        ("Klassenlehrerin", "Frau Hinz", "Baum"),  # a title that another one has, too
        ("has doctor |", "Dr Whitlock", "Yilmaz"),  # the children's doctor
        ("U17 training", "wednesday", "astro"),  # this week
        ("ladder", "carport", "Uwe"),  # until tomorrow
        ("Impfkühlschrank", "labor", "raum 2"),  # what was only thought of
        ("ultraschallgerät |", "raum 1", "raum 7"),  # a second one
        ("rasenmäher |", "schuppen", "garage"),  # another's
        ("has dentist", "Sharma", "Withington"),  # another's
        ("sailing coach", "Erin", "Doug"),  # while she is away
    ],
)
def test_what_another_note_is_not_about_stays(notebook: KnowledgeBase, about: str, still: str, never: str) -> None:
    now = said_of(notebook, about, AFTERWARDS)
    assert still in now or not said_of(notebook, about, BETWEEN)
    assert never not in now


def test_several_things_in_one_rare_place_are_all_there(tmp_path: Path) -> None:
    things = ("minibus", "tandem", "bike")
    with hopgate.open(tmp_path) as kb:
        kb.add(*(note(thing, f"The {thing} is in the carport.", 1) for thing in things))
        kb.build()
        assert {edge.source for edge in kb.graph.edges()} == set(things)
        kb.add(note("kayak", "The kayak is in the carport.", 2))
        kb.build()
        assert {edge.source for edge in kb.graph.edges()} == {*things, "kayak"}
