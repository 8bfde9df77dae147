"""Somebody or something new, and its name in the next sentence: "Met Ellie's new boyfriend. Callum, tall, polite"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.reading import person_kind
from hopgate.extract.rules.words import words

_WHEN = r"(?: (?:today|now|yesterday|at last|finally|this (?:morning|afternoon|week)|heute|gestern|endlich|⟦\d+⟧))*"
_GOT = r"(?:met|picked up|got|bought|collected|found|have)"
_NEW = compiled(
    rf"(?:(?:i|we|'ve|have|has|finally|just|today|⟦\d+⟧) )*{_GOT} (?P<whose>my|our|⟨\d+⟩ 's) new "
    rf"(?P<what>[^\W\d_]+(?: [^\W\d_]+)?){_WHEN}(?: [.!])?"
)
_NEU = compiled(
    rf"(?:(?:heute|gestern|endlich|⟦\d+⟧) )*(?P<whose>meine?[nr]?|unsere?[nr]?) neue[ns]? (?P<what>[^\W\d_]+){_WHEN} "
    r"(?:abgeholt|gekauft|bekommen|kennengelernt|getroffen)(?: [.!])?"
)
_NAMED = compiled(
    r"(?:(?:it|he|she|sie|er|es) (?:'s|is|ist|heißt) |called |an? )?(?P<name>⟨\d+⟩)"
    r"(?=$| , (?!(?:too|also|especially|maybe|perhaps|probably|my|our|his|her|the|and|leider|auch|vielleicht|mein|"
    r"unser)\b))"
)
_THINGS = words("car van bike phone laptop tablet camera auto handy rad fahrrad")


def named_next(sentences: Sequence[Clause]) -> Iterator[Clause]:
    """Yield a sentence for each that two others make: "my new car : ⟨0⟩".

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> note = Cleared("Picked up my new car this morning! Skoda Fabia, silver.")
    >>> [clause.text for clause in named_next(list(clauses(read(Source("m1", note)))))]
    ['my new car : ⟨0⟩']
    """
    for first, second in pairwise(sentences):
        if first.question or second.question or (" new" not in first.text and " neue" not in first.text):
            continue
        new, named = _NEW.fullmatch(first.text) or _NEU.fullmatch(first.text), _NAMED.match(second.text)
        if not new or not named:
            continue
        name = second.reading.spans[second.spans(named["name"])[0]].name
        if new["what"] not in _THINGS or not person_kind(name):
            yield replace(first, text=f"{new['whose']} new {new['what']} : {named['name']}")
