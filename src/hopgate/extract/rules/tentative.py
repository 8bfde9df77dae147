"""What a sentence tells if more is known: names beside a word of change, where no pattern fits.

"gitea is happier on birch now" says nothing certain. Where an earlier memory says that gitea runs on alder, it says
that it moved. So the rules note what a sentence allows, for relations of which a thing has one at a time, and the graph
keeps what ends a fact that it knows (`graph/temporal/precedence`). Precision comes from there being such a fact, and
from words of plans, copies, visits and doubt, beside which nothing is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.clauses import TEAMS, Clause
from hopgate.extract.rules.fact_dates import validity
from hopgate.extract.rules.language_tables import LANGUAGES, table
from hopgate.extract.rules.places import is_address, is_room
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.words import words

ALONE, BESIDE = 0.0, -1.0
"""The confidence of what a sentence allows and does not state, and of what a note merely names beside other things."""
# A sentence with more names is a list, and every pair of it would be noted.
MOST_NAMES = 4
_PRONOUNS = words("i it he she es er sie ich il elle je ella él yo hij zij ze ik lei lui io")
MOST_TOKENS = 60
_THE_ROOM = re.compile(
    r"\b(?:the|my|our|dem|den|der|die|das|im|ins|la|le|el|il|de|het) ([^\W\d_]+(?: [^\W\d_]+)?)(?= |$)"
)
_NAME = re.compile(r"⟨(?:team )?(\d+)⟩")


def _forms(name: str) -> str:
    """A class of words as alternatives, the longest first."""
    forms = sorted(_TABLE[name].split(), key=len, reverse=True)
    return "|".join(re.escape(form.replace("_", " ")) for form in forms)


_TABLE: dict[str, str] = table("changes")
_ARTICLES = rf"(?:(?:{_forms('articles')}) ){{0,3}}"
_CHANGE, _NO_CHANGE, _NO_CHANGE_NEAR = (words(_TABLE[name]) for name in ("change", "no_change", "no_change_near"))
_TOWARDS, _AWAY = (re.compile(rf"(?:^|\s)(?:{_forms(name)}) {_ARTICLES}$") for name in ("towards", "away"))
_HOLDS = re.compile(
    rf"^ (?:(?:is|has|'s|now|finally|then|just|already|officially|and) ){{0,3}}(?:{_forms('holding')})\b"
)
_OF_HANDS, _OF_WORK, _OF_HOME = (re.compile(rf"\b(?:{_forms(name)})\b") for name in ("hands", "work", "home"))
# Who is named beside another has taken over where a word of hands says so, and moved where one of moving does.
_HANDS_WORDS = words(_TABLE["hands"]) | words(_TABLE["in_hands"])
_MOVING_WORDS = words(_TABLE["work"]) | words(_TABLE["home"]) | words(_TABLE["elsewhere"])
_NEEDED = {
    **dict.fromkeys(("owned by", "led by", "reports to"), _HANDS_WORDS),
    **dict.fromkeys(("lives in", "works at"), _MOVING_WORDS),
}
_CHANGING = re.compile(
    r"\b(?:these days|any ?more|no longer|from now on|as of|of today|over to|lives? (?:on|at|in|with)|"
    r"sits? (?:on|at|in)|found (?:a|its|his|her|their) (?:new )?(?:home|place|spot))\b|->|→"
)
# Without one of these words there is nothing to look for.
_HINTS = _CHANGE | words("days any anymore longer from as over of live lives sit sits found -> →")
# "Thea moved the offsite from Lindgren to Villa Rosa": not she herself.
_MOVES_SOMETHING = re.compile(
    r"(?:⟩|\bs?he|\bi|\bwe)(?: has| have| 've)? (?:moved|shifted|switched|transferred|took|sent|brought) "
    r"(?:the|an?|all|some) [^\W\d_]+(?: [^\W\d_]+)? (?:from|to|off|onto|over)\b"
)
_CLOSED = re.compile(r"$| (?:now|[,;])")  # "goes to St. Brendan's now"
_STILL_SAID = re.compile(r"\b(?:no longer|not any ?more|nicht mehr|ya no|niet meer|non più)\b")


def may_tell_change(reading: Reading) -> bool:
    """Whether a memory has a word of change at all: most have none."""
    return not _HINTS.isdisjoint(reading.lower)


def tentative_facts(clause: Clause, who: Referents) -> Iterator[Fact]:
    """Yield what a sentence would tell of its names if they were known to have been elsewhere.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> known = (("gitea", "service"), ("birch", "host"))
    >>> text = Cleared("gitea is happier on birch now.")
    >>> source = Source("m1", text, created_at=datetime(2024, 5, 4), known=known)
    >>> reading = read(source)
    >>> for fact in tentative_facts(next(clauses(reading)), Referents(reading, source)):
    ...     print(fact.subject, "|", fact.relation, "|", fact.object, "|", fact.confidence)
    gitea | runs on | birch | 0.0
    """
    text = clause.text
    if not who.written or "⟨" not in text or not _tells_change(clause):
        return
    names = list(_NAME.finditer(text))
    if len(names) > MOST_NAMES or _MOVES_SOMETHING.search(text):
        return
    named = [(match, name) for match in names if (name := who.names_of(match[0])) and name[0] != who.reading.speaker]
    for match, (target,) in named:
        after = text[match.end() :]
        if is_left(text, match):
            continue
        holds = bool(_HOLDS.match(after))
        if not holds and not is_towards(text, match):
            continue
        subjects = [name for other, (name,) in named if other is not match and not is_left(text, other)]
        begin = validity(clause, match, None)[0] or who.written
        for subject in subjects or _meant(clause, who):
            if subject != target:
                yield from (
                    Fact(subject, relation, target, begin, None, ALONE)
                    for relation in _relations(subject, target, text, holds, who)
                )


def named_beside(sentences: list[Clause], who: Referents) -> Iterator[Fact]:
    """Yield every pair of a short note that tells of a change: who knows what held before finds the new one.

    "otter is where forgejo lives now, beaver ran out of disk": which of the two is the old host, the graph knows.

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
    if not who.written or len(who.reading.tokens) > MOST_TOKENS or not any(map(has_change, sentences)):
        return
    told = [clause for clause in sentences if "⟨" in clause.text or _room_of(clause.text)]
    if any(is_doubtful(one) or _MOVES_SOMETHING.search(one.text) for one in told):
        return
    found = dict.fromkeys(name for clause in told for name in who.names_of(clause.text) if name != who.reading.speaker)
    rooms = dict.fromkeys(room for clause in told for room in _room_of(clause.text))
    said = set(who.reading.lower)
    subjects = [*found, *([who.first_person] if who.says_i() else [])]
    if len(found) > MOST_NAMES or len(found) + len(rooms) < 2:
        return
    for subject in subjects:
        for target in (*found, *rooms):
            if target != subject:
                for relation in _either(subject, target, target in rooms, who):
                    if (need := _NEEDED.get(relation)) and need.isdisjoint(said):
                        continue
                    yield Fact(subject, relation, target, who.written, None, BESIDE)


def _either(subject: str, target: str, room: bool, who: Referents) -> tuple[str, ...]:
    """The relations that these two may have, whatever the words."""
    person = who.is_person(subject) or who.is_owner(subject)
    of_people = ("reports to",) if person else ("owned by", "led by")
    if who.is_person(target) or who.is_owner(target) or target.startswith(TEAMS):
        return of_people
    if person:
        # Nothing tells what "Wanjiru" is: what held before does.
        unknown = of_people if who.may_be_person(target) else ()
        return () if room or who.is_host(target) else ("lives in", "works at", *unknown)
    if room or (target[:1].isupper() and not (subject.islower() or who.is_service(subject) or who.is_host(target))):
        return ("located in",)
    return () if who.kind(subject) == "host" else ("runs on",)


def _room_of(text: str) -> list[str]:
    return [found[1] for found in _THE_ROOM.finditer(text) if is_room(found[1])]


def is_left(text: str, name: re.Match[str]) -> bool:
    """Whether a name is where something was, or whose it is ("Mats's brother moved"): a sentence is not about it."""
    possessive = text.startswith(" 's", name.end()) and not _CLOSED.match(text, name.end() + 3)
    return possessive or bool(_AWAY.search(text[: name.start()]))


def is_towards(text: str, name: re.Match[str]) -> bool:
    """Whether a name is where something went to."""
    return bool(_TOWARDS.search(text[: name.start()]))


def _tells_change(clause: Clause) -> bool:
    return has_change(clause) and not is_doubtful(clause) and clause.stance(0, len(clause.text)) != "not"


def has_change(clause: Clause) -> bool:
    """Whether a sentence has a word of change."""
    return not _CHANGE.isdisjoint(clause.text.split()) or bool(_CHANGING.search(clause.text))


def is_doubtful(clause: Clause, but: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence has words of plans, copies, visits or doubt, but for some."""
    said = set(clause.text.split())
    language = LANGUAGES[clause.reading.code]
    doubt = ((said & _NO_CHANGE) | (said & language.hypothetical) | (said & language.negated)) - but
    if doubt and _STILL_SAID.search(clause.text):
        doubt -= {"no", "not", "nicht", "niet", "non", "any"}
    if doubt or clause.question or clause.is_taken_back():
        return True
    if said.isdisjoint(_NO_CHANGE_NEAR):
        return False
    return any("⟨" in part and not _NO_CHANGE_NEAR.isdisjoint(part.split()) for part in clause.text.split(" , "))


def _meant(clause: Clause, who: Referents) -> tuple[str, ...]:
    """Whom or what a sentence with one name is about: what its pronoun means, or what the note is about."""
    said = clause.text.split()
    for word in said:
        if word in (
            "it",
            "he",
            "she",
            "es",
            "er",
            "sie",
            "il",
            "elle",
            "ella",
            "él",
            "hij",
            "zij",
            "ze",
            "lei",
            "lui",
            "i",
        ):
            return who.people_of(word)
    return (who.topic,) if who.topic else ()


def _relations(subject: str, target: str, text: str, holds: bool, who: Referents) -> Iterator[str]:
    """The relations of which a thing has one at a time that these two may have, given the sentence's words."""
    if target.startswith(TEAMS):
        if not who.is_person(subject):
            yield "owned by"
        return
    if who.is_person(target) or who.is_owner(target):
        if _OF_HANDS.search(text):
            yield from ("reports to",) if who.is_person(subject) else ("owned by", "led by")
        return
    if who.is_person(subject) or who.is_owner(subject):
        if who.is_host(target) or holds:
            return
        work, home = bool(_OF_WORK.search(text)), bool(_OF_HOME.search(text))
        if work != home:
            yield "works at" if work else "lives in"
        return
    if subject.islower() or who.is_service(subject):
        if target.islower() or who.is_host(target):
            yield "runs on"
    elif not holds and (is_room(target) or is_address(target) or target[:1].isupper()):
        yield "located in"
