"""Sentences of a note that have the words of a change and tell none: undone, denied, corrected, dreamt, of another.

A fact that is wrongly ended is worse than one that is missed, so that such a sentence is not read for facts at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.words import words

_TABLE: dict[str, str] = table("untold")
# In a longer text a sentence of this kind is told of much else.
MOST_TOKENS = 60


def _any(name: str) -> str:
    """The forms of a class, as alternatives; `…` stands for a word or two."""
    forms = (form.strip() for form in _TABLE[name].strip().splitlines())
    return "|".join(re.escape(form).replace("…", r"\S+(?: \S+)?").replace(r"\ ", " ") for form in forms if form)


_CHANGED = _any("changed")
# "Moved Immich to magpie and moved it back an hour later": by who did it, and not "the old box went back to Sam".
_UNDONE = compiled(
    rf"\b(?:{_CHANGED})\b.*(?: (?:and|then|but)|[,;]) (?:(?:then|and|but|i|we|they|he|she) )*(?:(?:has|have|had|'ve) )?"
    rf"(?:(?:{_CHANGED}|rolled|came|brought|set) (?:(?:it|them|everything|all|straight|right) )*back(?! up| online)|"
    rf"{_any('reverted')})\b|"
    rf"\b(?:{_CHANGED}|moves|moving)\b.* and back(?: again| to ⟨\d+⟩)?$"
)
_DENIED = compiled(rf"\b(?:{_any('denied')})(?= |$)")
_CORRECTED = compiled(rf"(?:^|(?<=[ ,;(]))(?:{_any('corrected')})(?= |$)|^\* ")
_DREAMT = compiled(rf"\b(?:{_any('dreamt')})(?= |$)")
_LONG_AGO = compiled(rf"\b(?:{_any('long_ago')})(?= |$)")
_NOW = compiled(r"\b(?:now|jetzt|nun|maintenant|désormais|ahora|ora|adesso|nu)\b")
# "Rosalie, the daughter of the postman, has moved", "Karim Haddad from football, not our Karim".
_ANOTHER = compiled(
    r"^(?:⟨\d+⟩ : )?(?:[^\s⟨,;]+ ){0,3}⟨\d+⟩ , (?:the|an?) "
    r"[^,;⟨]*\b(?:of|from|in|at|next door|across|down|upstairs|downstairs)\b[^,;]* , \S+|"
    rf"(?<!\bin )(?<!\bon )(?<!\bat )(?<!\bto )\b(?:not (?:our|my|the)|{_any('the_other')}) ⟨\d+⟩"
)
# "On the last Friday of the month …", "on Fridays …", "in winter …"
_SOMETIMES = compiled(rf"(?:⟨\d+⟩ : )?(?:{_any('sometimes')}|on the ⟦\d+⟧ of (?:the|each|every) \S+)(?= |$)")
# "Ottilie is out this week, Brandt is standing in for her"
_FOR_A_WHILE = compiled(rf"\b(?:{_any('for_a_while')})(?= |$)")
# "came home from Grandpa's and stays in her bedroom now" is no journey; "cheaper by a third" no third one.
_JOURNEY = compiled(rf"^(?!.*\b(?:stays?|stayed|bleibt|reste|queda|blijft|resta)\b).*\b(?:{_any('journeys')})(?= |$)")
_COMPARED = compiled(rf"(?<!\bby )\b(?:{_any('compared')})(?= (?!time\b|later\b|ago\b)|$)")
_STORY = compiled(
    r"\bin (?:the|an?|my|his|her|our|their|this) (?:\S+ (?:['’] |'s )?){0,2}"
    r"(?:dream|play|novel|film|movie|story|game|sketch|series|sitcom|musical|comic|cartoon|fairy tale|"
    r"simulation)(?= (?!room|night|club|shop|store|console)|$)"
)
# Of a sentence with so many parts nobody knows which are meant: of 664 changes that people told, none had four.
_PARTS, _MOST_PARTS = compiled(" , "), 3
# "The team: Dana owns quotes, Anjali owns docks, Caleb is our drummer"
_LIST = compiled(r"[^:]+ : ⟨\d+⟩ [^,;:]+(?: , (?:and )?⟨\d+⟩ [^,;:]+)+(?: , [^,;:⟨]+)?$")
# "moves to Monday, same time, same room"
_THE_SAME = compiled(r" , (?:same|selbe|gleiche|gleicher|gleiches) [^\W\d_]+(?= ,|$)")
_RELATIVE = compiled(r"(?<!⟩ now ,) \b(?:who|whose|which)\b")
# "Grandad told everybody Mireya had moved", but not "Mireya says she moved".
_SAID = compiled(
    rf"\b(?:{_any('said')})(?: (?:me|us|him|her|them|everybody|everyone|people|that|dass|que|dat|che|the|my|our))* ⟨"
)
# "At the fair the stall was moved to …": it need not be so elsewhere.
_ELSEWHERE = compiled(
    r"(?:⟨\d+⟩ : )?(?:in|at|on|during|when|according to|before) (?!⟦|⟨)(?:[^\s⟨⟦,:]+ ){1,6}(?:, )?(?:⟨|(?:the|our|my) )"
)
_TRIED = compiled(
    r"\bfor (?:the|an?|some|our) (?:[^\W\d_]+ )?(?:test|tests|trial|demo|experiment|benchmark|rehearsal)\b"
)
# "Herta sagt, wir treffen uns ab jetzt im Casino", "Dot says she's off and the skeleton is our receptionist now"
_JOKED = compiled(r"⟨\d+⟩ (?:(?:sagt|meint|behauptet) , (?!er |sie |dass )|says (?:she|he) [^,;]* and (?:the|my|our) )")
_REMARK = compiled(r"(?<=⟩) , and (?:he|she|they) (?:thinks?|says?|reckons?|hopes?) (?!no\b|not\b)[^;]*$")
# "Ms Wendt is on parental leave, his teacher is Mr Okafor now": not only for a while, by these words
_ON_LEAVE = compiled(
    r"(?:on (?:parental|maternity) leave|in elternzeit|in mutterschutz) (?:, |and |und )[^,;]*\b"
    r"(?:is now|ist jetzt|is ⟨\d+⟩ now|new [^\W\d_]+ is|neue[rs]? [^\W\d_]+ ist)\b"
)
_APRIL = compiled(r"\bapril(?: [,!] april\b|(?:'s)? fools?\b)")
FOR_ONCE = compiled(
    r"\b(?:(?:this|next) (?:week|weekend|time) only|(?:only|just) (?:for )?(?:this|one) (?:week|weekend|time|once|day)|"
    r"nur (?:diese woche|diesmal|heute)|einmalig|einmal (?:von|vom|auf)|"
    r"(?:moved|moves|relocated)\b[^.;]* within|innerhalb\b[^.;]* (?:um)?gezogen|"
    r"(?:for|over|wegen|über) (?:easter|christmas|thanksgiving|ostern|weihnachten|pfingsten|fasching))\b"
)
"""What is so this time and not for good: "moved to Thursday this week only"."""
_ONCE_HINTS = words(
    "only just nur einmal einmalig within innerhalb easter christmas thanksgiving ostern weihnachten pfingsten fasching"
)
_LAUGHS = frozenset(("haha", "ha ha", "hahaha", "hihi", "lol"))
_IN_WORDS = (_SAID, _JOKED, _TRIED, _FOR_A_WHILE, _JOURNEY, _COMPARED)
_PREFACE = compiled(
    r"(?P<who>⟨\d+⟩ : )?(?P<preface>(?:[^\s:]+ ){3,}): (?:yes , )?"
    r"(?P<rest>(?:(?:the|our|my|der|die|das|unsere?|le|la|les|notre|el|los|nuestr[oa]|de|het|onze|il|i|gli) |⟨)[^:]+)$"
)
_IS_SO_NOW = compiled(
    r"\b(?:now|since|instead|no longer|any ?more|new|replaced|t(?:ook|aken?|akes) over|from (?:today|tonight|this|⟦)|"
    r"jetzt|seit|maintenant|depuis|ahora|desde|nu|sinds|ora|dal)\b"
)
HABIT = compiled(  # "training is on Tuesdays at Carnfield, half six, bring bibs"
    r"\b(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|montags|dienstags|mittwochs|donnerstags|"
    r"freitags|samstags|sonntags)\b"
)
"""What is so on certain days, and not at others."""
_HAPPENED = compiled(
    r"\b(?:moved|relocated|swapped|switched|replaced|(?:took|taken|takes) over|lent|handed|got|took|gezogen|umgezogen|"
    r"gewechselt|übernommen|ersetzt|verliehen|verlegt|wohnt|wohnen|lives?)\b"
)


def telling(sentences: Sequence[Clause]) -> tuple[list[Clause], list[Clause]]:
    """Leave out the sentences of a short note that tell nothing of what is so, and the one that the next denies.

    Beside those that are left, give those of them that are doubted: told in so many parts, at somebody's word or of
    somewhere else, so that they end nothing.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> def left(text):
    ...     kept, doubted = telling(list(clauses(read(Source("m1", Cleared(text))))))
    ...     return [clause.text for clause in kept], [clause.text for clause in doubted]
    >>> left("Moved Immich to magpie and moved it back an hour later."), left("Ann moved to Vigo. He got it wrong.")
    (([], []), ([], []))
    >>> left("Moved Immich to magpie."), left("All say that Ann moved to Vigo.")
    ((['moved ⟨0⟩ to ⟨1⟩'], []), (['all say that ⟨0⟩ moved to ⟨1⟩'], ['all say that ⟨0⟩ moved to ⟨1⟩']))
    """
    if not sentences or len(sentences[0].reading.lower) > MOST_TOKENS:
        return list(sentences), []
    lower = sentences[0].reading.lower
    if "april" in lower and _APRIL.search(" ".join(lower)):
        return [], []
    once = not _ONCE_HINTS.isdisjoint(lower) and bool(FOR_ONCE.search(" ".join(lower)))
    kept: list[Clause] = []
    for clause in map(_without_remark, map(_without_preface, sentences)):
        if _is_denial(clause.text):
            kept = kept[:-1]  # of what was said just before
        if not _tells_nothing(clause.text) and clause.text not in _LAUGHS:
            kept.append(clause)
    doubted = [clause for clause in kept if once or _is_involved(clause.text)]
    return kept, doubted


def _without_remark(clause: Clause) -> Clause:
    """A sentence without what somebody says of it at its end: "…, and she thinks Max should read more"."""
    if " , and " not in clause.text:
        return clause
    return replace(clause, text=text) if (text := _REMARK.sub("", clause.text)) != clause.text else clause


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
        or _STORY.search(text)
    )


def is_doubted_in_words(text: str) -> bool:
    """Whether a sentence has words of hearsay, trials, journeys or comparison, and not merely many parts.

    Examples
    --------
    >>> is_doubted_in_words("⟨0⟩ moved to ⟨1⟩ for the test"), is_doubted_in_words("⟨0⟩ , who hums , moved to ⟨1⟩")
    (True, False)
    """
    found = [one for one in _IN_WORDS if one.search(text)]
    if found == [_FOR_A_WHILE] and _ON_LEAVE.search(text):
        found = []
    return bool(found) or bool(_SOMETIMES.match(text))


@lru_cache(maxsize=4096)
def _is_involved(text: str) -> bool:
    """Whether a sentence tells what it tells in too many parts, at somebody's word, or of somewhere else."""
    parts = len(_PARTS.findall(_THE_SAME.sub("", text))) + 1
    if _LIST.match(text) and not is_doubted_in_words(text):
        return False
    if parts > _MOST_PARTS or is_doubted_in_words(text):
        return True
    if _IS_SO_NOW.search(text):
        return False
    # Beside what has happened, other parts tell more of it: "have moved to Bobingen, two rooms, with a balcony".
    first = text.partition(" , ")[0]
    aside = (parts == _MOST_PARTS or bool(_RELATIVE.search(text))) and not (
        _HAPPENED.search(first) or HABIT.search(first)
    )
    return aside or bool(_ELSEWHERE.match(text))


@lru_cache(maxsize=4096)
def _is_denial(text: str) -> bool:
    return bool(_DENIED.search(text) or _CORRECTED.search(text))
