"""What a later note ends of what an earlier one says, as the tagger sees it in both together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from hopgate.extract.extraction import Source
from hopgate.extract.rules.capitals import is_person
from hopgate.extract.rules.change_words import is_doubtful
from hopgate.extract.rules.clauses import clauses
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.reading import Reading, read
from hopgate.extract.rules.stated_loans import is_of_loan, tells_loan
from hopgate.extract.rules.stated_parts import AMOUNT, WHEN
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.words import TITLES, words
from hopgate.extract.tagger.change_tagger import FORMER, THING, VALUE, Compared, compared, tagged
from hopgate.extract.tagger.common_things import shared_content, shared_thing, thing_of
from hopgate.extract.tagger.credible_values import are_doubted, is_credible, is_of_copy, tells_copy
from hopgate.extract.tagger.refused_ends import (
    is_elsewhere,
    is_of_others_thing,
    is_on_some_days,
    is_range,
    is_this_week,
    may_be_in_town,
)
from hopgate.extract.tagger.same_words import found_in, has_words, share_a_word
from hopgate.extract.tagger.sentence_pairs import sentence_pairs, sentences_of, statements_in
from hopgate.extract.tagger.tagged_spans import TaggedSpan
from hopgate.extract.tagger.tagged_values import (
    OF_OTHERS,
    is_of_another,
    sure_spans,
    value_of,
)
from hopgate.extract.tagger.value_pairs import are_days, sorts_of_both, with_head
from hopgate.extract.tagger.words_of_ending import tells_end_of

# Measured on sets of notes by authors whom the model had not seen: docs/research/extraction.md. What has words of
# copies, visits, plans or doubt must name what is over, or be surer.
_IS_END, _THOUGH_DOUBTED, _IS_SURE = 0.98, 0.998, 0.998
# Where both notes name the thing and what is over.
_THOUGH_UNSURE = 0.9
# Where both notes have what is over in the same words, and the later by itself tells of a change.
_THOUGH_UNLIKELY, _IN_THE_SAME_WORDS, _TELLS = 0.2, 0.95, 0.85
# Where the later note says of what the earlier one has that it is over, in so many words.
_THOUGH_TOLD = 0.1
# Where the later note by itself hardly tells of a change.
_THOUGH_UNTOLD = 0.995
# Below this no sentence of the two is read by itself: most pairs have nothing to do with each other.
_MAY_HIDE_END = 0.02
# Of what the rules take for a change: what is less likely to end anything, and to tell of any change, ends nothing.
# A note that says itself what was, or that somebody is the new one, need not be compared with others.
_INTO = r"\b(?:to|auf|nach|zu|zum|zur|ins?)\b"
_SAYS_SO = compiled(
    r"(?i)\b(?:rais(?:es?|ed|ing)|increase[sd]?|rises|rose|go(?:es|ne)? up|went up|steigt|stieg|gestiegen|erhöht|sinkt|"
    rf"verlegt|moved|changed|switched|umgezogen|gewechselt)\b[^.;]{{0,60}}\b(?:from|von|vom)\b[^.;]{{1,40}}{_INTO}|"
    rf"\b(?:von|vom)\b[^.;]{{1,40}}{_INTO}[^.;]{{1,40}}\b(?:verlegt|umgezogen|gewechselt|gestiegen|erhöht)\b|"
    r"\bis (?:now )?(?:the|our|my|[\w-]+['’]s) new [a-z]|"
    r"\b(?:his|her|their|ihre?|seine?) (?:new |neuer? )?(?:successor|replacement|nachfolger(?:in)?)\b|"
    r"(?:^|[.!,;] )(?:starting|beginning|from) (?:this|next) (?:week|month|term|season|semester|year)\b|"
    r"\bist (?:jetzt )?(?:der|die|das|unsere?|meine?|[\w-]+s) neue[rs]? \w|"
    r"\b(?:has|have|got) a new \w|\b(?:hat|habe|haben) (?:jetzt )?eine?n? neue[nrs]? \w|"
    r"(?:^|[.!,:] )(?:der |die |das |unser )?neue[rs]? [\w-]+(?: \w+){0,4}? (?:ist|heißt|:)"
)
_MAY_END, _MAY_TELL = 0.004, 0.5
# "Notion no longer works on my old iPad": nothing is on it.
_NO_MORE = compiled(r"(?i)\b(?:no longer|nicht mehr) (?:[^\W\d_]+ ){0,4}$")
_LITERAL = frozenset((WHEN, AMOUNT))
_OWN = words("i i'm i've my we we're our ich wir mein meine unser unsere je j'ai mon ma nous ik mijn wij yo mi")
_NO_VALUES = words(
    "me it them us him her you this that there mich mir uns ihn ihm sie es moi lui nous hij hem mi früher später heute "
    "gestern morgen earlier later early late"
)


class Ended(NamedTuple):
    """Of which thing what was is over, and what is instead; each value with how it goes with the thing.

    The thing is empty where neither note says it in words that are its name, and the value where nothing is instead.
    """

    thing: str
    former: str
    former_relation: str
    value: str
    relation: str
    names_former: bool = False


def ended_by(earlier: Source, later: Source, *, sure: bool = False) -> Ended | None:
    """Read two short notes together; nothing where the later ends nothing, and neither says so nor what is instead.

    Where the later note by itself hardly tells of a change, only what is `sure` counts: whole notes without doubt.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> notes = "Piano for Edie is with Mrs Lathom.", "From this week on Edie has piano with Mr Dube instead."
    >>> ended = ended_by(*(Source(note, Cleared(note)) for note in notes))
    >>> ended and (ended.former, ended.value)
    ('Mrs Lathom', 'Mr Dube')
    """
    found = _read_together(earlier, later, sure=sure)
    # Of loans the rules know which are told, and are not over; but "got it back from Ann, Bo has it now" names both.
    return found if not is_of_loan(later.text) or (found and found.names_former and found.value) else None


def _read_together(earlier: Source, later: Source, *, sure: bool) -> Ended | None:
    seen = compared(earlier.text, later.text)
    if sure:
        enough = _IS_END if _names_what_was(seen) else _THOUGH_UNTOLD
        doubtful = seen.end < enough or any(map(is_doubtful, clauses(read(later))))
        return None if doubtful else _ended(seen, earlier, later, later)
    ended = _ended(seen, earlier, later, later)
    if (ended and seen.end >= _IS_END) or (seen.end < _MAY_HIDE_END and not statements_in(earlier.text)):
        return ended
    # What else two notes say may hide it: then sentence by sentence, the surest first.
    some = [(one, compared(one.text, other.text), other) for one, other in sentence_pairs(earlier, later)]
    some.sort(key=lambda one: -one[1].end)
    return next((found for one, seen, other in some if (found := _ended(seen, one, other, later))), ended)


def _ended(seen: Compared, earlier: Source, later: Source, whole: Source) -> Ended | None:  # noqa: PLR0911, PLR0912
    """What is seen to be over in two notes, or in sentences of them; the whole later note must not deny it."""
    if seen.end < _enough(seen, earlier, later):
        return None
    seen = _as_the_later_says(seen)
    before, now = read(earlier), read(later)
    ended = [_whole(span, now) for span in sure_spans(seen.of_later, FORMER)]
    over = [span.text.casefold() for span in ended]
    told = now if whole is later else read(whole)
    parts = list(clauses(told))
    things = sure_spans(seen.of_later, THING)
    found = [span.text for span in sure_spans(seen.of_later, VALUE)]
    doubtful = seen.end < _THOUGH_DOUBTED and not over and are_doubted(found, parts)
    if (
        doubtful
        or is_this_week(told)
        or is_elsewhere(before, now)
        or not (things or over or shared_content(before, now))
    ):
        return None
    # Without a thing what is over tells which it is, unless it is somebody else's: "Mum replaced her Pixel".
    if any(is_of_others_thing(thing, earlier.text, later.text, over) for thing in things):
        return None
    if not (things or OF_OTHERS.isdisjoint(now.lower) or (over and _share_a_person(before, now, over))):
        return None
    former = sure_spans(seen.of_earlier, FORMER)
    # Where the later note says what is over, it is that and nothing else.
    if over:
        former = [span for span in former if any(share_a_word(span.text, one) for one in over)]
        former = former or found_in(earlier.text, ended)
    values = [
        span
        for span in sure_spans(seen.of_later, VALUE)
        if span.text.casefold() not in _NO_VALUES and not (span.start == 0 and span.text == now.speaker)
        if not any(has_words(span.text, one.text) or _goes_with(span.text, one.text, later.text) for one in former)
        if not _NO_MORE.search(later.text[: span.start])
        if is_credible(span.text, parts, though_doubted=seen.end >= _IS_SURE)
    ]
    chosen = _chosen(former, before, values, now)
    if not chosen and all(any(has_words(text, one.text) for one in former) for text in found):
        chosen = _only_over(former, before, earlier.text, over, [span.text for span in things], later.text)
        if chosen and not is_credible(over[0] if over else things[0].text, parts, though_doubted=False):
            return None  # "Cleo quit. April fool!"
    if chosen and (is_range(chosen.relation, now) or tells_copy(now, before)):
        return None
    if chosen and not over and is_on_some_days(chosen.relation, before, later.text):
        return None
    # "Fire at Pike Roasters in Kendal" says nothing of where the coffee comes from.
    if chosen and is_town(chosen.value) and not may_be_in_town(chosen.former, _surest_thing(seen)):
        return None
    # "Herr Dornbusch is our tax adviser, office in Mill Road" moves nothing that was in an office.
    if chosen and is_of_copy(chosen.former, before) and not is_of_copy(chosen.value, now):
        return None
    if not chosen or (chosen.value and not things and is_person(chosen.value) != is_person(chosen.former)):
        return None
    thing = thing_of(seen, before, earlier, now, later, chosen.former) or shared_thing(
        before, now, (chosen.former, chosen.value)
    )
    thing, chosen = _whose_turn(thing, chosen, before)
    if not thing and not _OWN.isdisjoint(before.lower):
        thing = before.speaker or earlier.owner
    # Of another thing, or of somebody else's, the later note must name what is over: "my sister lives in Málaga now",
    # or "his hourly rate is 72", and then "ours is 64".
    had = sure_spans(seen.of_earlier, THING)[:1]
    is_other = things and not any(share_a_word(thing, one.text) for one in things)
    is_other = not over and (is_other or any(is_of_another(one, earlier.text) for one in had))
    # Of "Dr Haines is Mrs Tully's consultant" the thing is not Haines, who may have retired.
    gone = any(share_a_word(thing, one) for one in over) and not any(share_a_word(chosen.former, one) for one in over)
    whose = is_person(chosen.former) and chosen.former.endswith(("'s", "’s"))
    if is_other or gone or whose or _is_same_person(thing, chosen.former):
        return None
    return chosen._replace(thing=thing, names_former=bool(over))


def _whose_turn(thing: str, chosen: Ended, before: Reading) -> tuple[str, Ended]:
    """What passes from one to another, where the first was taken for it: "Wilf has plot 14", "Jas has it instead"."""
    whole = value_of(thing, before)[0] if thing else ""
    who = whole if thing in whole and is_person(whole) else thing
    named = {span.name for span in before.spans}
    if is_person(who) and is_person(chosen.value) and not is_person(chosen.former) and chosen.former not in named:
        return chosen.former, chosen._replace(former=who)
    return thing, chosen


def may_end(earlier: Source, later: Source) -> bool:
    """Whether a note may end anything that an earlier one says, where the rules say so.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> notes = "The gym is on Tuesdays.", "The gym is on Fridays now.", "The gym's car park is full on Fridays."
    >>> before, change, other = (Source(note, Cleared(note)) for note in notes)
    >>> may_end(before, change), may_end(before, other)
    (True, False)
    """
    # Whether a loan is told, the rules know: the model was taught that what is lent comes back.
    if tells_loan(later.text) or _SAYS_SO.search(later.text):
        return True
    told = dict.fromkeys((later.text, *sentences_of(later.text)))
    if compared(earlier.text, later.text).end >= _MAY_END or any(tagged(one).change >= _MAY_TELL for one in told):
        return True
    # What else the earlier one says may hide what is over.
    said = sentences_of(earlier.text)
    return len(said) > 1 and any(compared(one, later.text).end >= _MAY_END for one in said)


def _enough(seen: Compared, earlier: Source, later: Source) -> float:
    """How likely an end must be to count, by what else two notes show."""
    over = sure_spans(seen.of_later, FORMER)
    if over and found_in(earlier.text, over) and tells_end_of(later.text, [span.text for span in over]):
        return _THOUGH_TOLD
    if _names_what_was(seen) and tagged(later.text).change >= _TELLS:
        return _THOUGH_UNLIKELY
    return _THOUGH_UNSURE if _agree(seen, earlier.text) else _IS_END


def _names_what_was(seen: Compared) -> bool:
    """Whether both notes surely mark the same words as what is over, and the later one what is instead."""
    was, over = ({span.text.casefold() for span in sure_spans(some, FORMER) if span.confidence >= _IN_THE_SAME_WORDS}
                 for some in (seen.of_earlier, seen.of_later))  # fmt: skip
    return not was.isdisjoint(over) and bool(sure_spans(seen.of_later, VALUE))


def _agree(seen: Compared, earlier: str) -> bool:
    """Whether the later note names what is instead, and a thing and its former value that the earlier one has, too."""
    things, over, values = (sure_spans(seen.of_later, label) for label in (THING, FORMER, VALUE))
    named = any(share_a_word(thing.text, earlier) for thing in things)
    return named and bool(values) and bool(found_in(earlier, over))


def _as_the_later_says(seen: Compared) -> Compared:
    """What the earlier note says of a thing, as the later one does: "Dean is head baker", "Magda is head baker now"."""
    was, had = (sure_spans(seen.of_earlier, label) for label in (FORMER, THING))
    over, things = (sure_spans(seen.of_later, label) for label in (FORMER, THING))
    if not (_are_named(had, over) and _are_named(was, things)) or _are_named(was, over):
        return seen
    other = {THING: FORMER, FORMER: THING}
    return seen._replace(
        of_earlier=[span._replace(label=other.get(span.label, span.label)) for span in seen.of_earlier]
    )


def _are_named(some: Sequence[TaggedSpan], others: Sequence[TaggedSpan]) -> bool:
    return any(share_a_word(one.text, other.text) for one, other in product(some, others))


def _surest_thing(seen: Compared) -> str:
    """The surest words for what two notes are about; an empty text where there are none."""
    things = sure_spans(seen.of_earlier, THING) or sure_spans(seen.of_later, THING)
    return things[0].text if things else ""


def _whole(span: TaggedSpan, reading: Reading) -> TaggedSpan:
    """A span as the whole name that it may be a part of: "Frau", of Frau Vogt."""
    whole = value_of(span.text, reading)[0]
    return span._replace(text=whole) if span.text in whole else span


def _chosen(former: Sequence[TaggedSpan], before: Reading, values: Sequence[TaggedSpan], now: Reading) -> Ended | None:
    """What was and what is: of several those of one sort that are surest; a day follows a day, and not an hour."""
    both = [
        (
            sort == other_sort,
            are_days(was, is_),
            is_person(was) == is_person(is_),
            old.confidence + new.confidence,
            Ended("", was, sort, is_, other_sort),
        )
        for old, new in product(former, values)
        for (was, was_sort), (is_, is_sort) in [
            (
                value_of(with_head(old.text, new.text, before), before),
                value_of(with_head(new.text, old.text, now), now),
            )
        ]
        for sort, other_sort in [sorts_of_both(was, was_sort, is_, is_sort)]
        if was.casefold() != is_.casefold()
        if sort == other_sort or _LITERAL.isdisjoint((sort, other_sort))
    ]
    return max(both, key=lambda one: one[:4])[4] if both else None


def _share_a_person(before: Reading, now: Reading, over: Sequence[str]) -> bool:
    """Whether two notes name the same person, other than whom it is over with: "Ellie's got Dr Lutz for her braces"."""
    both = {span.name for span in before.spans} & {span.name for span in now.spans}
    return any(is_person(name) and not any(share_a_word(name, one) for one in over) for name in both)


def _goes_with(value: str, former: str, later: str) -> bool:
    """Whether a value is something of what was: "Garmin support", "the parking at Siemens"."""
    one, other = re.escape(value), re.escape(former)
    return bool(
        re.search(rf"(?i)\b{other} {one}\b|\b{one} (?:bei|beim|at|of|from)(?: the| der| dem)? {other}\b", later)
    )


def _only_over(
    former: Sequence[TaggedSpan], before: Reading, earlier: str, over: Sequence[str], things: Sequence[str], later: str
) -> Ended | None:
    """What was, where a note says that it is over, and of nothing that is instead: "Eli has quit the Flyers"."""
    if not former or not (over or things) or not tells_end_of(later, (*over, *things)):
        return None
    # "Has left the Signal group" is not Signal; and of "Figma and Sketch" it is what the later note says.
    there = [one for one in over if one in earlier.casefold()]
    if over and not there and not any(has_words(former[0].text, one) for one in over):
        return None
    named = found_in(earlier, [span._replace(text=there[0]) for span in former[:1]]) if there else former
    was, sort = value_of(named[0].text, before)
    return Ended("", was, sort, "", sort) if sort not in _LITERAL else None


def _is_same_person(one: str, other: str) -> bool:
    """Whether a name is another one without its title, or that one: Haines, Dr Haines."""
    title, _, name = other.casefold().partition(" ")
    return title.rstrip(".") in TITLES and one.casefold() in (name, other.casefold())
