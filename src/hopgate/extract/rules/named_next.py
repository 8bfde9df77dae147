"""Somebody or something new, and its name in the next sentence: "Met Ellie's new boyfriend. Callum, tall, polite"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hopgate.extract.rules.clauses import Clause

_WHEN = r"(?: (?:today|now|yesterday|at last|finally|this (?:morning|afternoon|week)|heute|gestern|endlich|⟦\d+⟧))*"
_NEW = re.compile(
    rf"(?:^|.* )(?P<whose>my|our|mein(?:e[nmr]?)?|unser(?:e[nmr]?)?|⟨\d+⟩ 's) (?:new|neue[nrsm]?) "
    rf"(?P<what>[^\W\d_]+(?: [^\W\d_]+)?){_WHEN}(?: [.!])?$"
)
_NAMED = re.compile(r"(?:(?:it|he|she|sie|er|es) (?:'s|is|ist|heißt) |called |an? )?(?P<name>⟨\d+⟩)(?= ,|$)")


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
    for first, second in itertools.pairwise(sentences):
        if first.question or second.question or (" new" not in first.text and " neue" not in first.text):
            continue
        if (new := _NEW.fullmatch(first.text)) and (named := _NAMED.match(second.text)):
            yield replace(first, text=f"{new['whose']} new {new['what']} : {named['name']}")
