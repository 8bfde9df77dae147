"""Whether a note says of a name that it is over, and not of something beside it: "has quit the Flyers"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_SMALL = (
    r"(?:(?:the|my|our|his|her|their|its|as|from|at|with|in|on|of|to|playing|doing|using|being|going|mit|bei|beim|von|"
    r"vom|aus|in|im|als|der|die|das|dem|den|(?:ihr|sein|mein|unser)(?:e[mnr]?)?) )*"
)
# Before what is over: "left the Rovers", "no longer works at Siemens".
_LEFT = (
    r"(?:quits?|given up|gave up|gives up|giving up|stopped|stops|stepped down|steps down|stood down|resigned|retired|"
    r"left|leaves|leaving|dropped(?: out)?|packed in|ditched|done|finished|finishes|got rid|last day|letzte[nr] tag|"
    r"(?:no longer|nicht mehr)(?: (?!any)[^\W\d_]+){0,2}|(?:doesn't|don't|isn't|aren't|not) [^\W\d_]+|schluss)"
)
_WHAT = r"(?:(?!the|my|our|his|her)[^\W\d_]+ (?=with|at|bei|from))?"  # "stopped piano with Mrs Abbott"
# After it: "the Rovers have folded", "Frau Thiel hört auf".
_GONE = (
    r"(?:quit|retired|retires|resigned|left|gone|stepped down|stood down|stopped|moved away|moved out|closed down|"
    r"shut down|folded|passed away|died|out|(?:comes?|coming|helps?|works?|teach|do it|with us|around) any ?more|"
    r"in rente|aufgehört|hört auf|gekündigt|aufgegeben|abgemeldet|ausgetreten|verlassen|ausgezogen|weggezogen|"
    r"abgeschafft|abbestellt|abgegeben|kommt nicht mehr|nicht mehr da)"
)
_IS = r"(?:(?:has|have|is|are|was|'s|doesn't|does not|won't|isn't|hat|haben|ist|sind|geht|jetzt|now|just|finally) )*"
# Of an end nothing more is said than when or of what: "Anna left Siemens early today" tells none.
_THEN = (
    r"(?=$| ?[.,;:!)–-]| the [^\W\d_]+(?= ?[.,;:!]|$)| (?:as|from|at|als|bei|and|und|after|nach|last|on|in|for good|"
    r"any ?more|altogether|yesterday|today|this|am|zum|im|seit|since|aufgehört|gekündigt|ausgetreten|abgemeldet|"
    r"verlassen|aufgegeben|gemacht)\b)"
)


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
    return any(_told(name.lower()).search(said) for name in names if name)


@lru_cache(maxsize=512)
def _told(name: str) -> re.Pattern[str]:
    called = rf"(?<!\w){re.escape(name)}(?!\w)"
    return re.compile(
        rf"\b{_LEFT} {_WHAT}{_SMALL}{called}{_THEN}|{called} {_IS}{_GONE}{_THEN}|{called} {_SMALL}{_GONE}{_THEN}"
    )
