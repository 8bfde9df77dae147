"""Who somebody's dentist is, which bank, which port: "my R is V", "V is our new R", "changed the R from A to V"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hopgate.extract.extraction import DOUBTED, Fact
from hopgate.extract.rules.capitals import is_given, is_person
from hopgate.extract.rules.change_words import has_change, is_doubtful
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.fact_dates import begins, since_when
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import zipf
from hopgate.extract.rules.places import is_school
from hopgate.extract.rules.reading import Reading, person_kind
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.role_offices import IN_OFFICE, NO_OWNERS, office_of
from hopgate.extract.rules.role_owners import is_mine, is_others, subject_of
from hopgate.extract.rules.role_patterns import (
    AFTER_ROLE,
    APPOSED,
    ARROWED,
    BESIDE_ROLE,
    CHANGE,
    CHANGING,
    CHANGING_HERE,
    HINTS,
    LEAVING,
    LISTED_ROLE,
    NAME,
    NAMED_BEFORE,
    NO_LONGER,
    OF_NAME,
    OWNER,
    REPLACED,
    STATE,
    THEN,
    VALUE_FIRST,
    VERBS,
)
from hopgate.extract.rules.role_table import ALSO, Role, RoleAt, roles_in, with_role_words
from hopgate.extract.rules.tentative import ALONE, is_left, is_towards
from hopgate.extract.rules.words import words

STATED = 0.9
# A single word that is more frequent than this is no person's name, unless it is a given one: zipf.
COMMON = 3.5
_IP = compiled(r"\d{1,3}(?:\.\d{1,3}){3}")
_CODES = {
    "has ip": _IP,
    "has version": compiled(r"(?!\d+\.\d+\.\d+\.\d+$)v?\d+(?:\.\d+)*(?:[-+]\w+)?"),
    "has port": compiled(r"\d{1,5}"),
}
_ANY_CODE = compiled(r"(?=.*\d)[\w./:-]{1,20}")
# Said of the old one.
_OVER = frozenset(("cancelled", "canceled"))
# One more, or somebody else's, or not for good.
_BESIDE = words("also too second another additional extra both auch zweite zweiter zweites aussi también temporarily")
_SOMEBODY = compiled(r" (?:ist|heißt|is) (?:ein|eine|a|an|some) ⟨")
_BREAKS = frozenset((",", ";", ":", "(", "–"))
_ANY_NAME = compiled(NAME)
_OF_SOMETHING = compiled(r" (?:of|for|der|des|vom|von) (?!⟨)")
# "Zahnärztin der Familie": ours
_OURS = words("family house home kids children moment time familie kinder haus hauses momentan moment")
# "took the papers to Mr Humburg, he is my accountant"
_AND_HE = compiled(r"(?<=\b(?:to|zu|at|by) )(?P<name>⟨\d+⟩)(?P<told>[^⟨,;]*) , (?:he|she|er|sie) (?P<is>is|'s|ist) ")
# "Pi-hole hat die IP 192.168.1.5"
_HAS_IP = compiled(
    r" (?:has|hat|heeft) (?:(?:the|an|die|eine|het|een|static|fixed|feste) ){0,2}(?:ip|ip-adresse) (?=⟨)"
)


def may_tell_role(reading: Reading) -> bool:
    """Whether a memory has a word of a role, or an address of numbers, and none of one more of a kind."""
    return "V" in reading.marks or not HINTS.isdisjoint(reading.lower)


def role_facts(clause: Clause, who: Referents) -> Iterator[Fact]:
    """Yield what a sentence says somebody or something has one of; what it merely allows is tentative.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("Our new dentist is Dr. Kaya."), created_at=datetime(2024, 5, 4))
    >>> reading = read(source)
    >>> for fact in role_facts(next(clauses(reading)), Referents(reading, source)):
    ...     print(fact.subject, "|", fact.relation, "|", fact.object, "|", fact.valid_from)
    I | has dentist | Dr. Kaya | 2024-05-04
    """
    text = _HAS_IP.sub(" 's ip is ", with_role_words(clause.text, clause.reading))
    text = _AND_HE.sub(r"\g<name>\g<told> , \g<name> \g<is> ", text) if " , " in text else text
    clause = clause if text == clause.text else replace(clause, text=text)
    said = text.split()
    if clause.question or (HINTS.isdisjoint(said) and "V" not in clause.reading.marks):
        return
    told = has_change(clause)
    made: set[str] = set()
    for found in roles_in(said):
        if _is_one_more(said, found.start):
            continue
        for fact in _stated(found, said, clause, who, told):
            made.add(fact.relation)
            yield fact
            if fact.valid_to is None and told:
                for other in ALSO.get(said[found.end - 1], ()):
                    yield Fact(fact.subject, other.relation, fact.object, begins(clause, who.written), None, ALONE)
    by_verb = [fact for fact in _by_verb(said, clause, who, told) if fact.relation not in made]
    yield from by_verb
    made.update(fact.relation for fact in by_verb)
    if not made and told and not is_doubtful(clause, but=_OVER):
        yield from _allowed(said, clause, who)


def _is_one_more(said: list[str], at: int) -> bool:
    """Whether the part of a sentence in which a role stands speaks of one more of its kind."""
    first = max((place for place in range(at) if said[place] in _BREAKS), default=-1) + 1
    last = next((place for place in range(at, len(said)) if said[place] in _BREAKS), len(said))
    return not _BESIDE.isdisjoint(said[first:last])


def _stated(  # noqa: PLR0912
    found: RoleAt, said: list[str], clause: Clause, who: Referents, told: bool
) -> Iterator[Fact]:
    before, after = " ".join(said[: found.start]), " " + " ".join(said[found.end :])
    at = len(" ".join(said[: found.end]))
    if office := office_of(found.role, before, after, who):
        subject, held = office
        if clause.stance(held.start("v"), at) == "said":
            yield from _facts(found.role, subject, held, clause, who, told)
        return
    if (first := VALUE_FIRST.search(f"{before} ")) and (first["v"] or OF_NAME.match(after)):
        rest = first["rest"].strip()
        if (club := OF_NAME.match(after)) and found.role.sort == "person":
            if IN_OFFICE.fullmatch(rest) and clause.stance(first.start(), at) == "said":
                yield from _facts(found.role, (*who.names_of(club["of"]), "")[0], first, clause, who, told)
            return
        owner = OWNER.search(f" {rest} " if rest else " ") if AFTER_ROLE.match(after) else None
        whose = owner and (owner["name"] or owner["me"] or owner["other"])
        # Not "the new dentist of my sister", nor "the new treasurer of the chess club".
        if owner and not whose and not is_others(after.split()) and not _OF_SOMETHING.match(after):
            whose = owner["new"]
        if owner and whose and clause.stance(first.start("v"), at) == "said":
            subject = subject_of(found.role, owner, None, who)
            yield from _facts(found.role, subject, first, clause, who, told or bool(owner["new"]))
        return
    owner = OWNER.search(f" {before} " if before else " ")
    # "Chorleiter ist ein Herr Mbeki": of a choir that is not ours
    if not owner or (owner["bare"] is not None and not owner["new"] and _SOMEBODY.match(after)) or (
        owner["the"] and not (told or found.role.sort == "code")
    ):  # fmt: skip
        return
    if over := NO_LONGER.match(after):
        yield from _facts(found.role, subject_of(found.role, owner, None, who), over, clause, who, told=True)
        return
    match = ARROWED.match(after) or STATE.match(after) or THEN.match(after)
    if match is None and owner["new"]:
        match = APPOSED.match(after)
    if match is None and (change := CHANGE.match(after)):
        match = change if CHANGING.search(f" {before} ") or CHANGING_HERE.search(change[0]) else None
    if match is None:
        yield from _apposed(found.role, owner, before, after, clause, who, told)
    elif clause.stance(min(owner.start(), at - 1), at + match.end("v")) == "said":
        groups = match.groupdict()
        noun = groups.get("noun") or groups.get("nomen") or ""
        if noun and (found.role.sort != "person" or noun.rpartition(" ")[2] in NO_OWNERS):
            return  # "my locker at the gym is 41"
        subject = noun if noun and noun not in _OURS else subject_of(found.role, owner, groups.get("of"), who)
        if owner["other"] and found.role.sort == "person":
            subject = _other_person("", before, clause, who) or subject  # "Levin is in Year 2, his teacher is …"
        yield from _facts(found.role, subject, match, clause, who, told or bool(owner["new"]) or match.re is not STATE)


def _apposed(
    role: Role, owner: re.Match[str], before: str, after: str, clause: Clause, who: Referents, told: bool
) -> Iterator[Fact]:
    """What is said beside something else: "goes to Mr Keller, our landlord", "our landlord Mr Keller called"."""
    if role.sort != "person":
        return
    named = NAMED_BEFORE.search(before) if AFTER_ROLE.match(after) else None
    if named:
        value = _value(role, named["v"], clause, who)
        subject = _other_person(value, before, clause, who) if named["other"] else who.first_person
        if value and (is_person(value) or named["new"]) and clause.stance(named.start("v"), len(before)) == "said":
            yield from _facts(role, subject, named, clause, who, told or bool(named["new"]))
        return
    # "dentist Dr Bakker, accountant Mr Orr": on a form
    listed = owner["bare"] is not None and not owner["the"] and LISTED_ROLE.match(after)
    beside = BESIDE_ROLE.match(after) if owner["me"] or owner["name"] or listed else None
    if beside and listed and not person_kind(_value(role, beside["v"], clause, who).capitalize()):
        return
    if beside and not told and not LEAVING.search(after) and is_person(_value(role, beside["v"], clause, who)):
        subject = subject_of(role, owner, None, who)
        # It counts where nothing else is known.
        yield from (replace(fact, confidence=DOUBTED) for fact in _facts(role, subject, beside, clause, who, told))


def _other_person(value: str, before: str, clause: Clause, who: Referents) -> str:
    """Whose "her new instructor" is, where one other person is named before it."""
    names = dict.fromkeys(clause.reading.spans[number].name for number in clause.spans(before))
    others = [name for name in names if name != value and who.is_person(name)]
    return others[0] if len(others) == 1 else ""


def _facts(
    role: Role, subject: str, match: re.Match[str], clause: Clause, who: Referents, told: bool
) -> Iterator[Fact]:
    groups = match.groupdict()
    value = _value(role, match["v"], clause, who) if match["v"] else who.first_person  # "I'm treasurer of the club"
    if not subject or not value or subject == value:
        return
    instead = REPLACED.search(clause.text)
    if groups.get("by") and role.sort != "provider":
        return  # "my phone is at Tom's"
    if role.relation == "has version" and value.isdigit() and not (subject.islower() or "version" in clause.text):
        return  # "Luna: 12 -> 14"
    if role.relation == "has version" and who.kind(subject) == "host":
        return  # "upgraded badger to 15": something on it
    since = begins(clause, who.written)
    begin = since if told or instead or role.sort in ("person", "provider") else None
    if earlier := since_when(clause, who.written):
        yield Fact(subject, role.relation, value, None, None, ALONE)  # so on the day of the note, too
        begin = since = earlier
    yield Fact(subject, role.relation, value, begin, None, STATED)
    old = groups.get("a") or (instead["a"] if instead else None)
    gone = _value(role, old, clause, who) if old else ""
    if gone and gone != value and since:
        yield Fact(subject, role.relation, gone, None, since, STATED)


def _value(role: Role, part: str, clause: Clause, who: Referents) -> str:
    """What a slot holds, where it fits the role: a code has a digit, a dentist is a name."""
    code = role.sort == "code"
    name = clause.reading.spans[clause.spans(part)[0]].name if part[0] == "⟨" else part.rstrip(".:,") if code else ""
    if code:
        return name if _CODES.get(role.relation, _ANY_CODE).fullmatch(name) else ""
    if role.relation == "has school" and not is_school(name) and "schools" not in who.reading.lower:
        return ""
    if role.sort == "person" and not _may_be_somebody(name):
        return ""
    return name if name[:1].isupper() or who.is_named(name) else ""


def _may_be_somebody(name: str) -> bool:
    """Whether a name may be a person's: "my therapist is German" names nobody."""
    return " " in name or is_given(name) or zipf(name.lower(), "en") < COMMON


_PRACTITIONERS = frozenset(("has doctor", "has dentist", "has vet", "has paediatrician"))
_STAFF = (["manager"], ["nurse"], ["receptionist"], ["secretary"])  # of the practice
_POSSESSIONS = frozenset(("has car", "has phone", "has laptop"))
_TO_A_PLACE = compiled(
    r"\b(?:to|at|from|in|into|by|bei|beim|zu|zum|zur|von|vom|im|ins|à|chez|au) (?:the |der |dem |den )?$"
)


def _allowed(said: list[str], clause: Clause, who: Referents) -> Iterator[Fact]:
    """What a sentence about a change allows: a role and the one name that it may have come to."""
    places = [(found.role, found.start) for found in roles_in(said) if found.role.sort != "code"]
    named = {at for _, at in places}
    places += [
        (role, at)
        for at, word in enumerate(said)
        if not at or said[at - 1] not in ("i", "we", "they", "to")  # "we practice at …"
        if said[at + 1 : at + 2] not in _STAFF
        for role in ALSO.get(word, ())
    ]
    if not places or not who.written:
        return
    parts = [part for part in _ANY_NAME.finditer(clause.text) if not is_left(clause.text, part)]
    for role, at in places:
        owner = OWNER.search(f" {' '.join(said[:at])} " if at else " ")
        if not is_mine(owner, said, at):
            continue
        # "the Telekom contract": the name before it is the old one.
        old = who.names_of(owner["name"]) if owner and owner["name"] else ()
        mine = not owner or (old and not who.is_person(old[0]))
        subject = who.first_person if mine or owner is None else subject_of(role, owner, None, who)
        # "We take the car to Kowalski's": that is not our car.
        fitting = parts if role.relation not in _POSSESSIONS else [
            part for part in parts if not _TO_A_PLACE.search(clause.text[: part.start()])
        ]  # fmt: skip
        names = dict.fromkeys(_value(role, part[0], clause, who) for part in fitting)
        new = [name for name in names if name and name not in (subject, who.reading.speaker, *old)]
        if at not in named and role.relation in _PRACTITIONERS:
            new = [name for name in new if person_kind(name)]  # "practice is at Moss Park now"
        if len(new) > 1 and at not in named:
            continue  # "Dr Okoro has left the practice, I'm with Dr Hallam now": whoever had him has another one
        if len(new) > 1:
            towards = [part for part in parts if is_towards(clause.text, part)]
            new = [name for part in towards if (name := _value(role, part[0], clause, who)) in new]
        if subject and len(new) == 1:
            yield Fact(subject, role.relation, new[0], begins(clause, who.written), None, ALONE)


def _by_verb(said: list[str], clause: Clause, who: Referents, told: bool) -> Iterator[Fact]:
    for role, pattern, hints in VERBS:
        if hints.isdisjoint(said):
            continue
        match = pattern.search(clause.text)
        if not match or clause.stance(match.start(), match.end("v")) != "said":
            continue
        groups = match.groupdict()
        part = groups.get("s") or ""
        subjects = (
            (who.first_person,)
            if "me" in groups or part in ("we", "wir")
            else who.names_of(part) or who.people_of(part)
        )
        changed = told or bool(groups.get("a")) or role.relation == "has version"
        made = list(_facts(role, subjects[0], match, clause, who, changed)) if subjects else []
        yield from made
        if made:
            return
        if told and subjects and role.relation == "has school" and (names := who.names_of(match["v"])):
            # "goes to Parkside now": a school, if there was one.
            yield Fact(subjects[0], role.relation, names[0], begins(clause, who.written), None, ALONE)
