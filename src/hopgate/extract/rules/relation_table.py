"""Which words between two names mean which relation: one readable table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from hopgate.extract.rules.tokenise import letter
from hopgate.extract.rules.words import words

# relation: (the words between subject and object; the words where the two are swapped). Phrases are separated
# by commas, a word's alternatives by slashes. BE may be missing ("owned by"); BE! may not ("is in", but not "in").
_TABLE: dict[str, tuple[str, str]] = {
    "runs on": ("run/runs/ran on, BE running on, BE hosted on/at/by, BE deployed on/to, BE installed on", ""),
    "depends on": ("depend/depends/depended on/upon, rely/relies on, requires, BE dependent on, needs", ""),
    "replaced by": (
        "BE replaced by/with, BE superseded by, BE succeeded by, gave way to",
        "replaces/replaced/supersedes/superseded/succeeds/succeeded, BE successor of/to, takes/took over from",
    ),
    "works for": (
        "work/works/worked for/at, BE working for/at, BE employed by/at, joined, got job at, BE hired by",
        "employs/employed/hired",
    ),
    "owns": ("own/owns/owned/bought/purchased/acquired", "BE owned/acquired/bought by, belongs/belonged to"),
    "lives in": ("live/lives/lived in, BE living in, resides/resided in", ""),
    "manages": (
        "manage/manages/managed/leads/led/heads/headed/oversees/supervises, BE in charge of, BE responsible for",
        "BE managed/led/headed/run/maintained by",
    ),
    "born in": ("BE born in/at", ""),
    "date of birth": ("BE born on, BE born, b.", ""),
    "died in": ("died in/at, passed away in/at", ""),
    "date of death": ("died on, passed away on, died", ""),
    "located in": ("BE! in/at/near, BE located/situated/based/headquartered in/at/near, lies in", ""),
    "part of": ("BE part/member of, forms part of, BE included in", "includes, consists of, contains, comprises"),
    "married to": ("married/marries/wed, BE married to, BE wife/husband/spouse of", ""),
    "child of": ("BE son/daughter/child of", ""),
    "parent of": ("BE father/mother/parent of", ""),
    "sibling of": ("BE brother/sister/sibling of", ""),
    "founded by": ("BE founded/established/started by, BE set up by", "founded/established/co-founded"),
    "created by": (
        "BE created/made/built/designed/developed/invented by",
        "created/made/built/designed/developed/invented",
    ),
    "written by": ("BE written/authored/composed by", "wrote/authored/composed"),
    "directed by": ("BE directed by, BE written/produced and directed by", "directed"),
    "produced by": ("BE produced by", "produced"),
    "published by": ("BE published/released/issued by", "published/released"),
    "performed by": ("BE performed/sung/recorded/played by", "performed/sang/recorded"),
    "starring": ("stars/starred/starring/features/featuring", "stars/starred/appeared/appears/acted/plays/played in"),
    "based on": ("BE based on/upon, BE adapted from, BE inspired by", ""),
    "written in": ("BE written/implemented/coded in", ""),
    "uses": ("use/uses/used/using, BE powered by, BE built with/on", "BE used by/in"),
    "connects to": ("connect/connects to, talk/talks to, BE connected/linked to, links to", ""),
    "stored in": ("BE stored/kept/saved in/on/at, BE backed up to, backs up to", ""),
    "also known as": ("BE known as, BE referred to as, aka, BE called, BE nicknamed, called", ""),
    "studied at": ("studies/studied at, attended/attends, graduated from, BE educated at", ""),
    "moved from": ("moves from, BE moved/migrated from, switched from", ""),
    "moved to": ("moves to, BE moved/migrated to, switched/relocated to", ""),
    "visited": ("visited/visits, went to, travelled/traveled to, BE visiting", ""),
    "met": ("met/meets, met with, talked to, spoke to/with", ""),
    "likes": ("likes/liked/love/loves/enjoy/enjoys/prefer/prefers, BE fond of", ""),
    "caused by": (
        "BE caused by, result/results/resulted from, BE! due to",
        "caused/causes, led/leads to, resulted/results in",
    ),
    "fixed by": ("BE fixed/solved/resolved by", "fixes/fixed/solves/solved/resolves"),
    "provides": ("provide/provides/provided/offer/offers/supplies", "BE provided/offered by"),
    "supports": ("support/supports/supported", "BE supported by"),
    "taught by": ("BE taught by", "teaches/taught"),
    "won": ("won/wins/received, BE! awarded", "BE won by, BE awarded to"),
    "flows into": ("flows to/into, empties/drains into", ""),
    "borders": ("borders, BE bordered by", ""),
}

_BE = words("is are was were be been being got gets 's")
# Adverbs and determiners are left out before the table is asked; with a word of `_NEGATED` there is no relation.
_IDLE = words(
    """
    the a an now still currently also later then first originally mainly usually eventually subsequently finally
    recently just soon his her its their our my which who that has had have will
    """
)
_NEGATED = words("not never no n't without nor if might may could would should isn't doesn't wasn't don't didn't")
_ENDED = re.compile(r"\b(?:used to|formerly|previously|once|no longer)\b ?")
_BE_WORD = "(?:is|are|was|were)"
_OF = re.compile(
    rf"(?:{_BE_WORD}|became|remains|,|, who {_BE_WORD}|, which {_BE_WORD})(?: now| also| still| currently)? "
    r"(?:(?:the|an?|its|as) )*(?P<role>[^\W\d_][\w-]*(?: [\w-]+){0,3}) (?P<link>of|for)(?: the)?"
)
_IS_A = re.compile(rf"{_BE_WORD} (?:an?|one of the|the)(?: \d{{4}})?")
_POSSESSED = re.compile(r"(?P<role>[^\W\d_][\w-]*(?: [\w-]+){0,2}) (?:is|was|are|were|,)(?: the| an?)?")
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
        if match and _is_role(match["role"].split()):
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
    return f"{match['role']} of" if match and _is_role(match["role"].split()) else None


def _is_role(role: list[str]) -> bool:
    """A role is ordinary words, at most with an ordinal: "first president", but not "with the approval"."""
    return letter(role[-1]) == "w" and role[-1] not in _NO_ROLE and all(letter(word) in "wcN" for word in role)


def _expanded() -> dict[str, tuple[str, bool]]:
    """Spell the table out: every phrase it allows, with the relation and whether the two names are swapped."""
    phrases: dict[str, tuple[str, bool]] = {}
    for name, ways in _TABLE.items():
        for inverse, listed in enumerate(ways):
            for phrase in filter(None, listed.split(", ")):
                first, _, rest = phrase.partition(" ")
                prefixes = {"BE": ("", "be "), "BE!": ("be ",)}.get(first, ("",))
                for way in product(*(word.split("/") for word in (rest if first[:2] == "BE" else phrase).split())):
                    for prefix in prefixes:
                        phrases.setdefault(prefix + " ".join(way), (name, bool(inverse)))
    return phrases


_TYPED = _expanded()

FIRST_WORDS = (
    frozenset(phrase.split()[0] for phrase in _TYPED if not phrase.startswith("be "))
    | _BE
    | _IDLE
    | words("became remains used formerly previously once no ( , and but")
)
"""The words a gap may start with to hold a relation: most gaps fail this test and are not read further."""
