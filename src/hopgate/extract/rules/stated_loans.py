"""Who has a thing that was lent, and that it is back: "lent the ladder to Liam", "Ben has borrowed our drill"."""

from __future__ import annotations

import re

from hopgate.extract.extraction import Stated
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.stated_parts import thing_at
from hopgate.extract.rules.words import words

LENT, RETURNED = "lent to", "returned by"
"""Of a thing that somebody has, wherever it was, and of one that is back where it was before he had it."""
_LENT_WORDS = r"lent|loaned|on loan|borrowed|(?:ver|ge|ausge)liehen|verborgt"
_LENDING = compiled(rf"(?i)\b(?:{_LENT_WORDS})\b")
_LOANS = compiled(
    rf"(?i)\b(?:{_LENT_WORDS}|returned|zurückge(?:geben|bracht)|"
    r"(?:brought|gave|given|got) [^.;]{1,60} back)\b"
)
HINTS = words(
    "gave given lent loaned loan borrowed borrow let returned back verliehen ausgeliehen geliehen verborgt "
    "zurückgegeben zurückgebracht gegeben abgeholt"
)
"""Without one of these words no sentence tells of a loan, or of its end."""
_THING = r"(?P<t>(?:the|my|our) [^,;:]+?)"
_BARE = _THING.replace("(?:the|my|our) ", "(?:(?:the|my|our) )?")
_WHO = r"(?P<b>⟨\d+⟩)(?! (?:and|und|or|oder)\b)"
_WE = r"(?:(?:i|we)(?: have| has| 've| 's)? |(?:have|'ve|'s|is) )?(?:just |now |finally )?"
_HAS = r"(?:has |have |'s )?(?:just |finally )?"
_KEY = r"(?:the|my|our|a) (?:spare|house|door|flat|shed) (?:[^\W\d_]+ )?keys?"
_LENT = tuple(
    map(
        re.compile,
        (
            rf"^{_WE}(?:lent|loaned)(?: out)? {_THING}(?: out)? to {_WHO}(?! 's)",
            rf"^{_WE}(?:lent|loaned) {_WHO} {_THING}(?= ,|$)",
            rf"^{_WE}(?:gave|given) {_WHO} (?P<t>{_KEY})(?= for| ,|$)",
            rf"^{_WE}let {_WHO} (?:borrow|have) {_THING}(?= ,|$)",
            rf"^{_WHO} {_HAS}borrowed {_THING}(?= ,|$)",
            rf"^{_WHO} (?:has|have|got|has got) (?:the|a) (?:loan|lend) of {_THING}(?= ,| now|$)",
            rf"^{_WHO} (?:has|have|has got) {_THING} on loan(?= ,| now|$)",
            rf"^{_THING} (?:is|are|'s) (?:now )?(?:out )?(?:on loan|lent(?: out)?|loaned(?: out)?) (?:to|with) {_WHO}",
            # The small words of German sentences are in English here.
            rf"^{_WE}{_BARE} (?:at|to) (?:[^\W\d_]+ )?{_WHO} (?:verliehen|ausgeliehen|verborgt)",
            rf"^{_WE}{_WHO} {_THING} (?:ge|aus|ver)(?:ge)?liehen",
            rf"^{_THING} (?:have|'s) (?:i|we) (?:at )?{_WHO} (?:ge|aus|ver)(?:ge)?liehen",
            rf"^{_WHO} (?:'s|has) (?:sich )?(?:now )?{_THING} (?:ausgeliehen|geliehen|ausgeborgt)",
        ),
    )
)
_BACK = tuple(
    map(
        re.compile,
        (
            rf"^{_WHO} {_HAS}(?:returned|(?:brought|gave|given) back) {_THING}(?= ,|$)",
            rf"^{_WHO} {_HAS}(?:brought|gave|given|handed) {_THING} back(?= ,|$)",
            rf"^(?:got|have|'ve got|(?:i|we) (?:got|have|'ve got)) {_THING} back from {_WHO}",
            rf"^{_WHO} 's (?:now )?{_THING} (?:zurückgegeben|zurückgebracht)",
        ),
    )
)
# "Took my spare key back from Doreen and gave it to Alan", "Daniel gave the Ashcroft back and I lent it on to Rhona"
_ON = (
    r"(?:(?: and| ,)[^;]*? (?:gave|lent|passed|handed|given) (?:it|them) (?:straight |right )?(?:over |on )?to {b}|"
    r" , {c} (?:has|'s got|keeps) (?:it|them)(?: now)?(?= ,|$))"
)
_PASSED = tuple(
    compiled(pattern + _ON.replace("{b}", _WHO).replace("{c}", _WHO.replace("<b>", "<c>")))
    for pattern in (
        rf"^(?:.* , so )?{_WE}(?:took|got|fetched|collected|had) {_THING} back from (?P<a>⟨\d+⟩|her|him|them)",
        rf"^(?P<a>⟨\d+⟩) {_HAS}(?:brought|gave|given|handed) {_THING} back",
    )
)
_TAKEN_AND_GIVEN = compiled(
    rf"^{_THING} (?:'s|have) (?:i|we) (?:(?:at|from) )?(?P<a>⟨\d+⟩) (?:wieder )?"
    rf"(?:(?:ab|weg)genommen and (?P<b>⟨\d+⟩) gegeben|abgeholt , (?:er|sie|it) 's now (?:at|with) (?P<c>⟨\d+⟩))"
)
# Not for long, not yet.
_FOR_A_WHILE = words(
    """
    until till bis weekend week weeks day days night hour hours minute tonight today tomorrow evening afternoon morning
    wochenende heute morgen abend stunde quickly briefly maybe if month months summer winter holiday holidays while bit
    moment trip party concert gig game match monday tuesday wednesday thursday friday saturday sunday montag dienstag
    mittwoch donnerstag freitag samstag sonntag ferien urlaub
    """
)
_UNTIL = compiled(r"\b(?:for|until|till|bis|für) ⟦")
_AGAIN = words("back return returns brings bring needs until till bis zurück wieder holt bringt")
# "… but he gave it back", "… last year": it is over, or was never.
_OVER = words("back returned returns wieder zurück never ago last didn't came nie")
# Said of the loan itself: not ours, or none yet.
_NONE = words("would could wants want asked ask asks never not almost once wollte will möchte")


def lent_or_back(text: str) -> Stated | None:
    """Whom a thing was lent to for a time that nobody says, or who brought it back.

    Examples
    --------
    >>> told = lent_or_back("i lent the ladder to ⟨0⟩ next door , he 's painting the gable")
    >>> told.thing, told.relation, told.value, told.is_change
    ('ladder', 'lent to', '⟨0⟩', True)
    >>> lent_or_back("lent the ladder to ⟨0⟩ for the weekend") is None
    True
    >>> lent_or_back("⟨0⟩ brought the ladder back").relation
    'returned by'
    """
    first, _, rest = text.partition(" , ")
    if not (_FOR_A_WHILE | _NONE).isdisjoint(first.split()) or _UNTIL.search(first) or _is_brought_back(rest):
        return None
    for patterns, relation in ((_PASSED, LENT), (_LENT, LENT), (_BACK, RETURNED)):
        for pattern in (*patterns, _TAKEN_AND_GIVEN) if patterns is _PASSED else patterns:
            found = pattern.match(text)
            thing = thing_at((said := found["t"].split()), 0) if found else None
            if found and thing and thing.end == len(said):
                if patterns is _LENT and not _OVER.isdisjoint(text[found.end() :].split()):
                    return None
                former = found["a"] if patterns is _PASSED and found["a"][0] == "⟨" else ""
                who = found["b"] or found["c"]
                return Stated(thing.text, relation, who, former, is_change=True)
    return None


def _is_brought_back(rest: str) -> bool:
    """Whether the rest of a sentence says until when: "…, he brings it back tomorrow"."""
    said = set(rest.split())
    return not _FOR_A_WHILE.isdisjoint(said) and not _AGAIN.isdisjoint(said)


def is_of_loan(text: str) -> bool:
    """Whether a note has words of lending at all, of a loan that is told or of one that is over.

    Examples
    --------
    >>> is_of_loan("Lent the barrow to Rhona last year."), is_of_loan("Rhona gave the barrow back.")
    (True, False)
    """
    return bool(_LENDING.search(text))


def tells_loan(text: str) -> bool:
    """Whether a note tells of a loan, and of no day on which it ends.

    Examples
    --------
    >>> tells_loan("Lent the ladder to Uwe."), tells_loan("Lent the ladder to Uwe, he brings it back tomorrow.")
    (True, False)
    """
    said = set(re.findall(r"\w+", text.lower()))
    return bool(_LOANS.search(text)) and (_FOR_A_WHILE.isdisjoint(said) or _AGAIN.isdisjoint(said))
