"""By which text two names for one thing are compared: "the club's treasurer" and "treasurer of the club"."""

from __future__ import annotations

import re

from hopgate.extract.rules.distinguishing import EVENTS
from hopgate.extract.rules.plural import comparison_form
from hopgate.extract.rules.words import words
from hopgate.graph.names import normalise

_ARTICLES = words("the a an my our der die das den dem le la les el los las il lo gli i de het een un une una")
_OF = re.compile(r" (?:of|for) ")
# "Steuerberaterin" and "Steuerberater" are one role.
_FEMININE = re.compile(r"(\w{3}(?:er|or|ist|ent|ant|wart|eur|walt))in\b")
_TIMES, _PLACES = frozenset(("takes place", "scheduled for")), frozenset(("located in", "kept at"))
_RENTS = frozenset(("miete", "pacht"))


def thing_key(thing: str) -> str:
    """The text by which a thing is compared; it is never shown.

    Examples
    --------
    >>> thing_key("the Rehearsals"), thing_key("treasurer of the club"), thing_key("die Steuerberaterin")
    ('rehearsal', 'club treasurer', 'steuerberater')
    """
    head, _, owner = _FEMININE.sub(r"\1", normalise(thing)).partition(" of ")
    said = f"{owner} {head}".split()
    said = [word for word in said if word not in _ARTICLES] or said  # "I", too
    return " ".join(map(comparison_form, said))


def head_of(key: str) -> str:
    """The word of a text that says what it is: of "movies for jellyfin" the movies.

    Examples
    --------
    >>> head_of("movies for jellyfin"), head_of("club treasurer")
    ('movies', 'treasurer')
    """
    return _OF.split(key, maxsplit=1)[0].rpartition(" ")[2]


def may_be_short(key: str, relation: str) -> bool:
    """Whether a change may call something by its last word alone: "rehearsal is on Wednesdays now", of the band's.

    Examples
    --------
    >>> may_be_short("rehearsal", "kept at"), may_be_short("key", "kept at"), may_be_short("standup", "takes place")
    (True, False, True)
    """
    return key in EVENTS and (relation in _TIMES or relation in _PLACES)


def are_compounds(one: str, other: str) -> bool:
    """Whether two words are a German rent, and the same with something before it; a goalkeepers' training is another.

    Examples
    --------
    >>> are_compounds("büromiete", "miete"), are_compounds("torwarttraining", "training")
    (True, False)
    """
    short, long = sorted((one, other), key=len)
    return short in _RENTS and long.endswith(short)


def role_of(thing: str) -> tuple[str, str] | None:
    """What somebody is, and to whom, where a thing is called so.

    Examples
    --------
    >>> role_of("Maisie's math teacher"), role_of("treasurer of the Climbers"), role_of("spare key")
    (('math teacher', 'Maisie'), ('treasurer', 'Climbers'), None)
    """
    owner, _, role = thing.partition("'s ")
    if not role:
        role, _, owner = thing.partition(" of ")
    owner = owner.removeprefix("the ")
    return (role, owner) if owner[:1].isupper() and role.islower() else None
