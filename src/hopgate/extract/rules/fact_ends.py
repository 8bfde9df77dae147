"""The two ends of a fact: whom or what a match of a pattern is about, and what it says of it."""

from __future__ import annotations

import re

from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.fitting import software_name
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.places import CONTRASTS, with_place
from hopgate.extract.rules.referents import Referents

ARTICLE = compiled(
    r"^(?:the|a|an|my|our|your|his|her|its|their|this|that|der|die|das|den|dem|des|eine?[nmr]?|"
    r"(?:mein|unser)(?:e[nmr]?)?|le|la|les|un|une|mon|ma|el|los|las|una|mi|il|lo|de|het|een|mijn) "
)
_OF_THINGS = frozenset(("costs", "due", "bought from", "located in", "owned by"))
_POSTS = frozenset(("job", "role", "post", "task", "position", "place", "lot", "thing"))
# "the Hartmann proposal" is one thing.
_NOUN_AFTER = compiled(r"⟨\d+⟩ ([^\W\d_]+(?: [^\W\d_]+){0,2})$")
# "In the loft beside the switch".
_NEAR_SOMETHING = compiled(
    r" (?:beside|behind|near|next|above|below|opposite|against|between|inside|outside|neben|hinter|gegenüber|naast|"
    r"achter)$"
)


def subjects_of(  # noqa: PLR0911
    relation: str, groups: dict[str, str | None], clause: Clause, who: Referents, at: int
) -> tuple[tuple[str, ...], bool]:
    """Whom or what a match is about, and whether that is a common noun."""
    if relation in _OF_THINGS and ("first" in groups or "near" in groups or groups.get("s") == ""):
        return who.thing_left_out(clause, at), False
    if "me" in groups:
        return (who.first_person,), False
    if "first" in groups or "near" in groups:
        return who.left_out(clause, at, near="near" in groups), False
    subjects, common = ends_of(groups.get("s"), clause, who, at)
    if relation == "costs" and subjects in (("price",), ("prices",)):
        return (), True
    if relation == "owned by":
        return tuple(one.removesuffix(" ownership") for one in subjects if one not in _POSTS), common
    if relation == "due":
        return tuple(one.removesuffix(" deadline") for one in subjects if one not in ("deadline", "due date")), common
    if relation == "runs on":  # "the unifi controller" is unifi
        return tuple(software_name(one, who) for one in subjects), common
    return subjects, common


def ends_of(part: str | None, clause: Clause, who: Referents, at: int) -> tuple[tuple[str, ...], bool]:
    """The names a subject slot means, and whether it is a common noun; a slot left empty means the topic."""
    if part is None or part == "":
        return ((who.topic,) if who.topic else ()), False
    names = who.names_of(part)
    if names:
        after = _NOUN_AFTER.search(part)
        return ((f"{names[0]} {after[1]}",) if after and len(names) == 1 else names), False
    if people := who.people_of(part, clause, at):
        return people, False
    noun = ARTICLE.sub("", part).strip()
    if part in who.pronouns or not noun or noun in who.pronouns or noun in CONTRASTS or "⟨" in noun:
        return (), False
    return (noun,), True


def objects_of(
    relation: str, groups: dict[str, str | None], clause: Clause, who: Referents, rest: str
) -> tuple[tuple[str, ...], bool]:
    """What a match says of its subject, `rest` being what follows it, and whether that is no name."""
    if relation == "costs":
        return tuple(clause.reading.spans[number].name for number in clause.spans(groups["m"] or "")), False
    if relation == "due":
        return tuple(clause.reading.spans[number].name for number in clause.spans(groups["d"] or "")), False
    part = groups.get("o") or groups.get("o2") or ""
    names = who.names_of(part) or who.people_of(part)
    if names:
        return ((with_place(names[0], rest),) if relation == "located in" and len(names) == 1 else names), False
    noun = _NEAR_SOMETHING.sub("", ARTICLE.sub("", part).strip())
    if noun.endswith((" der", " des", " vom")):  # "im Keller der Feuerwache"
        noun = f"{noun} {rest.split(' ')[1]}" if rest[1:2].isalpha() else noun.rpartition(" ")[0]
    if relation == "allergic to" and (
        more := re.match(r"(?:(?: ,|,)? (?:and|und|et|y|e|en) )(?:to )?([^\W\d_]+)(?=$| [,(])", rest)
    ):
        return ((noun, more[1]) if noun else ()), True
    if rest.startswith(" ⟨"):
        return (), True  # "in the old Gates building": not in "old"
    # A version, an amount or a date is no place: "pfSense is at 2.6.0".
    return ((noun,) if noun and noun not in who.pronouns and noun[0] not in "⟨⟦⟪" else ()), True
