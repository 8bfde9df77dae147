"""What looks like a move and is none: another thing, a part, somebody else's, some days only, in passing, hearsay."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import hopgate
from hopgate.memory import Memory

LOOK_ALIKES = (
    ("The ladder is in the garage.", "The small ladder is in the basement now.", "garage"),
    ("The tent is in the attic.", "The tent pegs are in the car now.", "attic"),
    ("Bin day is Tuesday.", "Bin day at my parents' is Thursday now.", "tuesday"),
    ("Standup is at 9:30.", "Standup is at 9:45 on Fridays now.", "9:30"),
    ("The car is in the garage.", "The car is in the snow now.", "garage"),
    ("Jellyfin runs on otter.", "Tomas' Jellyfin is on badger now.", "otter"),
    ("Jellyfin runs on otter.", "Tomas moved his Jellyfin to badger.", "otter"),
    ("Jellyfin runs on otter.", "At work Jellyfin is on badger now.", "otter"),
    ("Jellyfin runs on otter.", "Moved Jellyfin's cache from otter to badger.", "otter"),
    ("Femke lives in Utrecht.", "Femke works in Lisbon now, two days a week.", "utrecht"),
    ("Femke lives in Utrecht.", "They say Femke lives in Lisbon now.", "utrecht"),
    ("The rent is €870.", "The garage rent is €95 now.", "€870"),
    ("The router is in the hall.", "Took the cover off the router and put it on the shelf.", "hall"),
    ("The car is in the garage.", "The car parks in the street this week.", "garage"),
    ("My phone is a Pixel 6.", "Mum replaced her Pixel 6 with a Fairphone 5.", "pixel 6"),
    ("Javier: vivo en Valencia.", "Javier: mi hermana vive en Málaga ahora.", "valencia"),
    ("Gitea runs on otter.", "The Gitea docs are on badger now.", "otter"),
    ("Finn: I live in Hull.", "Finn: yeah right, and I've moved to Monaco", "hull"),
    ("Jellyfin runs on otter.", "Moved Jellyfin to badger and moved it back before lunch.", "otter"),
    ("Jellyfin runs on otter.", "Moved Jellyfin to badger for the stress test, badger is off again.", "otter"),
    ("Jellyfin runs on otter.", "Set up a second Jellyfin for the kids, it's on badger.", "otter"),
    ("Jellyfin runs on otter.", "The cron jobs beside Jellyfin were moved from otter to badger.", "otter"),
    ("Jellyfin runs on otter.", "The library in town moved their Jellyfin to badger.", "otter"),
    ("Femke lives in Utrecht.", "Bas told us Femke had moved to Lisbon. He got it wrong.", "utrecht"),
    ("Femke lives in Utrecht.", "Femke moved to Lisbon in March, was lonely, and moved back to Utrecht.", "utrecht"),
    ("Femke lives in Utrecht.", "Femke, the baker's daughter from number 9, has moved to Lisbon.", "utrecht"),
    ("Femke lives in Utrecht.", "In the school play Femke has moved to Lisbon.", "utrecht"),
    ("Femke lives in Utrecht.", "Femke went from Utrecht to Lisbon by train and came home on Sunday.", "utrecht"),
    ("Oma Trude wohnt in Celle.", "Im Traum ist Oma Trude nach Rom gezogen.", "celle"),
    ("Bram works at Philips.", "Bram's wife left Philips and now works at Shell.", "philips"),
    ("Bram works at Philips.", "Bram now works at Phillips, typo, Philips of course.", "philips"),
    ("Bram works at Philips.", "The paper wrote that Bram works at Shell now, which is nonsense.", "philips"),
    ("Bram reports to Eva.", "The man who sits beside Bram reports to Kurt from now on.", "eva"),
    ("The wine club is led by Eva.", "Eva is away this week, Kurt is standing in for her at the wine club.", "eva"),
    ("The printer is in the hall.", "Labels for the printer are in the desk drawer.", "hall"),
    ("Mr Poe is chairman of the chess club.", "Ida is the new treasurer of the chess club.", "mr poe"),
    ("The review is in room 7.", "On the last Friday of the month the review moves to room 4.", "room 7"),
)


def test_what_looks_like_a_move_ends_nothing(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        for at, (state, later, _) in enumerate(LOOK_ALIKES):
            kb.add(
                Memory(f"a{at}", state, scope=str(at), created_at=datetime(2024, 3, 4, tzinfo=UTC)),
                Memory(f"b{at}", later, scope=str(at), created_at=datetime(2024, 5, 4, tzinfo=UTC)),
            )
        kb.build()
        for at, (_, later, value) in enumerate(LOOK_ALIKES):
            held = kb.graph.edges(as_of=datetime(2024, 6, 4, tzinfo=UTC), scope=str(at))
            assert value in {edge.target.lower() for edge in held}, later


MOVES = (
    ("The ladder is in the garage.", "The ladder is in the basement now.", "garage", "basement"),
    ("Jellyfin runs on otter.", "Moved Jellyfin to badger.", "otter", "badger"),
    ("Immich is on puffin.", "Immich is on cormorant now, puffin was out of memory.", "puffin", "cormorant"),
    ("Gitea runs on the Pi 4.", "Took Gitea off the Pi 4 and put it on the mini PC.", "pi 4", "mini pc"),
    ("Car insurance: Allianz, 480 a year.", "Car insurance is with HUK now.", "allianz", "huk"),
    ("My phone is a Pixel 6.", "Replaced my Pixel 6 with a Fairphone 5.", "pixel 6", "fairphone 5"),
    ("Rehearsals are in the gym.", "Rehearsals are at the Cannery as of this week.", "gym", "cannery"),
    ("Standup is in the Blue Room.", "Standup happens in the Pavilion from this week on.", "blue room", "pavilion"),
    ("The fee is due 2024-07-14.", "The fee is due 2024-07-21 instead of 2024-07-14.", "2024-07-14", "2024-07-21"),
    ("Mara: I live in Ghent.", "Mara: we moved to Antwerp last month, come visit!", "ghent", "antwerp"),
    ("Lars: mri is booked for 3 November", "Lars: mri pushed back to 17 November", "2024-11-03", "2024-11-17"),
    ("Javier: vivo en Valencia.", "Javier: me he mudado de Valencia a Málaga.", "valencia", "málaga"),
    ("Elena: vivo a Torino.", "Elena: mi sono trasferita da Torino a Milano.", "torino", "milano"),
    ("Théo: j'habite à Nantes", "Théo: j'ai déménagé de Nantes à Rennes", "nantes", "rennes"),
    ("Sanne: ik woon in Utrecht", "Sanne: ik ben van Utrecht naar Leiden verhuisd", "utrecht", "leiden"),
    ("Jan: ich arbeite bei Bosch", "Jan: ich arbeite jetzt bei Zeiss", "bosch", "zeiss"),
    ("Unsere Probe ist im Pfarrsaal.", "Unsere Probe ist jetzt in der Turnhalle.", "pfarrsaal", "turnhalle"),
    ("Onze tandarts is dokter Smits.", "Sinds 2 mei is dokter Kok onze tandarts.", "dokter smits", "dokter kok"),
    ("La chorale est en salle 3.", "La chorale est désormais en salle 9.", "salle 3", "salle 9"),
    ("Le lezioni sono il lunedì.", "Le lezioni non sono più il lunedì: ora sono il venerdì.", "lunedì", "venerdì"),
    ("Quiz night is on Mondays.", "Quiz night used to be on Mondays; it's on Fridays now.", "monday", "friday"),
    ("The mailer is on Mailchimp.", "We're done with Mailchimp. The mailer is on Brevo.", "mailchimp", "brevo"),
    ("Our sitter is Hetty.", "With Hetty off at uni, Clara is our sitter.", "hetty", "clara"),
    ("The proxy is nginx.", "Caddy has taken the place of nginx as the proxy.", "nginx", "caddy"),
    ("The loaf costs 4.20.", "The loaf now costs 4.60.", "4.20", "4.60"),
    ("Tom has the small room.", "Ida has moved into the small room, Tom left.", "tom", "ida"),
    (
        "Selma leads the data team.",
        "Selma has stepped down as lead of the data team; Ivo has taken the role.",
        "selma",
        "ivo",
    ),
    ("Priya is in the Search team.", "Priya switched from the Search team to the Payments team.", "search", "payments"),
    ("Rui: I own the checklist", "Rui: the checklist isn't mine any more, Agnes owns it", "rui", "agnes"),
    ("The spare key is with Fatima.", "Fatima gave the spare key back, it is with Nora now", "fatima", "nora"),
    ("The first aid kit: hall.", "The first aid kit is in the kitchen now.", "hall", "kitchen"),
    ("The heater is on the balcony.", "The heater is on the roof now.", "balcony", "roof"),
    ("The zigbee stick is in the hall.", "Put the zigbee stick in the attic instead of the hall.", "hall", "attic"),
    ("The Easter boxes are in the loft.", "Brought the Easter boxes down to the cellar.", "loft", "cellar"),
    ("My bike is in the yard.", "Put my bike in the bike shed, it got wet in the yard.", "yard", "bike shed"),
    ("Our babysitter is Hetty.", "Hetty is off to college, so Clara is our babysitter now.", "hetty", "clara"),
    ("Our toaster is a Bosch.", "The Bosch gave up, replaced it with a Smeg.", "bosch", "smeg"),
    ("Elsie's teacher is Miss Ray.", "Elsie has a new teacher, Mr Poe, instead of Miss Ray.", "miss ray", "mr poe"),
    ("The logo costs 900 euros.", "Raised the logo from 900 to 1100 euros.", "900 euros", "1100 euros"),
    ("vps costs 6 eur a month", "vps now costs 9 eur a month", "6 eur", "9 eur"),
    ("The book is due 2024-05-09.", "Renewed the book, it is due 2024-06-30 now.", "2024-05-09", "2024-06-30"),
    (
        "The choir meets in St Ann's hall.",
        "The choir meets in the Methodist church now.",
        "st ann's hall",
        "methodist church",
    ),
    ("Our chat is Rocket.Chat.", "We asked twice whether it pays: our chat is Zulip now.", "rocket.chat", "zulip"),
    ("Treasurer of the chess club: Maude.", "Ivo is the new treasurer of the chess club.", "maude", "ivo"),
    ("Kofi: I train at PureGym", "Kofi: cancelled PureGym, been training at Ironworks since", "puregym", "ironworks"),
)


def test_a_move_still_does(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        for at, (state, later, _, _) in enumerate(MOVES):
            thread = "talk" if ": " in state[:8] else None
            kb.add(
                Memory(f"a{at}", state, scope=str(at), thread=thread, created_at=datetime(2024, 3, 4, tzinfo=UTC)),
                Memory(f"b{at}", later, scope=str(at), thread=thread, created_at=datetime(2024, 5, 4, tzinfo=UTC)),
            )
        kb.build()
        for at, (_, later, old, new) in enumerate(MOVES):
            before, after = (
                {
                    edge.target.lower()
                    for edge in kb.graph.edges(as_of=datetime(2024, month, 14, tzinfo=UTC), scope=str(at))
                }
                for month in (3, 6)
            )
            assert old in before and new not in before, (later, before)
            assert new in after and old not in after, (later, after)


def test_a_speaker_who_is_called_like_a_month_is_no_date(tmp_path: Path) -> None:
    with hopgate.open(tmp_path) as kb:
        kb.add(Memory("m1", "June: I moved to York.", thread="talk", created_at=datetime(2024, 3, 4, tzinfo=UTC)))
        kb.build()
        assert [edge.valid_from for edge in kb.graph.edges()] == [datetime(2024, 3, 4, tzinfo=UTC)]
