"""Sentences of a note that have the words of a change and tell none: undone, denied, corrected, dreamt, of another.

A fact that is wrongly ended is worse than one that is missed, so that such a sentence is not read for facts at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.language_tables import table

_TABLE: dict[str, str] = table("untold")
# In a longer text a sentence of this kind is told of much else.
MOST_TOKENS = 60


def _any(name: str) -> str:
    """The forms of a class, as alternatives; `…` stands for a word or two."""
    forms = (form.strip() for form in _TABLE[name].strip().splitlines())
    return "|".join(re.escape(form).replace("…", r"\S+(?: \S+)?").replace(r"\ ", " ") for form in forms if form)


_CHANGED = _any("changed")
# "Moved Immich to magpie and moved it back an hour later": by who did it, and not "the old box went back to Sam".
_UNDONE = re.compile(
    rf"\b(?:{_CHANGED})\b.*(?: (?:and|then|but)|[,;]) (?:(?:then|and|but|i|we|they|he|she) )*(?:(?:has|have|had|'ve) )?"
    rf"(?:(?:{_CHANGED}|rolled|came|brought|set) (?:(?:it|them|everything|all|straight|right) )*back(?! up| online)|"
    rf"{_any('reverted')})\b"
)
_DENIED = re.compile(rf"\b(?:{_any('denied')})(?= |$)")
_CORRECTED = re.compile(rf"(?:^|(?<=[ ,;(]))(?:{_any('corrected')})(?= |$)|^\* ")
_DREAMT = re.compile(rf"\b(?:{_any('dreamt')})(?= |$)")
_LONG_AGO = re.compile(rf"\b(?:{_any('long_ago')})(?= |$)")
_NOW = re.compile(r"\b(?:now|jetzt|nun|maintenant|désormais|ahora|ora|adesso|nu)\b")
# "Rosalie, the daughter of the postman, has moved", "Karim Haddad from football, not our Karim".
_ANOTHER = re.compile(
    r"⟨\d+⟩ , (?:the|an?) [^,;⟨]*\b(?:of|from|in|at|next door|across|down|upstairs|downstairs)\b[^,;]* , \S+|"
    rf"\b(?:not (?:our|my|the)|{_any('the_other')}) ⟨\d+⟩"
)
# "On the last Friday of the month …", "on Fridays …", "in winter …"
_SOMETIMES = re.compile(rf"(?:⟨\d+⟩ : )?(?:{_any('sometimes')}|on the ⟦\d+⟧ of (?:the|each|every) \S+)(?= |$)")
# "Ottilie is out this week, Brandt is standing in for her"
_FOR_A_WHILE = re.compile(rf"\b(?:{_any('for_a_while')})(?= |$)")
_JOURNEY = re.compile(rf"\b(?:{_any('journeys')})(?= |$)")
_COMPARED = re.compile(rf"\b(?:{_any('compared')})(?= (?!time\b|later\b|ago\b)|$)")
_STORY = re.compile(
    r"\bin (?:the|an?|my|his|her|our|their|this) (?:\S+ (?:['’] |'s )?){0,2}"
    r"(?:dream|play|novel|film|movie|story|game|sketch|series|sitcom|musical|comic|cartoon|fairy tale|"
    r"simulation)(?= (?!room|night|club|shop|store|console)|$)"
)
_PREFACE = re.compile(
    r"(?P<who>⟨\d+⟩ : )?(?P<preface>(?:[^\s:]+ ){3,}): (?:yes , )?"
    r"(?P<rest>(?:(?:the|our|my|der|die|das|unsere?|le|la|les|notre|el|los|nuestr[oa]|de|het|onze|il|i|gli) |⟨)[^:]+)$"
)
_IS_SO_NOW = re.compile(
    r"\b(?:now|since|instead|from now on|jetzt|seit|maintenant|depuis|ahora|desde|nu|sinds|ora|dal)\b"
)
_TRIED = re.compile(
    r"\bfor (?:the|an?|some|our) (?:[^\W\d_]+ )?(?:test|tests|trial|demo|experiment|benchmark|rehearsal)\b"
)


def telling(sentences: Sequence[Clause]) -> list[Clause]:
    """Leave out the sentences of a short note that tell nothing of what is so, and the one that the next denies.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> def left(text):
    ...     return [clause.text for clause in telling(list(clauses(read(Source("m1", Cleared(text))))))]
    >>> left("Moved Immich to magpie and moved it back an hour later."), left("Ann moved to Vigo. He got it wrong.")
    ([], [])
    >>> left("Moved Immich to magpie.")
    ['moved ⟨0⟩ to ⟨1⟩']
    """
    if not sentences or len(sentences[0].reading.lower) > MOST_TOKENS:
        return list(sentences)
    kept: list[Clause] = []
    for clause in map(_without_preface, sentences):
        if _is_denial(clause.text):
            kept = kept[:-1]  # of what was said just before
        if not _tells_nothing(clause.text):
            kept.append(clause)
    return kept


def _without_preface(clause: Clause) -> Clause:
    """A sentence without what stands before its colon, where that is no dream: "Asked whether: yes, A is B now"."""
    if " : " not in clause.text:
        return clause
    found = _PREFACE.match(clause.text)
    if (
        not found
        or not _IS_SO_NOW.search(found["rest"])
        or " there" in found["rest"]
        or _tells_nothing(found["preface"])
    ):
        return clause
    return replace(clause, text=f"{found['who'] or ''}{found['rest']}")


@lru_cache(maxsize=4096)  # short sentences differ in their names alone, which are numbers here
def _tells_nothing(text: str) -> bool:
    return bool(
        _is_denial(text)
        or _UNDONE.search(text)
        or _DREAMT.search(text)
        or (_LONG_AGO.search(text) and not _NOW.search(text))
        or _ANOTHER.search(text)
        or _SOMETIMES.match(text)
        or _TRIED.search(text)
        or _FOR_A_WHILE.search(text)
        or _JOURNEY.search(text)
        or _COMPARED.search(text)
        or _STORY.search(text)
    )


@lru_cache(maxsize=4096)
def _is_denial(text: str) -> bool:
    return bool(_DENIED.search(text) or _CORRECTED.search(text))
