"""Where things are: the rooms of a house, and what a sentence says to hold instead of what it denies."""

from __future__ import annotations

import re

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.words import words

_ROOMS = words(
    """
    hall hallway corridor kitchen bathroom bedroom nursery study office lounge livingroom room attic loft
    cellar basement garage shed hut cabin lockup outhouse clubhouse garden greenhouse
    porch balcony terrace pantry larder cupboard wardrobe drawer shelf rack utility
    laundry workshop
    conservatory barn stable boathouse storage storeroom warehouse lab closet car van boot trunk yard landing staircase
    floor lobby foyer canteen reception stairwell playroom sunroom
    safe chest box locker desk dresser cabinet bag basket
    flur küche bad badezimmer schlafzimmer kinderzimmer arbeitszimmer büro wohnzimmer zimmer dachboden keller
    garage schuppen
    hof carport einfahrt garten gartenhaus balkon terrasse speisekammer
    schrank schublade regal werkstatt waschküche diele abstellraum auto
    cuisine salon chambre bureau grenier cave jardin placard tiroir couloir cocina salón dormitorio despacho
    sótano garaje
    jardín armario cajón trastero desván balcón
    keuken gang slaapkamer kantoor zolder kelder schuur tuin kast lade cucina soggiorno
    camera ufficio
    soffitta cantina giardino armadio
    """
)
# Where something or somebody is for an hour or a week, and is not kept.
_PASSING = words(
    """
    sun shade rain snow cold heat dark fog wind air mud pocket hand hands lap mouth way post mail queue traffic repair
    dishwasher wash laundrette washing dryer oven microwave hospital surgery bath shower pool sink bed
    discussion talks planning construction
    sonne schatten regen schnee tasche hand spülmaschine wäsche reparatur krankenhaus post soleil pluie neige poche
    lave-vaisselle réparation hôpital sol sombra lluvia nieve bolsillo lavavajillas reparación hospital zon regen
    sneeuw zak vaatwasser reparatie ziekenhuis gespräch planung bau rente
    """
)
_VEHICLES = words(
    "car van bike bicycle motorbike motorcycle scooter truck tractor auto fahrrad rad vélo coche bici fiets"
)
_WORKSHOPS = words("workshop werkstatt garagiste taller werkplaats shop service mechanic dealer")
_STREETS = words(
    "street lane road avenue square park court close drive way terrace hill row quay yard place house hall centre "
    "center farm straße strasse weg platz allee gasse ring ufer straat laan plein kade"
)
_ROOM_ENDINGS = ("zimmer", "keller", "küche", "schrank", "regal", "schuppen", "kammer", "kamer")
_NUMBERED = words("room raum zimmer salle sala zaal hall building lab bay shelf locker rack floor")
CONTRASTS = words("sondern but aber mais sino maar rather")
"""Words before what is so instead."""
# After what is over: "…, but on B", "…, he's in B now", "…, sondern in B".
_BUT = compiled(
    r"(?: any ?more| more)?(?: (?:since|seit|depuis) ⟦\d+⟧)? ?[,;–-]? ?"
    r"(?:(?:but|sondern|sino|mais|maar|rather)(?: (?:it|he|she|they) (?:is|are|'s|'re))?|(?:it|he|she|they|er|"
    r"sie|es|elle|il|él|ella|hij|zij) (?:'s|'re|is|are|ist|est|está)(?: now)?)"
    r"(?: (?:now|jetzt|nun|ahora|maintenant|nu|lives|works|runs))*"
    r" (?:in|on|at|for|auf|bei|beim|im|in|en|chez|à|op|bij|with|to|sur|su|dans)"
    r"(?: the| der| dem| meinem| unserem| de| het| la| le| el)? "
    r"(⟨(?:team )?\d+⟩|[^\W\d_]+(?: \d[\w.]*| [^\W\d_]+)?)"
)
_NO_LONGER = compiled(r"\b(?:no longer|not any ?more|nicht mehr|ya no|niet meer|plus)\b")


# Somebody put it there, or it is there since a change: neither is said of a town in a country.
_PUT = compiled(
    r"\b(?:sits?|stands?|hangs?|parked|moored|kept|stored|moved|relocated|shifted|now|currently|since|"
    r"umgestellt|umgeräumt|verschoben|geräumt|gestellt|gebracht|getragen|gepackt|gehängt|gelegt|"
    r"these days|any ?more|"
    r"steht|stehen|hängt|jetzt|nun|seit|inzwischen|hangt|nu|sinds|maintenant|désormais|depuis|ahora|desde|ora|adesso)\b"
)


def tells_change(said: str, rest: str) -> bool:
    """Whether words say that something has been put where it is, or is there now.

    Examples
    --------
    >>> tells_change("⟨0⟩ is in ⟨1⟩", ""), tells_change("⟨0⟩ is in ⟨1⟩", " now"), tells_change("⟨0⟩ stands in ⟨1⟩", "")
    (False, True, True)
    """
    return bool(_PUT.search(said) or re.match(r" (?:now|jetzt|nu|ahora|maintenant|these days)\b", rest))


_SCHOOL = compiled(
    r"\b(?:School|Primary|Nursery|Kindergarten|Kita|Preschool|Academy|College|Elementary|High|Grammar|Infants|Juniors|Schule|Grundschule|Gymnasium|"
    r"Realschule|Gesamtschule|École|Collège|Lycée|Colegio|Instituto|St\.?|Saint|Sankt)\b|schule$"
)


def is_room(name: str) -> bool:
    """Whether a common noun is a part of a house, where things are kept.

    Examples
    --------
    >>> is_room("utility room"), is_room("Keller"), is_room("Room Kestrel"), is_room("details")
    (True, True, True, False)
    """
    said = name.lower().split()
    return bool(said) and (said[-1] in _ROOMS or said[0] in _NUMBERED or said[-1].endswith(_ROOM_ENDINGS))


_EVENTS = words(
    """
    gig concert recital party wedding reception dinner lunch brunch picnic barbecue bbq meeting meetup workshop
    conference practice rehearsal training match tournament festival fête reunion session standup stand-up retro lesson
    lecture seminar exam chorprobe konzert sommerfest hochzeit sitzung besprechung turnier
    """
)


def is_event(name: str) -> bool:
    """Whether a thing takes place, so that where it is may change: "summer gig", "Chorprobe".

    Examples
    --------
    >>> is_event("summer gig"), is_event("Leeds"), is_event("Harbour Festival")
    (True, False, False)
    """
    return name.lower().rpartition(" ")[2] in _EVENTS and (name.islower() or " " not in name)


# "The choir meets in the Methodist church", "in St Anne's hall"
_AFTER_NAME = compiled(
    r"(?P<s> 's|) (?P<noun>(?:[^\W\d_]+ )?(?:church|hall|school|house|room|pub|club|garage|barn|shed|office|place|flat|"
    r"apartment|studio|library|centre|center|gym|mill|farm|café|cafe|restaurant|shop|workshop|warehouse|garden|park|hotel|"
    r"building|tower|chapel|cellar|attic|kitchen|loft|basement|store|cupboard|"
    r"schoolroom|inn|cabinet|drawer|counter|shelf|yard|van))(?=$| (?:now|since|on|at|from|instead|[,;.(]))"
)


def is_place(name: str) -> bool:
    """Whether a name ends in the word for a place: a café, a hall.

    Examples
    --------
    >>> is_place("Swan Cafe"), is_place("Backblaze")
    (True, False)
    """
    return bool(_AFTER_NAME.match(f" {name.rpartition(' ')[2].lower()}"))


def with_place(name: str, rest: str) -> str:
    """A name with the word for a place that follows it in a sentence.

    Examples
    --------
    >>> with_place("Methodist", " church now"), with_place("St Anne", " 's hall"), with_place("Leeds", " now")
    ('Methodist church', "St Anne's hall", 'Leeds')
    """
    found = _AFTER_NAME.match(rest)
    return f"{name}{found['s'].strip()} {found['noun']}" if found else name


def is_school(name: str) -> bool:
    """Whether a name is that of a school.

    Examples
    --------
    >>> is_school("Hillcrest School"), is_school("St Mary's"), is_school("Hillcrest")
    (True, True, False)
    """
    return bool(_SCHOOL.search(name))


def is_passing(thing: str, place: str) -> bool:
    """Whether a place is where a thing is for a while: in the sun, in the wash, a car in the workshop.

    Examples
    --------
    >>> is_passing("cat", "sun"), is_passing("cat", "kitchen"), is_passing("car", "workshop")
    (True, False, True)
    """
    where, what = place.lower().split()[-1:], thing.lower().split()[-1:]
    return bool(where) and (where[0] in _PASSING or (where[0] in _WORKSHOPS and not _VEHICLES.isdisjoint(what)))


def is_address(name: str) -> bool:
    """Whether a name is that of a street, a square or a house.

    Examples
    --------
    >>> is_address("Mill Lane"), is_address("Network Ten")
    (True, False)
    """
    return " " in name and name.rpartition(" ")[2].lower() in _STREETS


def contrast(text: str, start: int, end: int) -> str:
    """Give the name that a sentence puts in the place of what it denies between `start` and `end`, or nothing.

    Examples
    --------
    >>> contrast("⟨0⟩ no longer lives in ⟨1⟩ , he 's in ⟨2⟩ now", 0, 26)
    '⟨2⟩'
    >>> contrast("⟨0⟩ no longer lives in ⟨1⟩ , ⟨2⟩ does", 0, 25)
    ''
    """
    found = _BUT.match(text, end)
    if not found or not (_NO_LONGER.search(text, start, end + 12) or " but " in found[0] or " sondern " in found[0]):
        return ""
    return found[1] if found[1][0] == "⟨" or is_room(found[1]) else ""
