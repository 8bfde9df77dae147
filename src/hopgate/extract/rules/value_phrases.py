"""What a sentence gives for something, by a name or in plain words: "with Octopus", "in Marlo's garage"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.subjects import ARTICLES, is_noun
from hopgate.extract.rules.words import words

_TABLE = table("states")
WITH, AT, TO, EQUALS, USING, TAKING = (
    words(_TABLE[name]) for name in ("with", "at", "to", "equals", "using", "taking")
)
"""The words before a value, by what they say: with whom, where, where to, what; what is used, or taken as something."""
_HAVING, _SUCCEEDING = (
    frozenset(form.replace("_", " ") for form in _TABLE[name].split()) for name in ("having", "succeeding")
)
_BEFORE = WITH | AT | TO | EQUALS | USING | TAKING
_COMING = words(_TABLE["coming"])
_FROM = words("from von vom aus de da van")
_SKIPPED = words(_TABLE["skipped"]) | ARTICLES
_EXTENDING = words(
    "of under behind above below beneath beside by in on at near inside unter hinter über neben sous derrière"
)
_CLOSING = words(_TABLE["closing"])
_NOWHERE = words(_TABLE["nowhere"])
_DETERMINERS = ARTICLES | words("number platform gate track bay desk table plot row seat locker slot")
_NEW = words("new neue neuer neues neuen nouveau nouvelle nuevo nueva nieuwe nuovo nuova")
MOST_NOUNS = 3


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a part of a sentence: its text, from which to which word it stands, and the word before it.

    `named` where it is a name and nothing else.
    """

    name: str
    start: int
    end: int
    by: str
    named: bool


def values_in(said: list[str], who: Referents) -> Iterator[Value]:
    """Yield what the words of a part of a sentence give for something, each with the word that stands before it.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("The rehearsals are in Marlo's garage."))
    >>> who = Referents(read(source), source)
    >>> [(value.by, value.name) for value in values_in("the rehearsals are in ⟨0⟩ 's garage".split(), who)]
    [('in', "Marlo's garage")]
    >>> [(value.by, value.name) for value in values_in("it sits in the cupboard under the stairs now".split(), who)]
    [('in', 'cupboard under the stairs')]
    """
    at = 0
    while at < len(said):
        by = said[at]
        if by not in _BEFORE:
            if by[0] == "⟨" and (held := _holder(said, at, who) or _new_one(said, at, who)):
                yield held
            at += 1
            continue
        start = at + 1
        while start < len(said) and said[start] in _SKIPPED:
            start += 1
        end = _phrase_end(said, start)
        if end == start < len(said) and by not in WITH and said[start][0].isdigit() and said[start].count(":") == 0:
            end += 1
        if end == start or not (_is_closed(said, end) or _extended(said, end) > end):
            at += 1
            continue
        if by in _FROM and not comes_from(said, at):
            at += 1
            continue
        only_name = end == start + 1 and (said[start][0] == "⟨" or said[start][0].isdigit())
        end = end if only_name else _extended(said, end)
        if only_name or _is_place(said, at, start, end):
            text = _text(said[start:end], who)
            if text:
                yield Value(text, at, end, by, only_name)
                at = end
                continue
        at += 1


def comes_from(said: list[str], at: int) -> bool:
    """Whether what stands after the word at a place is where something comes from, and not where it was.

    Examples
    --------
    >>> comes_from("our bread comes from ⟨0⟩".split(), 3), comes_from("moved from ⟨0⟩".split(), 1)
    (True, False)
    """
    return said[at] in _FROM and not _COMING.isdisjoint(said[:at])


def _holder(said: list[str], at: int, who: Referents) -> Value | None:
    """A name that has something: "Greta next door has our spare key"."""
    names = who.names_of(said[at])
    for ahead in range(at + 1, min(at + 5, len(said) - 1)):
        word = said[ahead]
        pair = f"{word} {said[ahead + 1]}"
        if word in _SUCCEEDING or pair in _SUCCEEDING:
            return Value(names[0], at, _after_as(said, ahead), "has", True) if names and "as" in said[ahead:] else None
        if word in _HAVING or pair in _HAVING:
            end = ahead + 1 + (word not in _HAVING)
            return (
                Value(names[0], at, end, "has", True) if names and said[end : end + 1] not in (["a"], ["an"]) else None
            )
        if not (word in _SKIPPED or word in ("next", "door", "upstairs", "downstairs") or is_noun(word)):
            return None
    return None


def _after_as(said: list[str], at: int) -> int:
    return said.index("as", at) + 1


def _new_one(said: list[str], at: int, who: Referents) -> Value | None:
    """A name that is now what another was: "Aoife is the new treasurer", "Bea is our vet now"."""
    names = who.names_of(said[at])
    rest = said[at + 1 :]
    if not names or not rest or rest[0] not in EQUALS or rest[0] in (":", "="):
        return None
    new = [place for place, word in enumerate(rest[:4]) if word in _NEW]
    return Value(names[0], at, at + 2 + new[0], "has", True) if new and new[0] + 1 < len(rest) else None


def _phrase_end(said: list[str], start: int) -> int:
    end = start
    while end < len(said) and end - start <= MOST_NOUNS:
        word = said[end]
        owner = word == "'s" and end > start
        if not owner and (word in _BEFORE or not (word[0] == "⟨" or is_noun(word) or (end > start and word.isdigit()))):
            break
        end += 1
    return end - (end > start and said[end - 1] == "'s")


def _extended(said: list[str], end: int) -> int:
    """The end of "cupboard under the stairs" where "cupboard" ends."""
    if end + 2 < len(said) and said[end] in _EXTENDING and said[end + 1] in ARTICLES:
        further = _phrase_end(said, end + 2)
        if further > end + 2 and _is_closed(said, further):
            return further
    return end


def _is_closed(said: list[str], end: int) -> bool:
    """Whether a phrase ends there, and is not the beginning of a longer one: "works on Zeiss lenses"."""
    return end == len(said) or said[end] == "'s" or said[end] in _CLOSING or said[end][0] in "⟦⟪"


def _is_place(said: list[str], at: int, start: int, end: int) -> bool:
    """Whether plain words after "in" or "to" may be where something is: not "in the end"."""
    if said[at] not in AT and said[at] not in TO:
        return False
    inside = said[start:end]
    if inside[-1] in _NOWHERE or inside[0] in _NOWHERE:
        return False
    return start > at + 1 or len(inside) > 1


def _text(said: list[str], who: Referents) -> str:
    parts = []
    for word in said:
        if word[0] == "⟨":
            names = who.names_of(word)
            if not names:
                return ""
            parts.append(names[0])
        elif word == "'s":
            parts[-1] += "'s"
        else:
            parts.append(word)
    return " ".join(parts)
