"""How a thing is, whatever the verb: "the newsletter goes out through Mailchimp", "Piet mows the lawn"."""

from __future__ import annotations

from typing import NamedTuple

from hopgate.extract.rules.agent_nouns import is_agent
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.lower_names import RARE, is_rare
from hopgate.extract.rules.places import is_passing
from hopgate.extract.rules.stated_parts import (
    AMOUNT,
    AT,
    BE,
    BY,
    MINE,
    PLACES,
    PREPOSITIONS,
    VERBS,
    WHEN,
    Part,
    closes,
    is_name,
    thing_at,
    value_at,
)
from hopgate.extract.rules.words import words

_PARTICIPLE = compiled(r"[^\W\d_]+(?:ed|en|ing|pt|ld|ne|de|ght|ung)|let|set|put|paid|sent|lent|run|read|fed")
_PUT = words("put stored keep kept got")
_JOB = compiled(r"'s (?:job|turn|thing|task|responsibility|business)$")
_AFTER_VERB = words("out up down set back due off over")
_OURS = MINE | {"the"}
# "Geoff likes the crossword" is no task of his.
_FEELS = words(
    "likes loves hates wants needs thinks says knows misses prefers hopes sees hears finds remembers forgets"
)
_BESIDE = words("at in on with for")
_OFFICE = words("at on in")
_NAMED = words("called named due")
# "Notifications is part of the monolith"
_SHARES = words("part parts member members one all most some half out")
_RENT = words("rent lease")
_ACTIVITIES = {"rehearse": "rehearsal", "train": "training", "practise": "practice", "practice": "practice"}
_LABELS = frozenset((":", "="))
_LABELLED = words(", ; ( - – now since from instead for at on in and until")
_HAVE = words("own run lead manage maintain chair coach handle host edit organise organize")
_LEAVES = words("retiring leaving resigning departing retired resigned gekündigt")
_OWNS = words("owns maintains leads handles manages chairs")
_SHORTEST = 4  # "we use Solr for search"
_LAST_HOUR = 24


class ThingState(NamedTuple):
    """What is said of a thing, and whether it was put there by what is told."""

    thing: str
    relation: str
    value: str
    is_change: bool = False


def state_of(said: list[str], code: str = "en", *, beside: bool = True) -> ThingState | None:  # noqa: PLR0911, PLR0912
    """What a thing has or where it is, by the words of a sentence without those of change.

    A thing may have something `beside` it: "bridge evening at the Pattersons' is on Fridays". Of a change that would
    make it another: "bin day at my parents' is Thursday now".

    Examples
    --------
    >>> state_of("the spare key is under the flowerpot".split())
    ThingState(thing='spare key', relation='kept at', value='flowerpot', is_change=False)
    >>> state_of("rent is 870 a month".split())
    ThingState(thing='rent', relation='amounts to', value='870', is_change=False)
    """
    if said[0] in ("we", "i"):
        return _ours(said)
    if said[0] in _PUT:
        told = _ours(["we", *said])
        return told._replace(is_change=said[0] in ("put", "stored")) if told else None
    if (
        is_name(said[0])
        and said[1][-1] == "s"
        and said[1] not in BE
        and said[1] not in _FEELS
        and said[2:3]
        and said[2] in _OURS
    ):
        return _holds(Part(said[0], 1, "name"), said, 1)
    thing = thing_at(said, 0)
    if not thing or thing.end >= len(said):
        return None
    at = thing.end
    if thing.kind == "noun" and said[at] in _BESIDE and (more := value_at(said, at + 1)):
        end = more.end + (said[more.end : more.end + 1] == ["'s"])
        who = value_at(said, end + 1)
        if said[end : end + 1] not in (["is"], ["are"]):
            pass
        elif more.kind == "name" and said[at] in _OFFICE and who and who.kind == "name":
            thing, at = thing._replace(text=f"{thing.text} of {more.text}"), end  # "our contact at Brenner is …"
        elif beside:
            at = end  # "bridge evening at the Pattersons' is on Fridays"
    if said[at] in _LABELS:
        return _with_value(thing.text, said, at + 1, code)
    if thing.kind == "name" and said[at] in _OWNS:
        return _owns(thing, said, at) or _holds(thing, said, at)
    if said[at] not in BE and said[at] not in VERBS:
        return None
    if thing.kind == "name" and (held := _holds(thing, said, at)):
        return held
    is_be = said[at] in BE
    at += 1
    if said[at : at + 1] and said[at] in _LEAVES:
        return None  # "Attracta is retiring from Cluain Bheag"
    while at < len(said) and (_PARTICIPLE.fullmatch(said[at]) or said[at] in _AFTER_VERB) and not is_name(said[at]):
        at += 1
    if (
        at < len(said)
        and said[at] not in PREPOSITIONS
        and is_be
        and said[at - 1] not in BE
        and said[at - 1] not in _NAMED
    ):
        return None
    return _with_value(thing.text, said, at, code)


def _with_value(thing: str, said: list[str], at: int, code: str = "en") -> ThingState | None:
    """A thing with the value that stands at a place, after a preposition or none."""
    preposition = said[at] if at < len(said) and said[at] in PREPOSITIONS else ""
    value = value_at(said, at + bool(preposition))
    if not value or not closes(said, value):
        return None
    if value.kind == "noun" and not preposition and said[at - 1] in _LABELS and not _LABELLED.issuperset(
        said[value.end : value.end + 1]
    ):  # fmt: skip
        return None  # "Northwell: nightly report times out" is a sentence
    if value.kind == "noun" and preposition not in PLACES and said[at - 1] not in _LABELS:
        named = said[at - 1] in _NAMED
        said_of = said[at - 1] in BE and (said[at] == "the" or is_rare(value.text, code, RARE))
        by = preposition == "by" and said[at + 1] in _OURS  # "is owned by the council"
        numbered = value.text[-1].isdigit()  # "my locker is number 41"
        if not by and not numbered and (preposition or not (named or said_of)):
            return None  # "the shed is green"; but "the proxy is nginx", "our bank is the Sparkasse"
        return ThingState(thing, BY, value.text)
    if value.kind == "noun" and is_passing(thing, value.text):
        return None  # "the cat is in the sun"
    return ThingState(thing, sort_of(value, preposition), _JOB.sub("", value.text))


def _holds(name: Part, said: list[str], at: int) -> ThingState | None:
    """Who does something for a thing: "Piet mows the lawn", "Sven is our goalkeeper"."""
    if at + 1 < len(said) and said[at] in BE and said[at + 1] == "doing":
        at += 1
    if said[at + 2 : at + 3] == ["'s"] and is_name(said[at + 1]):
        return _somebodys(name, said, at) if said[at] in BE else _somebodys_key(name, said, at)
    if (
        at + 1 >= len(said)
        or said[at + 1] in _SHARES
        or not (said[at + 1] in _OURS or said[at] == "doing" or said[at + 2 : at + 3] == ["of"])
    ):
        return None
    thing = thing_at(said, at + 1)
    if not thing or (thing.kind == "name" and said[at] != "doing") or not closes(said, thing):
        return None
    if thing.end < len(said) and said[thing.end] in PREPOSITIONS - {"for"}:
        place = value_at(said, thing.end + 1)
        if said[at] not in BE or said[thing.end] not in _OFFICE or not place or place.kind != "name":
            return None
        where = place.text.removesuffix("'s")
        what = thing_at(said, place.end + 1) if said[place.end : place.end + 1] == ["for"] else None
        where = f"{where} for {what.text}" if what else where
        return ThingState(f"{thing.text} of {where}", BY, name.text)  # "ward manager on St Anne's"
    return ThingState(thing.text, BY, name.text)


def _owns(name: Part, said: list[str], at: int) -> ThingState | None:
    """Who has a thing that is called by one word of any language: "Lupe owns billing"."""
    thing = value_at(said, at + 1)
    if not thing or thing.kind != "noun" or " " in thing.text or (thing.end < len(said) and said[thing.end] != ","):
        return None
    return ThingState(thing.text, BY, name.text)


def _somebodys(name: Part, said: list[str], at: int) -> ThingState | None:
    """Who is something to somebody: "Colm is Niamh's new fiddle teacher"."""
    role = [*said[: at + 3], *(word for word in said[at + 3 :] if word != "new")]
    whose = thing_at(role, at + 1)
    if not whose or whose.kind != "noun" or not closes(role, whose) or _JOB.search(whose.text):
        return None
    if not is_agent(whose.text):
        return None  # "Oskar is Greta's new brother"
    return ThingState(whose.text, BY, name.text, is_change=len(role) < len(said))


def _somebodys_key(name: Part, said: list[str], at: int) -> ThingState | None:
    """Who has somebody's key: "Mrs Keogh has Dad's spare key"."""
    key = thing_at(said, at + 1)
    is_key = key and key.end == len(said) and said[-1] in ("key", "keys") and said[at] in ("has", "have", "keeps")
    return ThingState(key.text, BY, name.text) if key and is_key else None


def _ours(said: list[str]) -> ThingState | None:  # noqa: PLR0911
    """What we do with something: "we get our cartons from Dalby", "I use Feedly for my feeds"."""
    if said[0] == "i" and len(said) > 2 and said[1] in _HAVE and said[2] in _OURS:
        thing = thing_at(said, 2)
        return ThingState(thing.text, BY, "I") if thing and thing.kind == "noun" and closes(said, thing) else None
    if said[1] in _ACTIVITIES and len(said) >= _SHORTEST and said[2] in PLACES:
        return _with_value(_ACTIVITIES[said[1]], said, 2)  # "we rehearse in the Old Brewery"
    if len(said) < _SHORTEST or not (said[1] in VERBS or said[1] in _PUT or said[1] in BE or said[1] in _RENT):
        return None
    if said[1] in BE:  # "we're with Octopus for electricity"
        value = value_at(said, 3) if said[2] in ("with", "on", "at") else None
        if not value or value.kind != "name" or said[value.end : value.end + 1] != ["for"]:
            return None
        thing = thing_at(said, value.end + 1)
        return ThingState(thing.text, BY, value.text) if thing and thing.kind == "noun" else None
    at = 2 + (said[2] in ("to", "at", "for") and said[1] in ("listen", "look"))
    value = value_at(said, at)
    known = value and (value.kind == "name" or (said[1] in ("use", "uses") and " " not in value.text))
    if value and known and value.end < len(said) and said[value.end] in ("for", "as"):
        thing = thing_at(said, value.end + 1)
        return ThingState(thing.text, BY, value.text) if thing and thing.kind == "noun" else None
    thing = thing_at(said, at)
    put = said[1] in _PUT and thing and thing.end < len(said) and said[thing.end] in PLACES
    if (
        not thing
        or (thing.kind == "name" and not put)
        or thing.end >= len(said)
        or said[thing.end] not in PREPOSITIONS - {"for", "as"}
    ):
        return None
    return _with_value(thing.text, said, thing.end)


def sort_of(value: Part, preposition: str = "") -> str:
    """How a thing and a value of this kind go together, by the preposition before it."""
    if value.kind in ("when", "amount"):
        hour = preposition == "at" and value.text.isdigit() and int(value.text) <= _LAST_HOUR  # "opens at 8"
        return WHEN if value.kind == "when" or hour else AMOUNT
    return AT if preposition in PLACES or value.kind == "noun" else BY
