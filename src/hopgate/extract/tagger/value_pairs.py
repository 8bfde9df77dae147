"""How an old value and a new one go with a thing, where each by itself may be a time, an amount or a name."""

from __future__ import annotations

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_parts import AMOUNT, ANY, DAYS, WHEN

_HOUR, _DOTTED = compiled(r"\d{1,2}(?:[:.]\d\d)?"), compiled(r"\d{1,2}\.\d\d")


def sorts_of_both(was: str, sort: str, is_: str, other: str) -> tuple[str, str]:
    """How two values go with a thing: "7" is an hour where "6:30" is, and "2.05" a room where "office 3.17" is."""
    if {sort, other} == {WHEN, AMOUNT} and all(map(_HOUR.fullmatch, (was, is_))):
        return WHEN, WHEN
    if {sort, other} == {WHEN, ANY} and any(map(_DOTTED.fullmatch, (was, is_))):
        return ANY, ANY
    return sort, other


def with_head(value: str, former: str, reading: Reading) -> str:
    """A value with the word that another begins with: "Fritzbox 7590 AX", where it was a Fritzbox 7490."""
    head, *rest = former.split()
    return f"{head} {value}" if rest and f"{head} {value}" in " ".join(reading.tokens) else value


def are_days(was: str, is_: str) -> bool:
    """Whether both values or none of them have a day: after "Tuesdays" comes "Thursdays", and no "6 pm"."""
    one, other = ({word.removesuffix("s") for word in text.lower().split()} for text in (was, is_))
    return one.isdisjoint(DAYS) == other.isdisjoint(DAYS)
