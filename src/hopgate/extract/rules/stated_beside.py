"""What a note says to be over beside what it states: "we're done with CircleCI. CI is on Buildkite"."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hopgate.extract.extraction import Stated
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_changes import gone_names, over_and_instead
from hopgate.extract.rules.stated_parts import DOUBT
from hopgate.extract.rules.stated_sentence import ASIDE
from hopgate.extract.rules.words import words

MOST_NAMES = 5
_TABLE: dict[str, str] = table("changes")
# Without one of these words a note says of nothing that it is over; most notes have none.
_ENDS = words(
    " ".join(_TABLE[name] for name in ("change", "over", "over_before", "away", "values")).replace("_", " ")
    + " traded returned sold miss missed swapped remplacé ersetzt restituito restituita niet -> → =>"
) - words(_TABLE["state"] + " of in on at with by and or the like takes starts for from del dal dalla du van von vom")
_IN_DOUBT = DOUBT - ASIDE | words("sorry typo meant oops")


def with_what_is_over(found: list[Stated], sentences: Sequence[Clause], reading: Reading) -> list[Stated]:
    """What was found, with what a note says to be over: the old value of its statement, or one of two names."""
    changes = [one for one in found if one.is_change and one.thing and one.value in reading.kinds]
    told = over_and_instead(sentences, reading) if len(changes) != 1 else None
    if told is not None:
        return [*(one for one in found if one.value != told.value and not one.is_change), told]
    if len(found) == 1 and len(gone := gone_names(sentences, reading) - {found[0].value, found[0].thing}) == 1:
        # "we're done with CircleCI. CI is on Buildkite."
        return [replace(found[0], former=gone.pop(), is_change=True)]
    return found


# "a bigger room at Willow Court": where it is, and nothing that is over
_ROOM_AT = compiled(r"\b(?:room|flat|desk|ward|bed|office|zimmer|wohnung) (?:at|in|on|im|in der|auf) ?(?:the|der)?$")


def other_names(sentences: Sequence[Clause], reading: Reading) -> list[str]:
    """The names of a note that is about a thing or two, and tells an end; none where anything of it is in doubt."""
    if _ENDS.isdisjoint(reading.lower):
        return []
    spans = [
        span
        for span in reading.spans
        if span.form not in ("date", "amount") and span.name != reading.speaker
        if not _ROOM_AT.search(" ".join(reading.lower[max(0, span.start - 4) : span.start]))
    ]
    names = [span.name for span in spans]
    pairs = itertools.pairwise(spans)
    names += [f"{one.name} {other.name}" for one, other in pairs if one.end == other.start]  # "ThinkPad T14"
    if not 1 < len(names) <= MOST_NAMES or any(clause.question for clause in sentences):
        return []
    doubtful = any(_IN_DOUBT.intersection(clause.text.split()) for clause in sentences)
    return [] if doubtful else names


def beside_others(one: Stated, others: Sequence[str]) -> Iterator[Stated]:
    """A statement, and where a note names others beside it, one that each of them may be over: "CI is on Buildkite".

    "Switched off the last Jenkins box. CI is Buildkite": if Jenkins was what CI had, that is over.
    """
    yield one
    if not one.former and one.thing:
        left = (name for name in dict.fromkeys(others) if name not in one.value and name not in one.thing)
        yield from (replace(one, former=name, is_change=True) for name in left)
