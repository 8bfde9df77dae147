"""Which relation the words between two names mean; the table is `relation_table.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import product

from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.tokenise import letter
from hopgate.extract.rules.words import words

_BE = words("is are was were be been being got gets 's")
# Adverbs and determiners are left out before the table is asked; with a word of `_NEGATED` there is no relation.
_IDLE = words(
    """
    the a an now still currently also later then first originally mainly usually eventually subsequently finally
    recently just soon his her its their our my which who that has had have will
    """
)
_NEGATED = words("not never no n't without nor if might may could would should isn't doesn't wasn't don't didn't")
_ENDED = compiled(r"\b(?:used to|formerly|previously|once|no longer)\b ?")
_BE_WORD = "(?:is|are|was|were)"
_OF = compiled(
    rf"(?:{_BE_WORD}|became|remains|,|, who {_BE_WORD}|, which {_BE_WORD})(?: now| also| still| currently)? "
    r"(?:(?:the|an?|its|as) )*(?P<role>[^\W\d_][\w-]*(?: [\w-]+){0,3}) (?P<link>of|for)(?: the)?"
)
_IS_A = compiled(rf"{_BE_WORD} (?:an?|one of the|the)(?: \d{{4}})?")
_POSSESSED = compiled(r"(?P<role>[^\W\d_][\w-]*(?: [\w-]+){0,2}) (?:is|was|are|were|,)(?: the| an?)?")
_ARTICLES = frozenset(("a", "an", "the"))
_NO_ROLE = words("part parts number lot capable full north south east west northeast northwest center site")


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between the name before the gap and the name after it."""

    name: str
    inverse: bool = False
    ended: bool = False


@lru_cache(maxsize=32768)
def relation(gap: str) -> Relation | None:
    """Read the words between two names; None where they are no relation that the table has.

    Examples
    --------
    >>> relation("was later replaced by")
    Relation(name='replaced by', inverse=False, ended=False)
    >>> relation("is the capital of").name, relation(", owned by").inverse, relation("does not run on")
    ('capital of', True, None)
    >>> relation("no longer runs on")
    Relation(name='runs on', inverse=False, ended=True)
    """
    ended = bool(_ENDED.search(gap))
    if ended:
        gap = _ENDED.sub("", gap).strip()
    gap_words = gap.split()
    if not gap_words or not _NEGATED.isdisjoint(gap_words):
        return None
    if not ended and gap_words[0] in _BE and _IS_A.fullmatch(gap):
        return Relation("is a")
    plain = [word for word in gap_words if word not in _IDLE]
    if plain and plain[0] in "(,":
        del plain[0]
    passive = bool(plain) and plain[0] in _BE
    while plain and plain[0] in _BE:
        del plain[0]
    typed = _TYPED.get(" ".join(("be", *plain) if passive else plain))
    if typed:
        return Relation(*typed, ended)
    if "of" in gap_words[-2:] or "for" in gap_words[-2:]:
        match = _OF.fullmatch(gap)
        # "voucher Marit, gin for Nadia": the next of a list
        listed = match and match["link"] == "for" and gap_words[0] == "," and gap_words[1] not in _ARTICLES
        if match and not listed and _is_role(match["role"].split()):
            return Relation(f"{match['role']} {match['link']}", False, ended)
    return None


@lru_cache(maxsize=8192)
def possessed(gap: str) -> str | None:
    """Read "X's <gap> Y": the role Y has for X.

    Examples
    --------
    >>> possessed("sister is"), possessed("and")
    ('sister of', None)
    """
    match = _POSSESSED.fullmatch(gap)
    if not match or (gap.endswith(",") and match["role"].endswith("s")):
        return None  # "changed Mam's tablets, Dad collected them"
    return f"{match['role']} of" if _is_role(match["role"].split()) else None


def _is_role(role: list[str]) -> bool:
    """A role is ordinary words, at most with an ordinal: "first president", but not "with the approval"."""
    return letter(role[-1]) == "w" and role[-1] not in _NO_ROLE and all(letter(word) in "wcN" for word in role)


def _expanded() -> dict[str, tuple[str, bool]]:
    """Spell the table out: every phrase it allows, with the relation and whether the two names are swapped."""
    text = resources.files("hopgate.extract.rules").joinpath("relation_table.toml").read_text("utf-8")
    phrases: dict[str, tuple[str, bool]] = {}
    for name, row in tomllib.loads(text).items():
        for inverse, listed in ((False, row.get("between", ())), (True, row.get("swapped", ()))):
            for phrase in listed:
                first, _, rest = phrase.partition(" ")
                prefixes = {"BE": ("", "be "), "BE!": ("be ",)}.get(first, ("",))
                for way in product(*(word.split("/") for word in (rest if first[:2] == "BE" else phrase).split())):
                    for prefix in prefixes:
                        phrases.setdefault(prefix + " ".join(way), (name, inverse))
    return phrases


_TYPED = _expanded()

FIRST_WORDS = (
    frozenset(phrase.split()[0] for phrase in _TYPED if not phrase.startswith("be "))
    | _BE
    | _IDLE
    | words("became remains used formerly previously once no ( , and but")
)
"""The words a gap may start with to hold a relation: most gaps fail this test and are not read further."""
