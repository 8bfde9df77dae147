"""A price, a date or a time that a sentence says to have changed: "they gave us until 24 May for the grant report".

Patterns know how prices and dates are stated. That one has changed is told in any words: so where a sentence has a word
of change, what it is about and one value are noted as tentative, and count where another value was stated before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.change_words import DENIED, is_doubtful
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.not_ours import is_of_others
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.subjects import subjects_of
from hopgate.extract.rules.tentative import ALONE
from hopgate.extract.rules.timetable import DAYS, HINT, ON_SOME_DAYS, TAKES_PLACE, WHEN
from hopgate.extract.rules.words import words

_CHANGE = words(table("changes")["values"])
_AMOUNT = compiled(r"⟪(\d+)⟫")
_WHEN = compiled(rf"(?<!\S){WHEN}")
_OLD = compiled(
    r"\b(?:from|was|were|instead of|rather than|not|than|before|of|by|statt|von|vom|vorher|de|du|del|van|au lieu de|"
    r"en vez de)"
    r"(?: (?:the|den|dem|le|el|on|at|am|um))?$"
)
MOST_SUBJECTS = 4
_PUT_OFF = (DENIED - {"not", "no"}) | {"postponed"}
# An amount of something else: "5 EUR bank fee".
_CLOSED = compiled(
    r"$| (?:[,;.()/:–-]|a|an|per|each|pro|im|par|al|now|from|since|instead|as|for|ab|seit|monthly|yearly|starting|and)"
)
_FOR = compiled(r" (?:for|für|pour|para|voor|per) (?P<what>.*)")
_PLAIN = _CHANGE | words("needed decided agreed called based")
_NO_EVENT = words("it that this they them us me you he she i we time date price new now today")


def changed_values(clause: Clause, who: Referents) -> Iterator[Fact]:
    """Yield what a sentence with a word of change and one new value would tell of a price, a deadline or an event.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("We bumped the standup to 10:00."), created_at=datetime(2024, 5, 4))
    >>> reading = read(source)
    >>> for fact in changed_values(next(clauses(reading)), Referents(reading, source)):
    ...     print(fact.subject, "|", fact.relation, "|", fact.object)
    standup | takes place | 10:00
    """
    text = clause.text
    if (
        not who.written
        or not ("⟪" in text or HINT.search(text))
        or _CHANGE.isdisjoint(text.split())
        or is_doubtful(clause, but=_PUT_OFF)
    ):
        return
    if clause.stance(0, len(text)) == "not":
        return
    amounts = [match for match in _AMOUNT.finditer(text) if not _OLD.search(text[: match.start()].rstrip())]
    if len(amounts) == 1 and _CLOSED.match(text, amounts[0].end()):
        value = clause.reading.spans[int(amounts[0][1])].name
        yield from _told(clause, amounts[0], who, ("costs",), value)
    times = [match for match in _WHEN.finditer(text) if not _OLD.search(text[: match.start()].rstrip())]
    if len(times) == 1 and not amounts:
        match = times[0]
        if ON_SOME_DAYS.match(text, match.end()) and not _FOR.match(text, match.end()):
            return
        if match["date"]:
            date = clause.reading.spans[clause.spans(match["date"])[0]].name
            yield from _told(clause, match, who, ("due", TAKES_PLACE), date)
        else:
            day, time = DAYS.get(match["day"] or "", ""), match["at"] or match["time"] or ""
            yield from _told(clause, match, who, (TAKES_PLACE,), f"{day} {time}".strip())


def _told(
    clause: Clause, place: re.Match[str], who: Referents, relations: tuple[str, ...], value: str
) -> Iterator[Fact]:
    before, after = clause.text[: place.start()].rpartition(" , ")[2], _FOR.match(clause.text, place.end())
    about = f"{after['what']} , {before}" if after else before
    if not _PLAIN.issuperset(word for word in about.split() if word.endswith(("ed", "ived", "ends"))):
        return  # something else happened then
    if is_of_others(about):
        return
    named = dict.fromkeys(name for forms in subjects_of(about, who) for name in forms)
    subjects = [name for name in named if not who.is_person(name) and name not in _NO_EVENT][:MOST_SUBJECTS]
    if not subjects and who.topic and not who.is_person(who.topic):
        subjects = [who.topic]
    for subject in subjects:
        yield from (Fact(subject, relation, value, who.written, None, ALONE) for relation in relations)
