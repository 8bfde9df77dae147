"""What each of two memories states that were read together, and whether the later one may end what the earlier says.

The tagger sees what was and what is (`extract/tagger/ended_values.py`); here that meets what is known of both: a fact
that a pattern read is ended as that fact, and what is somebody else's, or another thing's, is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from hopgate.extract.extraction import Source, Stated
from hopgate.extract.rules.capitals import is_person
from hopgate.extract.rules.distinguishing import are_different_ones, is_activity
from hopgate.extract.rules.places import is_place, is_room
from hopgate.extract.rules.reading import read
from hopgate.extract.rules.stated_parts import AMOUNT, ANY, AT, OVER
from hopgate.extract.rules.subjects import KINSHIP, is_somebody
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.words import words
from hopgate.extract.tagger.ended_values import Ended
from hopgate.extract.tagger.tagged_values import OF_OTHERS, shares_start_or_end
from hopgate.graph.names import normalise
from hopgate.graph.temporal.joint_facts import statements_of
from hopgate.graph.temporal.value_sorts import JOINT_RELATIONS, ONE_AT_A_TIME, fits
from hopgate.store.graph.together_rows import StatedFact

if TYPE_CHECKING:
    from hopgate.store.graph.stated_rows import NewStatement

# After what the memory states by itself.
PLACE = 1000
# A word's ending has no more letters.
_ENDING = 3
_THERE = re.compile(
    r"(?i)\b(?:steht|liegt|hängt|ist|sind|is|are|sits|stands|hangs)\b[^.;,]{0,40}\b"
    r"(?:dort|darin|drin|there)\b(?! hinten| drüben)"
)
_PLACES = {"runs on", "located in"}
_TAUGHT = re.compile(
    r"(?i)\b(?:taught|teach(?:es)?|led|coached|conducts?|(?:class|course|lessons?|kurs) (?:is )?with|leitet)\b"
)
_MOVED = re.compile(r"(?i)\b(?:mov(?:ed|es|ing)|gezogen|umgezogen|zieht|zogen|lives?|living|wohnt|wohnen)\b")
_STARTED = re.compile(
    r"(?i)\b(?:start(?:s|ed)|join(?:s|ed)|mov(?:ed|es)|first day|new job|new post|works?|working|angefangen|fängt|"
    r"arbeitet|gewechselt)\b"
)
_TRAVELS = re.compile(
    r"(?i)\b(?:dr(?:o|i)ve[sn]?|driving|fl(?:ew|ies|y|ying)|travel(?:l?ed|s)|cycled|walked|ran|rode|trains?|bus|trip|"
    r"commut(?:es|ed|ing)|gefahren|geflogen|geradelt|gelaufen|gewandert|gependelt|pendelt|fährt)\b"
)
_THEIRS = KINSHIP | words(
    "company firm friend friends boss colleague neighbour firma freund freundin kollege kollegin chef chefin"
)
# Few words, and none that says that it is over.
_BETWEEN = r"(?: (?!statt|instead|not|nicht|no|from|vom|to|into|nach)\w+){0,4}"
_MOVES_IT = re.compile(
    r"(?i)\b(?:moved|shifted|transferred|brought) (?:the|an?|her|his|my|our|their) (?:\w+ ){1,2}(?:from|to)\b"
)
# Of these there may be several, and yet one is over where that is said; an allergy does not end in passing.
_SEVERAL = {"part of", "bought from", "uses"}


class Together(NamedTuple):
    """An earlier and a later memory, by their ids and as they are read."""

    earlier_id: int
    later_id: int
    earlier: Source
    later: Source
    is_told: bool = True


def statements(pair: Together, ended: Ended, stated: Mapping[int, Sequence[StatedFact]]) -> Iterator[NewStatement]:
    """What each of two memories states, in the words in which it is known to state it by itself."""
    before = [one for one in stated.get(pair.earlier_id, ()) if shares_start_or_end(one.value, ended.former)]
    if any(one.is_over for one in before):
        return  # "Ada lived in Rome from 2010 to 2015"
    told = stated.get(pair.later_id, ())
    if not ended.value and any(one.is_over and shares_start_or_end(one.value, ended.former) for one in told):
        return  # it says so by itself
    now = [one for one in told if ended.value and not one.is_over and shares_start_or_end(one.value, ended.value)]
    called = set(normalise(ended.thing).split())
    # What a pattern read is a fact already; else it is the same thing where it is called so.
    before = [one for one in before if one.relation not in JOINT_RELATIONS] or [
        one for one in before if one.thing and (not called or called & set(normalise(one.thing).split()))
    ]
    if not before and (typed := _stated_alike(stated.get(pair.earlier_id, ()), now)):
        before = typed
    if not before and not ended.value:
        # "Hamish is secretary of the club": of the club, as a pattern read it.
        before = [
            one
            for one in stated.get(pair.earlier_id, ())
            if one.value == ended.thing and one.relation == f"has {ended.former}"
        ]
    was = before[0] if before else StatedFact(ended.thing, ended.former_relation, ended.former)
    if not was.thing or _is_told_by_itself(was, now) or not _may_end(was, ended, now, pair.later):
        return
    if (
        _is_of_somebody_else(was, pair.later, now)
        or _names_another(was, now, pair.earlier)
        or _is_other_thing(was, ended, pair.earlier, pair.later)
    ):
        return
    if any(_is_called(one, was) for one in now):
        return  # it is what was that has changed: of "Paperless runs on the NAS" the NAS is in the attic now
    if ended.value:
        value = next((one.value for one in now if one.relation not in JOINT_RELATIONS), ended.value)
        change = Stated(was.thing, _relation(was, ended, now), value, was.value, is_change=True)
    else:
        change = Stated(was.thing, OVER, was.value, was.value, is_change=True)
    for row in statements_of(pair.earlier_id, [Stated(was.thing, was.relation, was.value)]):
        yield row._replace(place=PLACE, read_with=pair.later_id)
    for row in statements_of(pair.later_id, [change]):
        yield row._replace(place=PLACE, read_with=pair.earlier_id, valid_from=_since(now, pair.earlier))


def _stated_alike(earlier: Sequence[StatedFact], now: Sequence[StatedFact]) -> list[StatedFact]:
    """What the earlier memory states by a relation of which the later states another value of the same thing."""
    told = {(normalise(one.thing), one.relation) for one in now if one.relation not in JOINT_RELATIONS}
    return [one for one in earlier if (normalise(one.thing), one.relation) in told and not one.is_over]


def _relation(was: StatedFact, ended: Ended, now: Sequence[StatedFact]) -> str:
    """How the new value goes with the thing: as the rules read it, where they read it of this thing by its name."""
    read = (
        one.relation
        for one in now
        if one.relation in ONE_AT_A_TIME and one.relation not in JOINT_RELATIONS and not one.is_doubted
        if normalise(one.thing) == normalise(was.thing)
    )
    if was.relation in JOINT_RELATIONS:
        return next(read, ended.relation)
    # Of "my desk is 14" no 22 is the price.
    return ANY if was.relation.startswith("has ") and ended.relation == AMOUNT else ended.relation


def _is_told_by_itself(was: StatedFact, now: Sequence[StatedFact]) -> bool:
    """Whether the later memory states the same by itself: of the same thing, which ends what was; or of another one."""
    if was.relation in JOINT_RELATIONS or was.relation not in ONE_AT_A_TIME:
        return False
    mine = normalise(was.thing).split()
    others = [normalise(one.thing).split() for one in now if one.relation == was.relation and not one.is_doubted]
    return bool(others) and (mine in others or not any(set(mine) & set(words) for words in others))


def _is_of_somebody_else(was: StatedFact, later: Source, now: Sequence[StatedFact]) -> bool:
    """Whether the later memory says of another by name what it might say of this one, whom it does not mention.

    "Hannah has left Fairfield Primary, she works at the museum now" is not about Marcus Bell, who teaches there, too.
    """
    named = set(normalise(was.thing).split())
    if was.thing.islower() and any(one.relation == "uses" and one.thing[:1].isupper() for one in now):
        return True  # "Marketing uses Teams for chat now"
    if was.thing.islower() or named & set(normalise(later.text).split()):
        return False
    read = (one for one in now if one.relation not in JOINT_RELATIONS and one.relation != "replaced by")
    others = [one.thing for one in read if not one.is_doubted]
    return any(not one.islower() and named.isdisjoint(normalise(one).split()) for one in others)


def _names_another(was: StatedFact, now: Sequence[StatedFact], earlier: Source) -> bool:
    """Whether the later memory says itself what is over, and that is something else: "took it over from Ralf"."""
    named = [one.former for one in now if one.relation in JOINT_RELATIONS]
    value, said = normalise(was.value), set(normalise(earlier.text).split())
    # Of "the USB disk in the cupboard" both may be said to be over.
    told = any(shares_start_or_end(former, value) or set(normalise(former).split()) <= said for former in named)
    return bool(named) and all(named) and not told


def _is_other_thing(  # noqa: PLR0911
    was: StatedFact, ended: Ended, earlier: Source, later: Source
) -> bool:
    """Whether the later memory speaks of another thing of the kind, or of what the thing is for: not of it."""
    told = set(normalise(later.text).split())
    if are_different_ones(was.thing, later.text) or _is_there(was, later):
        return True
    if not ended.names_former and _is_in_a_compound(was.thing, told):
        return True
    if _is_of_theirs(was.thing, later.text) or _is_within(was, ended, later.text):
        return True
    if was.relation == "has school" and is_room(ended.value):
        return True
    # "Handouts for puppy class" are not the puppy class, which has moved.
    head, of, owner = normalise(was.thing).partition(" for ")
    if of and not ended.names_former and told.isdisjoint(head.split()) and set(owner.split()) <= told:
        return True
    # "Denise is Aunt Peggy's carer": that is not Peggy.
    values = (value for value in (ended.value, was.value) if value)
    if any(set(normalise(value).split()) <= set(normalise(was.thing).split()) for value in values):
        return True
    if not ended.value:
        return not _is_of_it(was, later)
    # Of somebody, and of what somebody teaches, a place is no other one of a person.
    if (is_somebody(was.thing) or is_activity(was.thing)) and _are_unlike(was.value, ended.value):
        return True
    # A class that moves to another room does not get another teacher.
    of_person = was.relation.startswith(("has ", "led by", "owned by", "reports to")) or _TAUGHT.search(earlier.text)
    somebody = is_person(was.value) and of_person
    return bool(somebody) and (ended.value.islower() or is_room(ended.value) or any(map(str.isdigit, ended.value)))


def _is_of_it(was: StatedFact, later: Source) -> bool:
    """Whether a note that says something is over says it of this thing, and not of another that has it, too.

    "Hannah has left Fairfield Primary" is not about Marcus Bell, who teaches there, nor "she has quit Ziggo" about me.
    """
    told = set(normalise(later.text).split())
    if set(normalise(was.thing).split()) & told:
        return True
    value = set(normalise(was.value).split())
    others = (span.name for span in read(later).spans if is_person(span.name))
    if not value & told or not all(value & set(normalise(one).split()) for one in others):
        return False
    return is_person(was.value) or (was.thing == later.owner and OF_OTHERS.isdisjoint(told))  # "cancelled Ziggo"


def _is_within(was: StatedFact, ended: Ended, later: str) -> bool:
    """Whether a room is told of where something is: "Grandpa moved to a bigger room at Willow Court"."""
    if not is_room(ended.value) or is_room(was.value):
        return False
    room, house = re.escape(ended.value), re.escape(was.value)
    return bool(re.search(rf"(?i){room}{_BETWEEN} {house}|(?<!from )(?<!vom )(?<!aus ){house}{_BETWEEN} {room}", later))


def _is_there(was: StatedFact, later: Source) -> bool:
    """Whether a place is only told more closely: "the mower is there now, at the back under the shelf"."""
    return bool(_THERE.search(later.text)) and was.relation in {*_PLACES, AT}


def _is_in_a_compound(thing: str, told: set[str]) -> bool:
    """Whether a thing is only named as the first part of a word: "das Praxiskonto" is not the Praxis."""
    called = normalise(thing).rpartition(" ")[2]
    longer = (word for word in told if word.startswith(called) and len(word) > len(called) + _ENDING)
    return len(called) > _ENDING and called not in told and any(longer)


def _are_unlike(one: str, other: str) -> bool:
    """Whether one of two values is somebody and the other is not; of two names nobody knows they are alike."""
    if is_somebody(one) == is_somebody(other):
        return False
    unknown = other if is_somebody(one) else one
    known = is_room(unknown) or is_place(unknown) or is_town(unknown)
    return known or not unknown.istitle() or " " not in unknown


def _is_called(one: StatedFact, was: StatedFact) -> bool:
    """Whether a statement is of what was, by its name, and not of the thing that had it."""
    thing, value, name = (set(normalise(text).split()) for text in (was.thing, was.value, one.thing))
    return one.relation != "replaced by" and bool(name & value - thing)


def _may_end(was: StatedFact, ended: Ended, now: Sequence[StatedFact], later: Source) -> bool:
    """Whether a note may end what a pattern read, by what its own words are known to say of the new value."""
    if was.relation in JOINT_RELATIONS:
        return True
    if was.relation in ("lives in", "works at"):
        # Where one works is not where one lives; and "the desk by the window" is no employer.
        verbs = _MOVED if was.relation == "lives in" else _STARTED
        moved = bool(verbs.search(later.text)) or (ended.names_former and not _TRAVELS.search(later.text))
        read = [one.relation for one in now if one.relation not in JOINT_RELATIONS]
        fitting = any(fits(one, was.relation) for one in read) if read else moved
        # "It is quiet above my head": nobody lives there.
        plain = ended.value.islower()
        told = not plain or (was.value.islower() and (is_room(ended.value) or is_place(ended.value)))
        if was.relation == "lives in" and _MOVES_IT.search(later.text):
            return False  # "Mona moved her office from Porto to Braga"
        elsewhere = was.relation == "works at" and is_town(ended.value) and not is_town(was.value)
        return fitting and told and not elsewhere and not is_person(ended.value)
    # What the rules read of "the reverse proxy" goes with what somebody "has reverse proxy".
    role = was.relation.removeprefix("has ")
    others = [
        one.relation
        for one in now
        if one.relation not in JOINT_RELATIONS and one.relation != "replaced by" and normalise(one.thing) != role
    ]
    if was.relation in _SEVERAL:
        # "left the club in high spirits"
        return not ended.value.islower() and (ended.names_former or was.relation in others)
    # Where the rules read the new value otherwise, it is of something else.
    fitting = not others or any({one, was.relation} <= _PLACES or fits(one, was.relation) for one in others)
    return was.relation in ONE_AT_A_TIME and was.relation != "married to" and fitting


def _is_of_theirs(thing: str, text: str) -> bool:
    """Whether a note is of somebody or something of a person, and not of him: "Olaf's company", "Lenas Freundin"."""
    found = re.search(rf"\b{re.escape(thing)}(?:['’]s|s) ([^\W\d_]+)", text)
    return found is not None and found[1].lower() in _THEIRS


def _since(now: Sequence[StatedFact], earlier: Source) -> datetime | None:
    """Since when something is so; not since before it was noted to be otherwise."""
    dates = (one.valid_from for one in now if one.valid_from)
    return next((day for day in dates if not earlier.created_at or day > earlier.created_at), None)
