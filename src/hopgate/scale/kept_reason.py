"""Why a row was set aside, as it is kept: nobody knows whether the row is sensitive, so that nothing of it may stay."""

from __future__ import annotations

import re

from hopgate.errors import HopgateError
from hopgate.fields import TOP
from hopgate.redact import HIDDEN, redacted

# So many characters of a text in a reason are no accident.
RUN = 12
LONGEST = 200
# A value as an error repeats it: not the apostrophe inside a word, and to the end where it was cut.
_QUOTED = re.compile(r"(?<!\w)(?:'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?)", re.DOTALL)
# What was found instead of what was wanted; the kind of a value may be said.
_FOUND = re.compile(r", not (?!an? \w+(?:$|[:;,])).*", re.DOTALL)
_NUMBER = re.compile(r"^\S+ is too large a number")


def without_values(reason: str) -> str:
    """Leave out of an error about a row what it repeats of it: what a field or a name in it held.

    Examples
    --------
    >>> without_values("created_at must be an ISO 8601 date or time, not 'The pin is 4711'")
    'created_at must be an ISO 8601 date or time'
    >>> without_values("'isSensitive' is not a field of a memory: did you mean 'is_sensitive'?")
    "'…' is not a field of a memory: did you mean 'is_sensitive'?"
    >>> without_values("tags must be a list, not a number"), without_values("1e999 is too large a number")
    ('tags must be a list, not a number', 'it is too large a number')
    """
    plain = _QUOTED.sub(lambda found: found[0] if found[0].strip("'\"") in TOP else f"'{HIDDEN}'", redacted(reason))
    return _NUMBER.sub("it is too large a number", _FOUND.sub("", plain))[:LONGEST]


def reason_of(error: BaseException, text: str) -> str:
    """Say why a memory fails, without what it says: somebody's server may repeat the text, or a word of it.

    Examples
    --------
    >>> reason_of(HopgateError("the endpoint answered 400 (no 1234 please)"), "The pin is 1234.")
    'the endpoint answered 400'
    >>> reason_of(HopgateError("cannot read The pin is 1234."), "The pin is 1234."), reason_of(ValueError("1234"), "")
    ('HopgateError', 'ValueError')
    """
    # What a server said stands in brackets.
    said = without_values(str(error).partition(" (")[0])
    repeats = any(said[at : at + RUN] in text for at in range(max(1, len(said) - RUN + 1)))
    return said if isinstance(error, HopgateError) and not repeats else type(error).__name__
