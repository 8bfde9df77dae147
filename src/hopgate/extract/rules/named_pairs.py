"""A note that tells of a change and names both what is over and what is so now, in any words: of what, its nouns say.

"Cancelled Amberline, the car insurance is Roundtree's business now": where an earlier note says that the car insurance
is with Amberline, the two names and the noun they share tell what has changed. A note that has one such noun alone, and
says for good that one name took the other's place, needs no earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.doubts import is_doubtful
from hopgate.extract.rules.plain_states import ANY_WORDS, IS_WITH, OVER_BUT, left_names, tells_change
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.role_table import ROLES
from hopgate.extract.rules.subjects import named_parts
from hopgate.extract.rules.tentative import ALONE, BESIDE, SAID
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.words import words

MOST_THINGS = 5
_RELATIONS = (*ANY_WORDS, "located in")
# One took the other's place, and nothing else happened: "replaced A with B", "switched from A to B".
_REPLACED = re.compile(
    r"\b(?:replaced|replaces|swapped|switched|traded|exchanged|changed|succeeded|succeeds|took over from|"
    r"takes over from|instead of|remplacé|ersetzt|gewechselt|vervangen|statt|anstatt|"
    r"au lieu de|cambiado|sustituido|reemplazado)\b"
)
# Somebody else's, or for once.
_ONCE = words("his her their today tonight saw met visited tried heute aujourd'hui hoy vandaag oggi")
_NO_THINGS = words(
    """
    time date price today everything everyone nothing something anything thing things way year month week day morning
    evening night lot bit people guy life news idea plan problem question answer reason note notes terms invoice mail
    email letter call message link box boxes bin month end start it that this they them us me you he she i we
    """
)


def named_pairs(sentences: list[Clause], who: Referents) -> Iterator[Fact]:
    """Yield what a note with an old and a new name may tell of its nouns.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("Replaced Slack with Zulip as our chat."), created_at=datetime(2024, 5, 4))
    >>> reading = read(source)
    >>> for fact in named_pairs(list(clauses(reading)), Referents(reading, source)):
    ...     if fact.relation == "is with":
    ...         print(fact.subject, "|", fact.relation, "|", fact.object, "|", fact.valid_to, "|", fact.confidence)
    chat | is with | Slack | None | -1.0
    chat | is with | Zulip | None | -1.0
    chat | is with | Zulip | None | 0.0
    chat | is with | Slack | 2024-05-04 | -2.0
    """
    texts = [clause.text for clause in sentences]
    if (
        sum(text.count("⟨") for text in texts) < 2
        or not any(map(tells_change, texts))
        or any(is_doubtful(clause, but=OVER_BUT) for clause in sentences)
    ):
        return
    left: dict[str, None] = dict.fromkeys(name for text in texts for name in left_names(text, who))
    if len(left) != 1 or any(not _ONCE.isdisjoint(text.split()) for text in texts):
        return
    names = dict.fromkeys(name for text in texts for name in who.names_of(text) if name != who.reading.speaker)
    things = dict.fromkeys(forms for text in texts for forms in _things(text, names, left, who))
    new = [name for name in names if name not in left and (name,) not in things and not is_town(name)]
    if len(new) != 1 or not 0 < len(things) <= MOST_THINGS:
        return
    old = next(iter(left))
    if who.is_person(old) != who.is_person(new[0]) and not who.may_be_person(new[0]):
        return
    for forms in things:
        for subject in forms:
            for relation in _RELATIONS:
                yield from (Fact(subject, relation, name, who.written, None, BESIDE) for name in (old, new[0]))
    replaced = any(map(_REPLACED.search, texts))
    if len(things) == 1 and replaced:
        subject = next(iter(things))[0]
        role = ROLES.get(subject)
        for whose, relation in ((subject, IS_WITH), *([(who.first_person, role.relation)] if role else [])):
            yield Fact(whose, relation, new[0], who.written, None, ALONE)
            yield Fact(whose, relation, old, None, who.written, SAID)


def _things(text: str, names: dict[str, None], left: dict[str, None], who: Referents) -> Iterator[tuple[str, ...]]:
    """The nouns of a sentence, and a name that opens it: "Biscuit is registered with …"."""
    opening = text.split(" ", 1)[0]
    for _, forms in named_parts(text.replace(" as ", " , "), who):
        whole = forms[0]
        if whole in names:
            opens = opening[0] == "⟨" and who.names_of(opening)[:1] == (whole,) and len(names) > 2
            if opens and whole not in left:
                yield (whole,)
        elif whole not in _NO_THINGS and len(whole) > 2 and not any(name in whole for name in left):
            yield forms
