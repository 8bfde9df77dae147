"""When something takes place, and where it was moved to: "yoga is on Mondays", "the review is moved to 19 April"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.change_words import has_change
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import LANGUAGES
from hopgate.extract.rules.places import is_room
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.tentative import ALONE
from hopgate.extract.rules.words import MONEY, words

TAKES_PLACE = "takes place"
"""The relation of what happens again and again, or is to happen, to its day, date or time."""
STATED = 0.7
DAYS = {
    form: day for language in LANGUAGES.values() for day in language.days for form in (day, f"{day}s") if len(day) > 4
}
_DAY = "|".join(sorted(map(re.escape, DAYS), key=len, reverse=True))
_TIME = r"\d{1,2}:\d\d(?: ?[ap]m)?|\d{1,2}(?:\.\d\d)? ?(?:am|pm|uhr|o'clock)|\d{1,2}h(?:\d\d)?"
WHEN = (
    rf"(?:(?P<day>{_DAY})(?: (?:(?:at|um|à|a las|,|from|ab|morning|evening|afternoon|alle) )*(?P<at>{_TIME}))?|"
    rf"(?P<date>⟦\d+⟧)|(?P<time>{_TIME}))(?=$| [,;.()–-]| (?!⟦)[^\W\d_])"
)
_OLD = rf"(?:{_DAY}|⟦\d+⟧|{_TIME})(?: (?:at|um|à) (?:{_TIME}))?"
_WAS = rf"(?P<was>{_OLD})"
# What happens is called by one to three words or names, none of which is a verb or says that it is one of many.
_NOT_CALLED = (
    "is|are|was|were|be|been|has|have|had|and|or|but|that|which|who|not|so|to|of|in|on|at|by|for|from|with|as|it|he|"
    "she|they|we|you|i|this|there|if|when|next|last|first|other|only|now|then|moved|changed|got|gets|"
    "rescheduled|pushed|postponed|shifted|ist|sind|und|oder|nicht|est|et|y|es|date|deadline|what|one|today|everything|all|my|our|the|a|an|die|der|das|la|le|el|will|"
    "would|could|should|can|does|did|do|no|wird|nächste|nächster|still|unser|unsere|mein|meine|notre|nuestra|nuestro|onze|um|am|ab|täglich|daily|mit|avec|con|von|vom|des|deshalb|daher|darum|gehe|geht|gehen|ich|wir|er|sie|es"
)
_WORD = rf"(?!(?:{_NOT_CALLED})\b)[^\W\d_][\w'’-]*"
# "Starting next week standup moves to Mondays"
_FROM_THEN = (
    r"(?<!\S)(?:starting|beginning|from|as of) (?:this|next) (?:week|month|term|season|semester|year)(?: on)?(?: ,)? "
)
_CALLED = (
    rf"(?:^|{_FROM_THEN}|[,;:–-] |(?<!\S)so |(?<!\S)(?<!\bwith )(?<!\bmit )(?<!\bavec )(?<!\bbei )(?<!\bvon )"
    rf"(?:the|my|our|'s|die|der|das|den|la|le|el|unser|unsere|notre|het|de|now) )"
    rf"(?P<s>(?:{_WORD}|⟨\d+⟩)(?: (?:{_WORD}|⟨\d+⟩|\d[\d.]*)){{0,2}})"
    rf"(?: (?:with|mit|avec|con|of|der|des|von|vom) (?:(?:the|der|dem|den|la|le|el) )?(?:⟨\d+⟩|\d{{0,2}}[^\W\d_]+))?"
)
_ON = (
    r"(?:(?:on|at|every|each|always|daily|held|now|täglich|jetzt|nun|ahora|maintenant|nu|am|um|immer|jeden|le|les|à|"
    r"los|el|a las|il|op|om|ab sofort|ab(?! ⟦)|(?:from|since|ab|seit) ⟦\d+⟧) )*"
)
_BE = r"(?:(?:is|are|was|were|has|have|been|got|gets|gets|ist|sind|wurde|est|a été|ha sido|se ha|is) )*"
_MOVED = (
    r"(?:moved|moves|switches|shifts|changed|changes|rescheduled|shifted|pushed|postponed|delayed|switched|"
    r"slips|slipped|brought forward|put off|verlegt|verschoben|déplacée?|reportée?|décalée?|cambiad[oa]|aplazad[oa]|"
    r"movid[oa]|pasad[oa]|verzet|verplaatst|spostat[oa])"
)
_TO = r"(?:to|until|till|for|onto|auf|au|à|al|a|para|naar|tot)(?: (?:the|den|le|el|the following|il|next))?"
# "Ben has less time on Mondays", "has gone home every Monday", "hat jeden Dienstag frei": nothing takes place.
_NO_HABIT = r"(?!(?:less|more|no|some|much|enough|gone|been|always|never|often|only|time|fun|frei|zeit|\w+ed)\b)"
_WHO = r"(?P<who>⟨\d+⟩|wir|ich|we|i)"
_HAS = rf"(?:^|[,;:] ){_WHO} (?:has|have|hat|haben|habe)"
_THEIR = r"(?:(?:the|his|her|their|our|my|ihre?n?|seine?n?|unsere?n?|meine?n?|das|den|die|immer|jetzt|nun) )*"
# Again and again: "jeden Dienstag", "dienstags", "on Tuesdays".
_DAYS = "|".join(day for day in DAYS if day.endswith("s"))
_HABIT = rf"(?=(?:(?:on|immer|jetzt|nun|now) )*(?:jeden |every |each |(?:{_DAYS})\b))"
_WAYS = (
    (
        False,
        compiled(
            rf"{_CALLED} (?:is|are|'s|starts|begins|takes place|happens|meets?|goe?s? out|rehearses?|"
            rf"practi[cs]es?|trains?|probt|proben|tagt|trainiert|ist|findet|beginnt|"
            rf"startet|est|a lieu|commence|es|empieza|è|begint) {_ON}{WHEN}"
        ),
    ),
    (
        True,
        compiled(
            rf"{_CALLED}(?: :)?(?: (?:deadline|date|due date|termin))? {_BE}(?:now |just |finally )?{_MOVED} "
            rf"(?:back |out |forward |up )?(?:(?:from|von|vom|de|du|del|van) {_WAS} )?{_TO} {WHEN}"
        ),
    ),
    (
        True,
        compiled(
            rf"(?:^|[,;] |⟨\d+⟩ |we |i |they |has |have ){_MOVED} (?:back )?{_CALLED} (?:from {_WAS} )?{_TO} {WHEN}"
        ),
    ),
    (True, compiled(rf"{_CALLED} (?:ist|sind|wurde|is) (?:von|vom|van) {_WAS} auf {WHEN} (?:verlegt|verschoben)")),
    (True, compiled(rf"{_CALLED}(?: :)? (?:now|jetzt|nun|ahora|maintenant) {_ON}{WHEN}")),
    # "La réunion passe au jeudi"; a bus that passes at ten does not move.
    (True, compiled(rf"{_CALLED} (?:passe|passent|pasa|pasan|passa) (?:au|à|al|a) (?=(?:{_DAY})\b){WHEN}")),
    # "Ab heute ist das Standup um 10 Uhr"
    (True, compiled(rf"\b(?:ab|jetzt|nun|künftig) (?:[^\s,;]+ )?(?:ist|sind|beginnt|startet) {_CALLED} {_ON}{WHEN}")),
    (False, compiled(rf"^{_CALLED} : {_ON}{WHEN}")),
    (True, compiled(rf"{_CALLED}(?: :)? {_WAS} (?:->|→|=>|-->) {WHEN}")),
    # "Mia hat jeden Dienstag Schwimmtraining", "Timo has judo on Wednesdays", "Ab sofort hat Mia ihr Training montags"
    (False, compiled(rf"{_HAS} {_HABIT}{_ON}{WHEN} {_NO_HABIT}(?P<s>{_WORD})(?!\w| {_WORD})")),
    (False, compiled(rf"{_HAS} {_THEIR}{_NO_HABIT}(?P<s>{_WORD}(?: {_NO_HABIT}{_WORD})?) {_HABIT}{_ON}{WHEN}")),
    (
        False,
        compiled(
            rf"(?:ab|jetzt|nun|künftig|seit)(?: [^\s,;]+)? (?:hat|haben|habe) {_WHO} {_THEIR}(?P<s>{_WORD}) "
            rf"{_HABIT}{_ON}{WHEN}"
        ),
    ),
)
# "the meeting" may be another one each time.
_ANY_EVENT = words(
    "meeting call appointment event visit date flight train game match termin treffen cita reunión réunion"
)
_ONCE = words(
    """
    week weeks once tomorrow today tonight only also too additional extra second another both heute morgen diese dieser
    woche auch zusätzlich semaine demain aussi semana mañana también exceptionally ausnahmsweise temporarily
    """
)
_SINCE, _THIS = words("from since starting ab seit dès partir desde vanaf"), words("this next cette esta deze questa")
_ONLY, _UNTIL = words("only just nur bloß"), words("until till bis jusqu'à hasta tot")
# "At 9:45 on Fridays", "at 19:00 in winter", "Thursday in the holidays": not always.
_SOME_DAYS = (
    rf" (?:on (?:the )?(?:{_DAYS})|"
    r"(?:in|during|over|im|in den|en|durante|pendant) (?:the |den |le |les |las |los )?(?:school )?(?:spring|summer|"
    r"autumn|winter|holidays|vacation|term|ramadan|lent|advent|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|sommer|herbst|frühling|ferien|été|hiver|vacances|verano|invierno|"
    r"vacaciones|zomer|vakantie)\b"
)
# "At 9:45 on Fridays", "at 6 in the holidays"; in September is when it changes.
TIME_ON_SOME_DAYS = compiled(
    rf"(?:{_TIME}) (?:on (?:the )?(?:{_DAYS})|(?:in|during|over|in den|im) (?:the )?(?:school )?"
    r"(?:spring|summer|autumn|winter|holidays|vacation|ramadan|lent|advent|ferien|sommer|herbst)"
    r"(?=$| ?[,.;!)]| now| and))"
)
ON_SOME_DAYS = compiled(
    rf"{_SOME_DAYS}|(?:for|at|für|bei|pour|chez) (?:the |my |our |die |meine |les |mes )?[^\W\d_]+)"
)
_OWNER = compiled(r"(⟨\d+⟩) 's $")
_THEIRS = compiled(r"(her|his|ihre?n?|seine?n?) (.+)")
_EACH = words("a per each every pro")
_INSTEAD = compiled(rf" (?:instead of|rather than|statt|anstatt) (?:on )?(?P<was>{_DAY})(?=$| )")
_DONE = compiled(
    r" (?:(?:um|aus|ein)?gezogen|migriert|repariert|abgesagt|ausgefallen|gestorben|angekommen|gefahren|geliefert|"
    r"abgeholt|geboren)$"
)
HINT = compiled(rf"⟦|(?<!\S)(?:{_DAY}|{_TIME})(?!\S)")


_PLACE = compiled(
    r"(?: (?:mornings?|evenings?|afternoons?|this term|this season))?"
    r"(?: (?:at|um) (?:half )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|\d{1,2}))?(?: ,)?"
    r" (?:in|at|im|in der|in dem) (?:(?:the|our) )?"
    r"(?:(?P<name>⟨\d+⟩)(?! 's))?(?: ?(?P<noun>(?:[^\W\d_]+ )?[^\W\d_]+(?: \d[\w.]*)?))?(?=$| [,;.(]| at (?:the |⟨))"
)
_SOMEBODYS = words(
    "birthday birthdays anniversary geburtstag hochzeitstag jubiläum anniversaire cumpleaños aniversario verjaardag "
    "compleanno anniversario aniversário"
)


def may_tell_time(reading: Reading) -> bool:
    """Whether a memory has a weekday, a date or a time, and speaks neither of this week alone nor of one more time."""
    lower = reading.lower
    if not (not DAYS.keys().isdisjoint(lower) or "N" in reading.marks or any(s.form == "date" for s in reading.spans)):
        return False
    return not any(
        word in _ONCE and not _is_from_then_on(lower, at) and not (at and lower[at - 1] in _EACH)  # "twice a week"
        for at, word in enumerate(lower)
    )


def _is_from_then_on(lower: list[str], at: int) -> bool:
    """Whether a day or a week is the beginning of something without an end: "ab heute", "from this week"."""
    first = at - (lower[at - 1] in _THIS) if at else 0
    first -= lower[max(0, first - 2) : first] == ["partir", "de"]
    since = first > 0 and lower[first - 1] in _SINCE and (first < 2 or lower[first - 2] not in _ONLY)
    return since and _UNTIL.isdisjoint(lower[at : at + 4])


def timetable(clause: Clause, who: Referents) -> Iterator[Fact]:
    """Yield on which day, date or time something is said to take place; where it may be a deadline too, tentatively.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("The weekly sync moved to Thursdays 14:00."), created_at=datetime(2024, 5, 4))
    >>> reading = read(source)
    >>> for fact in timetable(next(clauses(reading)), Referents(reading, source)):
    ...     print(fact.subject, "|", fact.relation, "|", fact.object, "|", fact.valid_from)
    weekly sync | takes place | thursday 14:00 | 2024-05-04
    """
    if clause.question or not HINT.search(clause.text):
        return
    for moved, pattern in _WAYS:
        match = pattern.search(clause.text)
        if not match or clause.stance(match.start("s"), match.end()) != "said" or clause.is_past(*match.span()):
            continue
        if _DONE.search(clause.text, match.end()):
            continue  # "ist am 2. Mai umgezogen"
        subject = _owned(match, clause, who)
        if subject in _SOMEBODYS:
            continue  # whose, is not said
        if not subject or clause.is_of_another(match.start("s")):
            continue
        told = moved or has_change(clause)
        if told and ON_SOME_DAYS.match(clause.text, match.end()):
            return
        if match["date"]:
            date = clause.reading.spans[clause.spans(match["date"])[0]].name
            if not moved:
                yield Fact(subject, TAKES_PLACE, date, who.written if told else None, None, STATED)
            else:
                yield Fact(subject, TAKES_PLACE, date, who.written, None, ALONE)
                yield Fact(subject, "due", date, who.written, None, ALONE)
            return
        day, time = DAYS.get(match["day"] or "", ""), match["at"] or match["time"] or ""
        was = match.groupdict().get("was") or ((found := _INSTEAD.match(clause.text, match.end())) and found["was"])
        told = told or bool(was)
        yield Fact(subject, TAKES_PLACE, f"{day} {time}".strip(), who.written if told else None, None, STATED)
        if was in DAYS and DAYS[was] != day:
            # What nobody noted while it was so.
            yield Fact(subject, TAKES_PLACE, DAYS[was], None, who.written, STATED)
        yield from _place_beside(subject, clause, match.end(), who)
        return


def _owned(match: re.Match[str], clause: Clause, who: Referents) -> str:
    """What happens, and whose it is: Mia's training is not Noah's."""
    subject = _called(match["s"], clause, who)
    if subject and (theirs := _THEIRS.fullmatch(subject)):
        people = who.people_of(theirs[1], clause, match.start("s"))
        return f"{people[0]}'s {theirs[2]}" if len(people) == 1 else ""
    whose = match.groupdict().get("who") or ""
    owner = whose if whose[:1] == "⟨" else (found := _OWNER.search(clause.text[: match.start("s")])) and found[1]
    names = who.names_of(owner) if subject and owner else ()
    return f"{names[0]}'s {subject}" if names and who.is_person(names[0]) else subject


def _place_beside(subject: str, clause: Clause, at: int, who: Referents) -> Iterator[Fact]:
    """Where something takes place, beside when: "on Monday evenings in the Methodist hall"."""
    if not (found := _PLACE.match(clause.text, at)):
        return
    names = who.names_of(found["name"] or "")
    place = " ".join(filter(None, (names[0] if names else "", found["noun"] or "")))
    if place and (names or is_room(place)) and not who.is_person(place):
        yield Fact(subject, "located in", place, who.written, None, STATED)


def _called(part: str, clause: Clause, who: Referents) -> str:
    """What happens, by its words; somebody does not."""
    said = [clause.reading.spans[clause.spans(word)[0]].name if word[0] == "⟨" else word for word in part.split()]
    name = " ".join(said)
    if name.rpartition(" ")[2].lower() in MONEY:
        return ""  # "rent is 1150"
    return "" if who.is_person(name) or len(name) < 3 or name in _ANY_EVENT else name
