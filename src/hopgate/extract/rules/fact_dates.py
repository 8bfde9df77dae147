"""Since when and until when a fact holds: the dates beside it in its sentence."""

from __future__ import annotations

import re

from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import LANGUAGES
from hopgate.extract.rules.words import words

_DATE = compiled(r"⟦(\d+)⟧")
# From a fact to its date there are at most so many words, and no further verb or comma.
_NEAR = 5
_BREAK = compiled(r"[,;:]| (?:and|und|but|aber|et|y|is|was|are|runs|costs|contract) ")
_SINCE = compiled(
    r"(?:since|as of|from|starting|seit|ab|depuis|dès|desde|dal|da|sinds|vanaf|"
    r"a partir de)(?: (?:dem|den|der|the|le|el|il|early|late|mid|about))*$"
)
_UNTIL = compiled(
    r"(?:until|till|through|up to|bis|jusqu'en|jusqu'à|jusqu'au|hasta|fino a|"
    r"fino al|tot|até)(?: (?:zum|den|dem|the|end|of|le|el|il|early|late))*$"
)
_FROM = r"(?:from|starting|starting (?:in|on)|as of|ab|vanaf|dès)(?: (?:the|dem|den|le))?"
_FROM_DATE = compiled(rf"^{_FROM} ⟦(\d+)⟧ | {_FROM} ⟦(\d+)⟧(?=$| ,)")
# What is so since a date, and on the day of the note: "in February" may be long over.
_STILL = compiled(
    r"\b(?:since|as of|seit|depuis|desde|sinds|dal|dall')"
    r"(?: (?:dem|den|der|the|le|el|il|start|beginning|end|of|early|late|mid|about|around|anfang|ende|mitte|"
    r"begin|eind))* ⟦(\d+)⟧"
)
# Words of a change; what has them was not so before, and what has none may always have been so.
_NOW = (
    r"now|nowadays|these days|from now on|meanwhile|jetzt|nun|inzwischen|mittlerweile|neuerdings|nunmehr|maintenant|"
    r"désormais|dorénavant|ahora|nu|voortaan|tegenwoordig|ora|adesso|ormai|agora"
)
_TURNED = compiled(
    rf"\b(?:{_NOW}|join(?:ed|s)|becom(?:es|e)|became|(?:took|takes|taken|taking) over|takeover|moved|migrated|switched|"
    r"changed|transferred|relocated|replaced|started|went (?:up|down)|rose|dropped|umgezogen|gewechselt|übernommen|"
    r"übernimmt|verhuisd|overgenomen|(?:my|our|her|his|their|'s) new|neuer?|nouveau|nouvelle|nuev[oa]|nieuwe)\b|->|→"
)
_NOW_AFTER = compiled(rf"(?: [\w/]+){{0,3}} (?:{_NOW})(?=$| ?[,.;!)(])")
_NOW_FIRST = compiled(rf"(?:.*[,;:] )?(?:and |und |et |y |en )?(?:{_NOW}) ?,? ?$")
# "Winnie lives in Tralee now, she moved from Cork last May": told in the same breath.
_CAME = compiled(
    rf"(?: (?:{_NOW}))? [,;(–-] (?:(?:and|und|s?he|it|they|er|sie|es|(?P<me>i|we|ich|wir)) )*"
    r"(?:(?:has|have|had|'ve|'s|was|were|just|only) )*"
    r"(?P<did>moved|relocated|came|started|joined|switched|migrated|transferred|began)"
    r"(?: (?:here|there|in|over|out|away|across))?(?: from (?:the )?⟨\d+⟩)? "
    r"(?:(?:in|on|at|early|late|around|the|end|start|beginning|of) )*⟦(?P<day>\d+)⟧"
)
# What somebody did to live, to work, to run where it is said: another verb is of something else.
_CAME_BY = {
    "lives in": words("moved relocated came"),
    "works at": words("started joined began"),
    "runs on": words("moved migrated switched transferred"),
    "located in": words("moved migrated switched transferred"),
}
_RANGE = frozenset(("to", "until", "till", "-", "–", "bis", "à", "a", "tot", "al", "and"))


def validity(clause: Clause, match: re.Match[str], inside: str | None) -> tuple[str | None, str | None]:  # noqa: PLR0911, PLR0912
    """Read the dates of a match: inside it, right after it, or at the start of its sentence.

    Returns
    -------
    tuple of (str or None, str or None)
        Valid from and valid to.
    """
    text, spans = clause.text, clause.reading.spans
    found = "⟦" in text and [(one.start(), one.end(), spans[int(one[1])].name) for one in _DATE.finditer(text)]
    if not found:
        return None, None
    if (
        inside
        and match.re.pattern.find("due") < 0
        and "fällig" not in match.re.pattern
        and "deadline" not in match.re.pattern
    ):
        return spans[clause.spans(inside)[0]].name, None
    start, end = match.span()
    after = [one for one in found if one[0] >= end - 1]
    if after:
        date_start, date_end, iso = after[0]
        between = text[end:date_start].strip()
        open_ended = between.lstrip("( ,").strip()
        if len(between.split()) <= _NEAR and not _BREAK.search(" " + open_ended + " "):
            if len(after) > 1 and text[date_end : after[1][0]].strip() in _RANGE:
                return iso, after[1][2]
            own = between[:1] != "," or not _UNTIL.search(open_ended) or _UNTIL.match(open_ended)
            if not own:
                return None, None  # "…, change freeze until January"
            if _UNTIL.search(open_ended) or (not open_ended and _UNTIL.search(text[start:end].strip())):
                return None, iso
            if between[:1] in ("", "(") or _is_at(clause, open_ended) or _SINCE.search(open_ended):
                return iso, None
    before = [one for one in found if one[1] <= start + 1]
    if before:
        date_start, date_end, iso = before[-1]
        lead, gap = text[:date_start].strip(), text[date_end:start].strip(" ,")
        if len(lead.split()) <= 4 and len(gap.split()) <= 2:
            if _UNTIL.search(lead):
                return None, iso
            return iso, None
        if lead.endswith(":") and not gap:
            return iso, None
    inner = [one for one in found if start <= one[0] < end]
    if inner and "⟦" in match[0] and match.re.pattern.find("?P<d>") < 0:
        date_start, _, iso = inner[0]
        return (None, iso) if _UNTIL.search(text[:date_start].strip()) else (iso, None)
    return None, None


def begins(clause: Clause, written: str | None) -> str | None:
    """From when on what a sentence tells is so: the day of the note, or a later one that it names ("from May, …")."""
    found = _FROM_DATE.search(clause.text) if "⟦" in clause.text else None
    named = clause.reading.spans[int(found[1] or found[2])].name if found else ""
    return named if written and named > written else written


def holds_still(clause: Clause, begin: str | None, written: str | None) -> bool:
    """Whether a date is one since when something is so, up to the day of the note: "since February", not "in February".

    One that lies ahead is none.
    """
    if not begin or not written or begin > written:
        return False
    return any(clause.reading.spans[int(found[1])].name == begin for found in _STILL.finditer(clause.text))


def tells_turn(clause: Clause, match: re.Match[str]) -> bool:
    """Whether a match tells that something has become so, by its words or by "now" before or after it."""
    lead, rest = clause.text[: match.start()], clause.text[match.end() :]
    return bool(_TURNED.search(match[0]) or _NOW_AFTER.match(rest) or _NOW_FIRST.match(lead))


def came_when(relation: str, clause: Clause, match: re.Match[str], written: str | None, *, mine: bool) -> str | None:
    """When a move was that the same sentence tells after what has become of it; one that lies ahead is none.

    Parameters
    ----------
    mine : bool
        Whether it is told of who writes: what somebody else did is not what "I" did.
    """
    found = _CAME.match(clause.text, match.end()) if "⟦" in clause.text else None
    if not found or found["did"] not in _CAME_BY.get(relation, ()) or bool(found["me"]) != mine:
        return None
    named = clause.reading.spans[int(found["day"])].name
    return named if named and written and named < written else None


def _is_at(clause: Clause, between: str) -> bool:
    words = between.split()
    language = LANGUAGES[clause.reading.code]
    return (
        not words or words[-1] in language.at | language.since or any(word in ("today", "yesterday") for word in words)
    )
