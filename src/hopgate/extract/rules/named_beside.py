"""What a short note that tells of a change names beside each other: who knows what held before finds the new one.

"otter is where forgejo lives now, beaver ran out of disk": which of the two is the old host, the graph knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.change_words import (
    alternatives,
    changes_what_it_states,
    has_change,
    is_doubtful,
    moves_something,
)
from hopgate.extract.rules.clauses import TEAMS, Clause
from hopgate.extract.rules.fact_dates import begins
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.parts_of_things import is_part
from hopgate.extract.rules.places import is_room
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.role_table import ROLES
from hopgate.extract.rules.subjects import PROPERTY
from hopgate.extract.rules.tentative import BESIDE, MOST_NAMES
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.words import words

MOST_TOKENS = 60
_THE_ROOM = compiled(
    r"\b(?:the|my|our|dem|den|der|die|das|im|ins|la|le|el|il|de|het) ([^\W\d_]+(?: [^\W\d_]+)?)(?= |$)"
)
_TABLE: dict[str, str] = table("changes")
# Who is named beside another has taken over where a word of hands says so, and moved where one of moving does.
_HANDS_WORDS = words(_TABLE["hands"]) | words(_TABLE["in_hands"])
_WORK, _HOME = words(_TABLE["work"]), words(_TABLE["home"])
_MOVING_WORDS = _WORK | _HOME | words(_TABLE["elsewhere"])
_AT_HOME = (_MOVING_WORDS - _WORK) | _HOME
_LIVES = frozenset(("lives in",))
_NEEDED = ((_HANDS_WORDS, ("owned by", "led by", "reports to")), (_MOVING_WORDS, ("lives in", "works at")))
# "Dr A has retired, so now it's Dr B", "Jira is out, it's Linear from now on": what they are to me is not said.
_OVER = compiled(rf"(⟨\d+⟩) (?:(?:has|have|is|are|was|'s|just|now|finally|officially) )*(?:{alternatives('over')})\b")
_OVER_BEFORE = compiled(rf"\b(?:{alternatives('over_before')}) (?:(?:the|my|our|with|to|old) )*(⟨\d+⟩)")
_PERSONS, _PROVIDERS = (
    tuple(dict.fromkeys(role.relation for role in ROLES.values() if role.sort == sort))
    for sort in ("person", "provider")
)

# For good: "left A for B", "A is gone, it's B now"; not "left A at nine and went to B".
_SETTLED = compiled(
    r"\b(?:now|from now on|these days|instead|since|jetzt|nun|maintenant|désormais|ahora|nu|voortaan|ora|adesso)\b|"
    r"(?:left|dropped|ditched|quit|swapped|traded|replaced|exchanged) (?:the |my |our )?⟨\d+⟩ "
    r"(?:for|with|by|in favou?r of) "
)
_OWNING = compiled(r"(⟨\d+⟩)(?: 's)?((?: [^\W\d_][\w-]*){1,2})")
_POSSESSED = compiled(r"(⟨\d+⟩) 's ([^\W\d_]+(?: [^\W\d_]+)?)")
# "The colleague who sits beside Svetlana"
_NEXT_TO = compiled(
    r"\b(?:beside|next to|near|behind|opposite|above|unlike|neben|hinter|à côté de|junto a|naast|accanto a) "
    r"(?:(?:the|my|our|dem|der|la|el|de|het) )?(⟨\d+⟩)"
)
_FOR_IT = compiled(r"\b([^\W\d_]{3,}) (?:for|of|von|de|van) (?:(?:the|my|our) )?(⟨\d+⟩)")
# What happens, which is nobody and nowhere: "Reorg: Ana is no longer with Maria".
_EVENTS = words(
    """
    reorg reorganisation reorganization restructuring reshuffle shuffle merger takeover acquisition layoffs handover
    rollout cutover migration outage incident offsite onboarding offboarding kickoff standup retro retrospective review
    audit relaunch launch release upgrade update announcement promotion transition changeover umstrukturierung
    reorganisatie réorganisation reorganización
    """
)
_ARTICLED = compiled(r"\b(?:the|an?|this|that|der|die|das|dem|den|ein|eine|le|la|el|il|het|een) (⟨\d+⟩)")
_DOCTORS = ("has doctor", "has dentist", "has therapist", "has physio", "has vet")


def named_beside(sentences: list[Clause], who: Referents, stated: frozenset[str] = frozenset()) -> Iterator[Fact]:
    """Yield every pair of a short note that tells of a change.

    Of sentences whose facts were read, "lives in" is no word of change: what they tell is `stated`.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("Leila has swapped Tabriz for Izmir."), created_at=datetime(2024, 5, 4))
    >>> reading = read(source)
    >>> made = named_beside(list(clauses(reading)), Referents(reading, source))
    >>> sorted({fact.object for fact in made if fact.subject == "Leila" and fact.relation == "lives in"})
    ['Izmir', 'Tabriz']
    """
    if not who.written or len(who.reading.tokens) > MOST_TOKENS:
        return
    if not any((changes_what_it_states if one.text in stated else has_change)(one) for one in sentences):
        return
    told = [clause for clause in sentences if "⟨" in clause.text or _room_of(clause.text)]
    if any(is_doubtful(one) or moves_something(one.text) for one in told):
        return
    found = dict.fromkeys(
        name
        for clause in told
        for name in who.names_of(clause.text)
        if name != who.reading.speaker and name.lower() not in _EVENTS
    )
    rooms = dict.fromkeys(room for clause in told for room in _room_of(clause.text))
    parts = {name for clause in told for name in _of_parts(clause.text, who)}
    subjects = [*(name for name in found if name not in parts), *([who.first_person] if who.says_i() else [])]
    if len(found) > MOST_NAMES or len(found) + len(rooms) < 2:
        return
    said = who.reading.lower
    written = max(begins(clause, who.written) or who.written for clause in told)
    wordless = frozenset().union(*(relations for need, relations in _NEEDED if need.isdisjoint(said)))
    if not _WORK.isdisjoint(said) and _AT_HOME.isdisjoint(said):
        wordless |= _LIVES  # "works in Lisbon now"
    things = {name for clause in told for one in _ARTICLED.findall(clause.text) for name in who.names_of(one)}
    targets = [(name, _allowed(name, name in rooms, name in things, who, wordless)) for name in (*found, *rooms)]
    for subject in subjects:
        sort = _sort(subject, who)
        for target, allowed in targets:
            if target != subject:
                for relation in allowed[sort]:
                    yield Fact(subject, relation, target, written, None, BESIDE)
    yield from _in_the_place_of(told, list(found), who)


def _in_the_place_of(told: list[Clause], found: list[str], who: Referents) -> Iterator[Fact]:
    """What the only other name of a note may be to me, where one is said to be over: what the first was, I know."""
    if len(found) != 2 or any(map(who.is_host, found)):
        return
    if not any(map(_SETTLED.search, (clause.text for clause in told))):
        return
    over = {
        who.names_of(match[1])
        for clause in told
        for pattern in (_OVER, _OVER_BEFORE)
        for match in pattern.finditer(clause.text)
    }
    if len(over - {()}) != 1:
        return
    people = [who.is_person(name) for name in found]
    doctors = any(name.startswith("Dr") for name in found)
    relations = () if any(people) != all(people) else _DOCTORS if doctors else _PERSONS if people[0] else _PROVIDERS
    for relation in relations:
        for name in found:
            yield Fact(who.first_person, relation, name, who.written, None, BESIDE)


def _of_parts(text: str, who: Referents) -> Iterator[str]:
    """The names of whose parts or kin a sentence tells: "the NAS manual is in the attic now", "Ulrich's wife left"."""
    for match in _POSSESSED.finditer(text):
        if PROPERTY.isdisjoint(match[2].split()):
            yield from who.names_of(match[1])
    for number in _NEXT_TO.findall(text):
        yield from who.names_of(number)
    for match in _OWNING.finditer(text):
        if any(map(is_part, match[2].split())):
            yield from who.names_of(match[1])
    for match in _FOR_IT.finditer(text):
        if is_part(match[1]):
            yield from who.names_of(match[2])


def _sort(subject: str, who: Referents) -> int:
    """What a subject is, as `_allowed` counts: somebody, a thing, a service or another name in lower case, a host."""
    if who.is_person(subject) or who.is_owner(subject):
        return 0
    if who.kind(subject) == "host":
        return 3 if not subject.islower() else 4
    return 2 if subject.islower() or who.is_service(subject) else 1


def _allowed(
    target: str, room: bool, thing: bool, who: Referents, wordless: frozenset[str]
) -> tuple[tuple[str, ...], ...]:
    """The relations that each sort of subject may have to a name or a room, whatever the words but for those needed."""
    if who.is_person(target) or who.is_owner(target) or target.startswith(TEAMS):
        ways: tuple[tuple[str, ...], ...] = (("reports to",), *4 * (("owned by", "led by"),))
    else:
        host = who.is_host(target)
        if is_town(target):
            person: tuple[str, ...] = ("lives in",)
        elif room or host:
            person = ()
        else:
            # Nothing tells what "Wanjiru" is: what held before does. Nobody is "the Wanjiru".
            person = ("lives in", "works at", *(("reports to",) if who.may_be_person(target) and not thing else ()))
        runs = () if target.isupper() else ("runs on",)  # "the NFS share" is no host
        if room:
            ways = (person, *4 * (("located in",),))
        elif target[:1].isupper() and not host:
            ways = (person, ("located in",), runs, ("located in",), ())
        else:
            ways = (person, runs, runs, (), ())
    return _without(ways, wordless) if wordless else ways


@lru_cache(maxsize=1024)
def _without(ways: tuple[tuple[str, ...], ...], wordless: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(relation for relation in way if relation not in wordless) for way in ways)


@lru_cache(maxsize=4096)  # asked twice of a sentence
def _room_of(text: str) -> tuple[str, ...]:
    return tuple(found for found in _THE_ROOM.findall(text) if is_room(found))
