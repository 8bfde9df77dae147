"""Whose a role is: "my dentist", "Anna's bank", "the neighbours have a new plumber"."""

from __future__ import annotations

import re

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.role_patterns import CHANGING_HERE
from hopgate.extract.rules.role_table import Role
from hopgate.extract.rules.subjects import KINSHIP, is_somebody
from hopgate.extract.rules.words import words

_OF_THINGS = frozenset(("has port", "has ip", "has version", "has vlan", "has branch", "has class"))
# "Owen finally has a dentist": his.
_HAS_ONE = compiled(r"⟨\d+⟩ (?:[^\W\d_]+ )?(?:has|have|got|gets|found|hat|habe) [^,;]*$")
# "The neighbours have a new dentist, Dr Popov": theirs, and not ours.
_OTHERS = (
    words(
        """
    they neighbour neighbours neighbor neighbors colleague colleagues coworker coworkers friend friends landlord
    landlady roommate flatmate boss ex parents cousin cousins nachbar nachbarn nachbarin kollege kollegin
    kollegen freunde freund freundin voisin voisine voisins collègue collègues amis buren buurman buurvrouw collega
    vecino vecina vecinos vicini colleghi sisters brothers mums moms mummy mam mama mamma maman papa papà dads daddy
    father-in-law mother-in-law brother-in-law sister-in-law sons daughters stepmother stepfather gran granny nan nana
    granddad grandad grandparents in-laws siblings eltern großeltern schwestern brüder mutti vati oma opa grossmutter
    grossvater großmutter großvater schwager schwägerin schwiegermutter schwiegervater schwiegereltern cousine
    mamie papi padres abuela abuelo ouders genitori nonna nonno
    """
    )
    | KINSHIP
)
# "So I stop hunting for it, Nani's people:"
_LISTED = (["people"], ["contacts"], ["numbers"], ["doctors"], ["carers"], ["helpers"])
_US = words("i we us ich wir uns je nous yo nosotros io noi ik wij we'd i'd")


def is_others(said: list[str]) -> bool:
    """Whether a part of a sentence is about people who are not us: "my sister", and not "my sister and I"."""
    return not _OTHERS.isdisjoint(said) and _US.isdisjoint(said)


def is_mine(owner: re.Match[str] | None, said: list[str], at: int) -> bool:
    """Whether a role is somebody's that a sentence names: not "my brother's bank", nor a "new dentist in town"."""
    if owner and (owner["me"] or owner["name"] or owner["other"]):
        return True
    if is_others(said[:at]):
        return False
    if owner is None and _HAS_ONE.search(" ".join(said[:at])):
        return False
    if owner is None:
        return not any(word.endswith(("'s", "’s", "s'")) for word in said[max(0, at - 3) : at])
    return not owner["new"] or bool(CHANGING_HERE.search(" ".join(said)))


def subject_of(role: Role, owner: re.Match[str], of: str | None, who: Referents) -> str:
    """Whose it is: a name's, mine, hers; a port or a version without any is what the note is about."""
    if part := of or owner["name"]:
        names = who.names_of(part)
        return names[0] if names else ""
    if owner["other"]:
        people = who.people_of("it" if role.sort == "code" and owner["other"] == "its" else "she")
        return people[0] if people else ""
    if owner["me"]:
        return who.first_person
    if role.relation in _OF_THINGS:
        return who.topic if who.topic and not who.is_person(who.topic) else ""
    return _of_heading(who.reading) or who.first_person


def _of_heading(reading: Reading) -> str:
    """Whose a list is by its first line: "Dad's people, for the fridge:"."""
    end = reading.marks.find("¶")
    if end < 1 or reading.tokens[end - 1] != ":":
        return ""
    owners = (span for span in reading.spans if span.end < end and reading.tokens[span.end - 1].endswith(("'s", "’s")))
    return next(
        (
            span.name
            for span in owners
            if (not span.start and is_somebody(span.name)) or reading.lower[span.end : end - 1] in _LISTED
        ),
        "",
    )
