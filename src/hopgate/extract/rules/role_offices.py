"""Offices that a name is said to hold without a word of whose: "Pauline is treasurer", "Bev's head coach as of May"."""

from __future__ import annotations

import re

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.role_owners import is_others
from hopgate.extract.rules.role_patterns import (
    IS_BY_S,
    OF_NAME,
    OF_NOUN,
    OFFICE_ENDS,
    OFFICES,
    SINCE_NOW,
    VALUE_FIRST,
)
from hopgate.extract.rules.role_table import Role
from hopgate.extract.rules.words import words

# "Pauline is treasurer": of us, where a note is about us and such a thing
_GROUPS = words(
    "our we us club committee agm team board choir crew ward shift practice boss who's unser unsere wir verein "
    "vorstand chor"
)
# Of times and occasions nobody has anything: "our cleaner for the next week".
NO_OWNERS = words(
    "week weekend day days month year summer winter spring autumn moment time emergency future past holidays term "
    "season woche wochenende tag tage monat jahr sommer winter notfall sache ferien nachbarn nachbar"
)
# Between "is" and a role: not "is the former treasurer of".
IN_OFFICE = compiled(r"(?:(?:the|our|its|now|new|der|die|neuer?|jetzt|le|la) ?)*")


def office_of(role: Role, before: str, after: str, who: Referents) -> tuple[str, re.Match[str]] | None:
    """Whose office a name is said to hold without a word of whose: "Pauline is treasurer", "… of the chess club"."""
    if role.relation not in OFFICES or OF_NAME.match(after):
        return None
    first = VALUE_FIRST.search(f"{before} ")
    if not first or not first["v"] or not IN_OFFICE.fullmatch(first["rest"].strip()):
        first = IS_BY_S.search(f"{before} ") if SINCE_NOW.match(after) else None
    if not first:
        return None
    if club := OF_NOUN.match(after):
        owner: str = club["noun"] or club["nomen"]
        return (owner, first) if owner.rpartition(" ")[2] not in NO_OWNERS else None
    ours = not _GROUPS.isdisjoint(who.reading.lower) and not is_others(who.reading.lower)
    return (who.first_person, first) if ours and OFFICE_ENDS.match(after) else None
