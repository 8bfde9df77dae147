"""Whether a note says of a name that it is over, and not of something beside it: "has quit the Flyers"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from hopgate.extract.rules.kept_patterns import compiled

_SMALL = (
    r"(?:(?:the|my|our|his|her|their|its|as|from|at|with|in|of|to|on|mit|bei|beim|von|vom|aus|in|im|ins|zum|zur|auf|als|"
    r"der|die|das|dem|den|"
    r"(?:ihr|sein|mein|unser)(?:e[mnr]?)?) )*"
)
_DOES = (
    r"(?:works?|working|uses?|using|goes|go|going|plays?|playing|sings?|singing|teach(?:es|ing)?|trains?|training|lives?|"
    r"living|has|have|attends?|attending|does|do|doing|takes?|taking|sees?|seeing|coming|drives?|driving|gets?|buys?|"
    r"reads?|leads?|leading|runs?|running|coach(?:es|ing)?|helps?|helping|volunteers?|arbeitet|nutzt|geht|spielt|singt|"
    r"wohnt|hat|macht|fährt|leitet)"
)
# Before what is over: "left the Rovers", "no longer works at Siemens", "stopped piano with Mrs Abbott".
_LEFT = (
    r"(?:(?:quits?|gave up|gives? up|given up|giving up|stopped|stops|packed in|dropped out|finished) "
    rf"(?:{_DOES} |(?!the|my|our|his|her|on\b)(?![^\W\d_]+ing\b)[^\W\d_]+ (?=with|at|bei))?|"
    r"(?:stepped down|steps down|stood down|resigned|retired|left|leaves|leaving|ditched|done|got rid|last day|"
    r"letzte[nr] tag|schluss|sold|hört|hören|höre) |"
    r"(?:cancelled|canceled|closed) (?:(?:my|our|his|her|their|the) (?:membership|subscription|account|contract) )?|"
    rf"(?:no longer|nicht mehr) (?:{_DOES} |with |at |in |on |part of |a member of |"
    r"(?=(?:my|our|his|her|mein|unser|ihr|sein|im|in|bei|beim|zum|zur)\b))|"
    rf"(?:doesn't|don't|isn't|aren't) {_DOES} )"
)
# After it: "the Rovers have folded", "Frau Thiel hört auf".
_GONE = (
    r"(?:quit|retired|retires|resigned|stepped down|stood down|moved away|moved out|closed down|shut down|folded|"
    r"passed away|died|left(?: the (?:surgery|practice|club|team|company|firm|school|band|choir|group|committee|board|"
    r"hospital|clinic|job|business|village))?|(?:comes?|coming|helps?|teach|with us) any ?more|in rente|aufgehört|"
    r"hört auf|gekündigt|aufgegeben|abgemeldet|ausgetreten|ausgezogen|weggezogen|abgeschafft|abbestellt|"
    r"abgeschaltet|stillgelegt|verkauft|split up|broken up|sich getrennt|geschichte|history|in rente gegangen|"
    r"(?:(?:die|das|den|unsere|unser|unseren) )?(?:firma|praxis|schule|klinik|kita|abteilung|mannschaft|gruppe|band|"
    r"team|verein|chor|betrieb) verlassen|kommt nicht mehr)"
)
_IS = r"(?:(?:has|have|is|are|'s|doesn't|does not|won't|isn't|hat|haben|ist|sind|geht|jetzt|now|just|finally) )*"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
_MONTH = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez"
# Of an end nothing more is said than when it was: "Anna left Siemens early today" tells none, nor "at four".
_THEN = (
    r"(?=$| ?[.,;:!)–-]| (?:for good|any ?more|altogether|completely|endgültig|aufgehört|gekündigt|ausgetreten|"
    rf"abgemeldet|aufgegeben|verkauft|abgeschaltet|account|auf)(?= ?[.,;:!]|$)| "
    r"(?:on|in|last|since|at the end of|am|im|seit|zum|ende) "
    rf"(?:(?:{_DAY})\b|(?:{_MONTH})|\d|week|month|year|term|season|summer|spring|winter|woche|monat|jahr))"
)
_AS = r"(?= (?:as|from|als)\b)"
_ANY_END = compiled(
    r"(?i)\b(?:cancell?ed|closed|retired|resigned|stepped down|left|sold|quit|gekündigt|in rente|in den ruhestand|"
    r"verlassen|abgeschaltet|abgeschafft|aufgehört|hört|verkauft|geschichte)\b"
)
# "Amir has left the club, he'll be home in twenty minutes"
_FOR_TODAY = compiled(
    r"\b(?:minutes|minuten|home (?:in|soon|at|by|late|early|for)|on (?:his|her|their|the) way|unterwegs|gleich da)\b"
)
_PART = compiled(r"(?<=[,;.!?]) ")
# "nearly quit Ikea", "quit in his dream", "if Clara quits"
_NOT_REALLY = compiled(
    r"\b(?:nearly|almost|fast|beinahe|threatens?|threatened|dreams?|dreamt|traum|if|wenn|falls|might|may|would|wants?|"
    r"will|wollte|würde|soon|bald|joke|joking|kidding|witz|tomorrow|morgen)\b"
)


def may_tell_end(text: str) -> bool:
    """Whether a note has a word by which people say that something is over, of whatever it is said.

    Examples
    --------
    >>> may_tell_end("Dr. Reuter ist in Rente."), may_tell_end("Dr. Reuter ist im Urlaub.")
    (True, False)
    """
    return bool(_ANY_END.search(text))


def tells_end_of(text: str, names: Iterable[str]) -> bool:
    """Whether a note says that one of some names is over: whoever it is, or what somebody had or did.

    Examples
    --------
    >>> tells_end_of("Eli has quit the Flyers.", ["Flyers"]), tells_end_of("Hamish has stepped down.", ["Hamish"])
    (True, True)
    >>> tells_end_of("Anna left Siemens early today.", ["Siemens"]), tells_end_of("Tom left the tap on.", ["Tom"])
    (False, False)
    """
    said = " ".join(text.lower().replace("’", "'").split())
    if _FOR_TODAY.search(said):
        return False
    told = [part for part in _PART.split(said) if not _NOT_REALLY.search(part)]
    called = [name.lower() for name in names if name]
    return any(_told(name).search(part) and not _something_at(name).search(part) for name in called for part in told)


@lru_cache(maxsize=512)
def _told(name: str) -> re.Pattern[str]:
    called = rf"(?<!\w){re.escape(name)}(?!\w)"
    # Not `compiled`: what is made of a note's own words is kept nowhere.
    return re.compile(rf"\b{_LEFT}{_SMALL}{called}{_THEN}|{called} (?:{_IS}|{_SMALL}){_GONE}(?:{_THEN}|{_AS})")


@lru_cache(maxsize=512)
def _something_at(name: str) -> re.Pattern[str]:
    """Of what somebody has there it is told: "his account at the bank"."""
    whose = r"(?:my|his|her|our|the|an?|(?:mein|sein|ihr|unser)(?:e[nmrs]?)?|d(?:as|en|ie)|eine?n?)"
    return re.compile(rf"\b{whose} [^\W\d_]+ (?:bei|beim|at)(?: the| der| dem)? {re.escape(name)}(?!\w)")
