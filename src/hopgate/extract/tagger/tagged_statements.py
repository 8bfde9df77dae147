"""What a tagged note adds to what the rules read in it: statements of things and of their changes, and doubts.

Statements have no effect of their own (`graph/temporal/joint_facts.py`): a change ends something only where another
memory states what is over, whoever of the two saw which; and a change that the tagger sees counts where the rules have
nothing against reading the note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hopgate.extract.extraction import DOUBTED, Extraction, Stated
from hopgate.extract.rules.fact_patterns import SINGLE_VALUED
from hopgate.extract.rules.parts_of_things import is_part
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.extract.rules.stated_parts import AMOUNT, ANY, DAYS, WHEN
from hopgate.extract.rules.stated_values import LITERAL, MOST_CHARACTERS, MOST_TOKENS
from hopgate.extract.rules.words import words
from hopgate.extract.tagger.change_tagger import FORMER, THING, VALUE, Tagged
from hopgate.extract.tagger.likely_words import may_state, may_tell_change
from hopgate.extract.tagger.tagged_spans import TaggedSpan

# Measured on sets of notes by authors whom the model had not seen: docs/research/extraction.md.
_IS_CHANGE, _IS_NONE = 0.999, 0.01
_SURE = 0.6
_MOST_FORMER = 2
_LITERAL = LITERAL | {WHEN, AMOUNT}
_ONE_AT_A_TIME = frozenset((*SINGLE_VALUED, *ROLE_RELATIONS))
_MINE = re.compile(
    r"\b(?:my|our|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|nos|mi|mis|nuestr\w|mijn|onze) $", re.IGNORECASE
)
# "A photocopy of Mum's will", "the Jellyfin exporter": what changed is not the will, nor Jellyfin.
_OF_IT = re.compile(r"(\S+) (?:of|off|for|from) (?:(?:the|my|our) )?$", re.IGNORECASE)
_ITS = re.compile(r"(?:['’]s)? ([^\W\d_]+)")
_OF_OTHERS = words("his her their ihr ihre ihren ihrem sein seine seinen seinem sus suo sua zijn haar")
_OWNER = re.compile(r"(\S+)['’]s $")
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midnight", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d.,]*(?: ?[^\W\d]{1,6})?")


def worth_tagging(text: str, reading: Reading, extraction: Extraction) -> bool:
    """Say whether the tagger may see what the rules do not: a change, or anything where they read nothing.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> texts = "Bought lemons", "Backups go to Wasabi from now on"
    >>> [worth_tagging(text, read(Source("m1", Cleared(text))), Extraction()) for text in texts]
    [False, True]
    """
    if len(reading.tokens) > MOST_TOKENS or len(text) > MOST_CHARACTERS:
        return False
    unread = not extraction.facts and not extraction.stated
    return _tells_change(extraction) or may_tell_change(text) or (unread and may_state(text))


def _tells_change(extraction: Extraction) -> bool:
    dated = any(fact.valid_from or fact.valid_to for fact in extraction.facts)
    return dated or bool(extraction.tentative) or any(one.is_change for one in extraction.stated)


def with_tags(
    extraction: Extraction, seen: Tagged, reading: Reading, text: str, *, is_told: bool, is_doubtful: bool
) -> Extraction:
    """Add what the tagger sees.

    Parameters
    ----------
    is_told : bool
        Whether the rules let every sentence of the note pass: what is denied, dreamt or undone is no change.
    is_doubtful : bool
        Whether it has words of copies, visits, plans or doubt: then a change must name what is over.
    """
    if seen.change < _IS_NONE:
        extraction = _doubted(extraction, seen, reading)
    if seen.change >= _IS_CHANGE:
        changed = _with_change(extraction, seen, reading, text, is_doubtful) if is_told else None
        return changed or extraction
    things, values = _best(seen, THING), _best(seen, VALUE)
    if seen.change > 0.5 or not things or len(values) != 1:
        return extraction
    value, relation = _literal(values[0].text, reading)
    if _same(extraction.stated, value):
        return extraction
    state = Stated(_owned(things[0], reading, text), relation, value)
    return replace(extraction, stated=(*extraction.stated, state))


def _doubted(extraction: Extraction, seen: Tagged, reading: Reading) -> Extraction:
    """What the rules read, where the tagger sees no change.

    Of what it marks no word of they tell none either; and what words merely allow is not allowed.
    """
    marked = {
        word for span in seen.spans for text in (span.text, _literal(span.text, reading)[0]) for word in _words(text)
    }

    def is_unmarked(relation: str, value: str) -> bool:
        # Days and amounts it often leaves unmarked.
        return relation not in _LITERAL and marked.isdisjoint(_words(value))

    facts = tuple(
        replace(fact, confidence=min(fact.confidence, DOUBTED))
        if fact.relation in _ONE_AT_A_TIME and is_unmarked(fact.relation, fact.object)
        else fact
        for fact in extraction.facts
    )
    stated = tuple(one for one in extraction.stated if not (one.is_change and is_unmarked(one.relation, one.value)))
    return replace(extraction, facts=facts, stated=stated, tentative=())


def _with_change(
    extraction: Extraction, seen: Tagged, reading: Reading, text: str, is_doubtful: bool
) -> Extraction | None:
    things, values, former = (_best(seen, label) for label in (THING, VALUE, FORMER))
    # Without a thing what is over tells which it is, unless it is somebody else's: "Mum replaced her Pixel".
    is_known = things or (former and _OF_OTHERS.isdisjoint(reading.lower))
    if not is_known or len(values) != 1 or len(former) > _MOST_FORMER or (is_doubtful and not former):
        return None
    if any(_is_of_part(one, text) or _is_theirs(one, text) for one in things):
        return None
    value, relation = _literal(values[0].text, reading)
    thing = _owned(things[0], reading, text) if things else ""
    # What is somebody's is known by its whole name alone, and not by what is over.
    over = [] if "'s " in thing else [_literal(one.text, reading)[0] for one in former]
    over = [one for one in over if one != value]
    first = over[0] if over else ""
    known = _same(extraction.stated, value)
    # What the rules read as a state of the same value, or as a change without what is over.
    stated = tuple(
        replace(one, is_change=True, former=one.former or first) if one in known else one for one in extraction.stated
    )
    if known and (not thing or any(_words(one.about or one.thing) & _words(thing) for one in known)):
        return replace(extraction, stated=tuple(dict.fromkeys(stated)))
    since = {fact.valid_from for fact in extraction.facts if _words(fact.object) & _words(value)}
    date = next(iter(since)) if len(since) == 1 else None
    told = [Stated(thing, relation, value, one, is_change=True, valid_from=date) for one in over or [""]]
    return replace(extraction, stated=(*stated, *told))


def _is_of_part(thing: TaggedSpan, text: str) -> bool:
    before, after = _OF_IT.search(text[: thing.start]), _ITS.match(text[thing.start + len(thing.text) :])
    return any(part and is_part(part[1].lower()) for part in (before, after))


def _is_theirs(thing: TaggedSpan, text: str) -> bool:
    before = text[: thing.start].lower().split()
    return bool(before) and before[-1] in _OF_OTHERS


def _words(text: str) -> set[str]:
    return {word.removesuffix("'s").removesuffix("’s") for word in text.casefold().split()}


def _best(seen: Tagged, label: str) -> list[TaggedSpan]:
    """Spans of a label, each text once, the surest first."""
    found: dict[str, TaggedSpan] = {}
    for span in sorted(seen.spans, key=lambda span: -span.confidence):
        if span.label == label and span.confidence >= _SURE:
            found.setdefault(span.text.casefold(), span)
    return list(found.values())


def _same(stated: Sequence[Stated], value: str) -> list[Stated]:
    """Statements of a value, or of more or fewer words of it."""
    wanted = value.casefold().split()

    def has(words: list[str], part: list[str]) -> bool:
        return words[: len(part)] == part or words[-len(part) :] == part

    return [
        one for one in stated if (words := one.value.casefold().split()) and (has(words, wanted) or has(wanted, words))
    ]


def _literal(text: str, reading: Reading) -> tuple[str, str]:
    """A value as the rules write it, and how it goes with a thing: a date, an amount, or whatever it is."""
    said = text.casefold().split()
    for span in reading.spans:
        words = " ".join(reading.tokens[span.start : span.end]).casefold().split()
        if span.form in ("date", "amount") and (set(words) <= set(said) or set(said) <= set(words)):
            return span.name, WHEN if span.form == "date" else AMOUNT
    if len(said) == 1 and (day := said[0].removesuffix("s")) in DAYS:
        return day, WHEN
    if _CLOCK.search(text) or not DAYS.isdisjoint(said):
        return text, WHEN
    return text, AMOUNT if _NUMBER.fullmatch(text) else ANY


def _owned(thing: TaggedSpan, reading: Reading, text: str) -> str:
    """A thing by its name, and whose it is: "Jo's bike"; in a talk "my laptop" is its speaker's."""
    before = text[: thing.start]
    named = _OWNER.search(before)
    owner = reading.speaker if reading.speaker and _MINE.search(before) else named and named[1]
    return f"{owner}'s {thing.text}" if owner else thing.text.replace("’", "'")
