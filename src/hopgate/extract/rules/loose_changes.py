"""What a note about a change may mean: the things that it names, and the one new value that it leads to.

"Rui is off to Lisbon, so the newsletter went over to Hedda for good": not read, but the newsletter, and to Hedda. That
says nothing by itself. Where another note has stated something of such a thing, it tells that this is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hopgate.extract.extraction import Stated
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.places import is_passing, is_room
from hopgate.extract.rules.stated_parts import (
    ARTICLES,
    DAYS,
    DOUBT,
    MAY_BE_AMOUNT,
    MAY_BE_NAME,
    MAY_BE_WHEN,
    MINE,
    NOW,
    PLACES,
    Part,
    is_name,
    thing_at,
    value_at,
)
from hopgate.extract.rules.words import words

_CHANGES = table("changes")
_CUES = NOW | (words(_CHANGES["change"]) | words(_CHANGES["values"])) - words(_CHANGES["state"]) - words(
    "update updated home up from until takes starts got goes put started begins gone later earlier cut"
)
# What is said of others, of what was, or of a part of the sentence alone; a note with any other doubt tells nothing.
_BY_THE_WAY = words("was were had before not no isn't aren't said never didn't wasn't don't doesn't today yesterday")
_DENIED = words("not no isn't aren't never didn't wasn't don't doesn't yet")
_TOWARDS = words(
    """
    to onto into on in at with by is are 's 're : now -> → => under through via use uses using called named become
    becomes became welcome hello joined behind inside chose choose picked
    """
)
_AWAY = words("from of off instead until till was were than leaving left without not no like after before since")
_HOLDS = re.compile(
    r"^(?: (?:has|have|is|'s|will|now|just|finally|officially))*"
    r" (?:taken|took|takes|taking|stepped|steps|does|doing|runs|leads|heads|handles|handling|owns|got|gets|inherited|"
    r"inherits|picked|looks after|in charge|responsible|(?:the|our|my) (?:new )?[^\W\d_]+$|replaces|replaced|chairs)\b"
)
_SKIPPED = ARTICLES | MINE | NOW | words("over up down back out")
_BREAKS = frozenset((",", ";", ":", "-", "–", "(", ")", "and", "but", "so"))
_NO_THING = words("it that this one time day week month year end moment change news thanks everything nothing something")
MOST_THINGS, MOST_NAMES, MOST_IN_NOTE = 5, 4, 40


def loose_changes(texts: Sequence[str]) -> Iterator[Stated]:
    """Yield what encoded sentences of one note may tell to have changed, each thing with the one new value.

    Examples
    --------
    >>> for one in loose_changes(["after years with us the newsletter went over to ⟨2⟩"]):
    ...     print(one.thing, "|", one.value)
    newsletter | ⟨2⟩
    """
    said = [text.split() for text in texts]
    every = {word for words_ in said for word in words_}
    if sum(map(len, said)) > MOST_IN_NOTE or _CUES.isdisjoint(every) or not (every & DOUBT) <= _BY_THE_WAY:
        return
    # "hasn't moved to crocus yet"
    parts = [part.split() for text in texts for part in text.split(" , ") if _DENIED.isdisjoint(part.split())]
    if not any(not _CUES.isdisjoint(part) for part in parts):
        return
    values = [value for part in parts for value in _values(part)]
    things = list(dict.fromkeys(thing for words_ in said for thing in _things(words_)))[:MOST_THINGS]
    for kind, relation in (("name", MAY_BE_NAME), ("when", MAY_BE_WHEN), ("amount", MAY_BE_AMOUNT)):
        of_kind = list(dict.fromkeys(value.text for value in values if value.kind == kind))
        if len(of_kind) == 1:
            yield from _of_each(things, relation, of_kind[0])
    # Where it names what a thing had, too, that is over: of two names the other one is the new.
    names = list(dict.fromkeys(word for part in said for word in part if is_name(word)))
    for old in names if 1 < len(names) <= MOST_NAMES else ():
        new = {value.text for value in values if value.kind == "name" and old not in value.text}
        if len(new) == 1:
            yield from _of_each([thing for thing in things if thing != old], MAY_BE_NAME, new.pop(), old)


def _of_each(things: Sequence[str], relation: str, value: str, former: str = "") -> Iterator[Stated]:
    for thing in things:
        if thing != value and not is_passing(thing, value):
            yield Stated(thing, relation, value, former, is_change=True)


def _values(said: list[str]) -> Iterator[Part]:
    """The names, rooms, days and amounts that a sentence leads to."""
    for at, word in enumerate(said):
        before = at - 1
        while before >= 0 and said[before] in _SKIPPED and said[before] not in NOW:
            before -= 1
        towards = before >= 0 and said[before] in _TOWARDS and not (before and said[before - 1] in _AWAY)
        if is_name(word):
            holds = _HOLDS.match(" " + " ".join(said[at + 1 :]))
            if (towards or holds) and (value := value_at(said, at)):
                yield value
        elif towards and (word in DAYS or word[0] in "⟦⟪" or word.isdigit()) and (value := value_at(said, at)):
            yield value
        elif towards and before < at - 1 and said[before] in PLACES and word not in _SKIPPED:
            value = value_at(said, at)
            if value and value.kind == "noun" and is_room(value.text):
                yield value._replace(kind="name")


def _things(said: list[str]) -> Iterator[str]:
    """What a sentence names: what starts a part of it, or stands after an article or a "my"."""
    at = 0
    while at < len(said):
        starts = at == 0 or said[at - 1] in _BREAKS or said[at] in ARTICLES or said[at] in MINE or is_name(said[at])
        thing = thing_at(said, at) if starts else None
        if thing and thing.text not in _NO_THING:
            yield thing.text
            at = thing.end
        else:
            at += 1
