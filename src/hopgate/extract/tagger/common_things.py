"""What two notes are about: as the tagger marks it in either, or by the words that both have."""

from __future__ import annotations

from collections.abc import Iterable

from hopgate.extract.extraction import Source
from hopgate.extract.rules.language_tables import LANGUAGES
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_parts import VERBS
from hopgate.extract.rules.words import STOP_WORDS
from hopgate.extract.tagger.change_tagger import THING, Compared, tagged
from hopgate.extract.tagger.same_words import found_in, share_a_word
from hopgate.extract.tagger.tagged_spans import TaggedSpan
from hopgate.extract.tagger.tagged_values import owned_thing, sure_spans

# What is marked as surely as this by itself is what a note is of; and what is marked less surely than that may not be.
_SURE, _DOUBTFUL = 0.95, 0.75
# Letters of a word that tells nothing.
_SMALL = 2


def thing_of(seen: Compared, before: Reading, earlier: Source, now: Reading, later: Source, former: str) -> str:
    """What it is about: marked in the earlier note beside the later, or by itself; or in the later."""

    def marked(spans: Iterable[TaggedSpan]) -> list[TaggedSpan]:
        return [span for span in sure_spans(spans, THING) if span.text.casefold() != former.casefold()]

    # By itself it is read only where it must be: that is one more run of the model.
    named = marked(seen.of_later)
    things = marked(seen.of_earlier) or found_in(earlier.text, named)
    if things and not any(share_a_word(one.text, other.text) for one in things for other in named):
        # Neither is the later note's: "every commute", where that by itself is of the bike.
        surer = [one for one in marked(tagged(later.text).spans) if one.confidence > things[0].confidence]
        if there := found_in(earlier.text, surer[:1]):
            return owned_thing(there[0], before, earlier.text)
        # Of a verb the words that both have say what it is of: "we rehearse", "takes over as conductor" of the choir.
        is_doubtful = things[0].confidence < _DOUBTFUL and things[0].text.lower() not in VERBS
        if surer and surer[0].confidence >= _SURE and is_doubtful:
            return owned_thing(surer[0], now, later.text)
    if things := things or marked(tagged(earlier.text).spans):
        both = [one for one in things if any(share_a_word(one.text, other.text) for other in named)]
        return owned_thing((both or things)[0], before, earlier.text)
    if named:
        return owned_thing(named[0], now, later.text)
    return ""


def shared_thing(before: Reading, now: Reading, values: Iterable[str]) -> str:
    """What two notes are about of which neither marks it: the one word that both have, but for their values."""
    shared = shared_content(before, now) - {word for one in values for word in one.lower().split()}
    # "Contract is up in August", "gets shut off in August"
    shared -= LANGUAGES[now.code].months.keys() | LANGUAGES[now.code].days
    return next(iter(shared)) if len(shared) == 1 else ""


def shared_content(before: Reading, now: Reading) -> set[str]:
    """The words that two notes have in common, but for small ones and for who speaks."""
    told = (
        {word for token in reading.lower for word in token.split() if len(word) > _SMALL}
        - LANGUAGES[reading.code].function
        - STOP_WORDS
        - set(reading.speaker.lower().split())
        for reading in (before, now)
    )
    return set(next(told) & next(told))
