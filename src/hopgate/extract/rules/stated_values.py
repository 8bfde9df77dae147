"""What a short sentence says of one thing in any words: that backups go to Backblaze, that the rent is 870 a month.

The graph keeps it aside until another memory of the same scope tells of a change of the same thing
(`graph/temporal/joint_facts.py`), so that it need not be sure: nothing follows from a sentence of its own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from hopgate.extract.extraction import OWNER, Fact, Stated
from hopgate.extract.rules.change_words import changes_what_it_states
from hopgate.extract.rules.clauses import STATES, Clause
from hopgate.extract.rules.plain_wording import without_asides
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.role_table import ROLE_RELATIONS
from hopgate.extract.rules.small_words import has_small_words, in_english
from hopgate.extract.rules.stated_changes import changed, gone_names, moved_to, over_and_instead
from hopgate.extract.rules.stated_parts import DOUBT, LATELY, MOVED, NOW, value_at
from hopgate.extract.rules.stated_states import state_of
from hopgate.extract.rules.stated_turns import passed_on, was_and_is
from hopgate.extract.rules.timetable import TAKES_PLACE
from hopgate.extract.rules.words import words

# A longer note is no place where one thing is said of one thing, and a longer sentence says more.
MOST_TOKENS, MOST_SENTENCES, MOST_IN_SENTENCE, MOST_FACTS = 60, 4, 20, 2
MOST_CHARACTERS, MOST_NAMES = 240, 5
_LITERAL = frozenset(("costs", "due", TAKES_PLACE))
_TYPED = STATES | _LITERAL | frozenset(ROLE_RELATIONS)
# A short note of few words may be taken for another language: "CI runs through Jenkins".
_ENGLISH = words("the is are our my now from goes runs through with to we")
_SINCE = re.compile(
    r"\b(?:from now on|these days|as of (?:⟦\d+⟧|this \w+|now|today|for a while|\w+)|"
    r"since (?:⟦\d+⟧|last \w+|\w+ ⟦\d+⟧|then|the \w+|\w+)|from ⟦\d+⟧(?: on(?:wards?)?)?)(?=$| )|\bsince$"
)
_ON = re.compile(r"\b(?:on|in|since|from|of) (⟦\d+⟧)")
_REFERENCE = re.compile(r"[⟨⟦⟪](\d+)[⟩⟧⟫]")
_DATED = re.compile(r" (?:in|from|on) ⟦\d+⟧$")
_OF_TIME = words("from these as since")
# Of what these begin, nothing is read but after a break.
_OPENING = words(
    """
    it he she they you that this there these those what how why who when where so and but yes no not thanks thank sorry
    wow hey hi oh if as in on at for from after before while with to by let lets can could do did have had has will
    would more very also just maybe perhaps really sounds glad looking please ok okay
    """
) - {"on", "from", "as"}
_MAY_NAME_BOTH = words("from instead not no rather -> → replaced took longer aren't isn't")
_MINE = re.compile(r" (?:my|our) ")
_GOES_ON = words("it they he she that this now")
_BREAKS = frozenset((",", ":", "-", "–"))
_DENIED = words("not no isn't aren't")
# Of how it was before, or of others, said beside what is so now.
_ASIDE = _DENIED | words(
    """
    was were had wanted neighbour neighbours neighbor neighbors people everyone someone somebody before until never
    today yesterday wasn't didn't couldn't doesn't don't can't failed ill sick cancelled canceled
    """
)
_ELIDED = re.compile(r"^(?:[ld]|qu)['’]")
_IN_DOUBT = DOUBT - _ASIDE | words("sorry typo meant oops")
_STILL = words("still")
_THAT_DAY = words("today yesterday")
_WENT = MOVED | words("raised bumped upgraded lowered pushed")
_NOT_ANY_MORE = re.compile(
    r"[,;]? ?(?:and |but )?(?:(?:is |are )?(?:no longer|not) |instead of |rather than |aren't |isn't )"
    r"(?:(?:in|at|on|with|from|by|to|the|a|an|my|our) )*(?P<a>[^,;]+?)(?: any ?more)?(?= , | but |$)"
)


def stated_values(
    sentences: Sequence[Clause], reading: Reading, facts: Iterable[Fact], owner: str = OWNER
) -> Iterator[Stated]:
    """Yield what the sentences of a short note say of things, and what they say to have changed.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> reading = read(Source("m1", Cleared("Backups go to Wasabi now.")))
    >>> for one in stated_values(list(clauses(reading)), reading, ()):
    ...     print(one.thing, "|", one.relation, "|", one.value, "|", one.is_change)
    backups | kept at | Wasabi | True
    """
    if (
        len(reading.lower) > MOST_TOKENS
        or len(sentences) > MOST_SENTENCES
        or not (reading.code == "en" or has_small_words(reading.code) or not _ENGLISH.isdisjoint(reading.lower))
    ):
        return
    typed = {fact.object.lower(): fact for fact in facts if fact.valid_to is None and fact.relation in _TYPED}
    found: list[Stated] = []
    # Where all was read that there is to read, nothing more is looked for.
    if not (typed and len(sentences) == 1 and _MAY_NAME_BOTH.isdisjoint(reading.lower)):
        found = list(_of_clauses(sentences, reading, reading.speaker or owner))
        if len(reading.spans) > 1 and not any(one.former for one in found):
            found = _with_what_is_over(found, sentences, reading)
    others = _other_names(sentences, reading)
    for one in found:
        fact = typed.pop(one.value.lower(), None)
        yield from _beside_others(one if fact is None else _as_fact(fact, one), others)
    if typed and len(typed) <= MOST_FACTS:
        told = any(map(changes_what_it_states, sentences))  # "lives in" by itself is no change
        for fact in typed.values():
            # In a talk a thing is its speaker's, whoever read it; and a new date or price says from when on it is so.
            owned = f"{reading.speaker}'s {fact.subject}" if reading.speaker and fact.subject.islower() else ""
            since = fact.valid_from is not None and fact.relation in _LITERAL
            stated = _as_fact(fact, Stated(owned, "", fact.object, is_change=told or since))
            yield from _beside_others(stated, others)


def _other_names(sentences: Sequence[Clause], reading: Reading) -> list[str]:
    """The names of a note that is about a thing or two; none where anything of it is in doubt."""
    spans = [span for span in reading.spans if span.form not in ("date", "amount") and span.name != reading.speaker]
    names = [span.name for span in spans]
    pairs = itertools.pairwise(spans)
    names += [f"{one.name} {other.name}" for one, other in pairs if one.end == other.start]  # "ThinkPad T14"
    if not 1 < len(names) <= MOST_NAMES or any(clause.question for clause in sentences):
        return []
    doubtful = any(_IN_DOUBT.intersection(clause.text.split()) for clause in sentences)
    return [] if doubtful else names


def _beside_others(one: Stated, others: Sequence[str]) -> Iterator[Stated]:
    """A statement, and where a note names others beside it, one that each of them may be over: "CI is on Buildkite".

    "Switched off the last Jenkins box. CI is Buildkite": if Jenkins was what CI had, that is over.
    """
    yield one
    if not one.former and one.thing:
        left = (name for name in dict.fromkeys(others) if name not in one.value and name not in one.thing)
        yield from (replace(one, former=name, is_change=True) for name in left)


def _of_clauses(sentences: Sequence[Clause], reading: Reading, owner: str) -> Iterator[Stated]:
    """What each sentence says; one of "it" goes with the one before that says what was."""
    before = ""
    for clause in sentences:
        text = _plain(clause, reading)
        if not text or clause.question or len(text) > MOST_CHARACTERS:
            before = ""
            continue
        one = _of_sentence(text, reading.code)
        if before and (passed := passed_on(f"{before} , {text}")):
            one = passed
        if one is None and before and text.split()[0] in _GOES_ON:
            one = was_and_is(f"{before} , {text}")
        before = text
        if one is not None:
            yield _of_reading(one, text, reading, owner)


def _plain(clause: Clause, reading: Reading) -> str:
    """The text of a sentence without its speaker and asides, its small words in English."""
    text = clause.text
    if "⟨team " in text:
        text = text.replace("⟨team ", "⟨")
    if reading.speaker and text[0] == "⟨":
        text = text.partition(" : ")[2] or text
    if "( " in text:
        text = without_asides(text)
    if reading.code != "en" and has_small_words(reading.code):
        text = in_english(text, reading.code)
    return text.replace(" takes place", " is").replace(" take place", " are") if " place" in text else text


def _with_what_is_over(found: list[Stated], sentences: Sequence[Clause], reading: Reading) -> list[Stated]:
    """What was found, with what a note says to be over: the old value of its statement, or one of two names."""
    told = over_and_instead(sentences, reading)
    if told is not None:
        return [*(one for one in found if one.value != told.value and not one.is_change), told]
    if len(found) == 1 and len(gone := gone_names(sentences, reading) - {found[0].value, found[0].thing}) == 1:
        # "we're done with CircleCI. CI is on Buildkite."
        return [replace(found[0], former=gone.pop(), is_change=True)]
    return found


def _of_reading(one: Stated, text: str, reading: Reading, owner: str) -> Stated:
    """What a sentence says, with the names, dates and amounts of its note."""
    since = _since(text, one) if one.is_change and "⟦" in text else None
    parts = (_filled(part, reading) for part in (one.thing, one.value, one.former))
    thing, value, former = (_as_written(part, reading) for part in parts)
    about = ""
    if thing and reading.speaker:  # where several speak, things are told apart by who speaks of them
        about = f"{reading.speaker}'s {thing}"
        thing = about if _MINE.search(f" {text}") else thing
    begin = _filled(since, reading) if since else None
    value = owner if value == OWNER else value
    return Stated(thing, one.relation, value, former, one.is_change, begin, about)


def _as_written(part: str, reading: Reading) -> str:
    """A text of another language as it stands in its note: small words were put into English, and all in lower case."""
    words_ = part.lower().split()
    if reading.code == "en" or not words_:
        return part
    places = [
        (end - at, at)
        for at, word in enumerate(reading.lower)
        if word == words_[0]
        for end in range(at + 1, at + len(words_) + 3)
        if reading.lower[end - 1 : end] and _ELIDED.sub("", reading.lower[end - 1]) == words_[-1]
    ]
    if not places:
        return part
    length, at = min(places)
    text = " ".join(reading.tokens[at : at + length])
    is_start = at == 0 or reading.marks[at - 1] in ".¶:"
    return text[0].lower() + text[1:] if is_start and reading.code != "de" and part[0].islower() else text


def _filled(part: str, reading: Reading) -> str:
    """A part of an encoded sentence with its names, dates and amounts."""
    if part and (part[-1] in "⟩⟧⟫" or "⟨" in part):
        part = _REFERENCE.sub(lambda found: reading.spans[int(found[1])].name, part)
    return part


@lru_cache(maxsize=4096)  # short sentences differ in their names alone, which are numbers here
def _of_sentence(text: str, code: str = "en") -> Stated | None:  # noqa: PLR0911
    """What an encoded sentence says, with its references as they are."""
    tokens = text.split()
    opens = tokens[0] in _OPENING and _BREAKS.isdisjoint(tokens) and _WENT.isdisjoint(tokens)
    if opens or not 1 < len(tokens) <= MOST_IN_SENTENCE:
        return None
    if told := was_and_is(text):
        return told
    # Most sentences end here: every look costs as much as all that it finds.
    doubt = DOUBT.intersection(tokens)
    if doubt and not _WENT.isdisjoint(tokens):
        doubt -= _THAT_DAY  # "moved the router to the hall today"
    if doubt == _STILL and NOW.isdisjoint(tokens):
        doubt = frozenset()  # a plain state
    denied = doubt and doubt <= _DENIED
    if doubt and not denied:
        return _beside_doubt(text, code) if doubt <= _ASIDE and " , " in text else None
    if not doubt and (told := changed(text, tokens)):
        return told
    former = ""
    if (denied or "instead" in tokens or "rather" in tokens) and (over := _NOT_ANY_MORE.search(text)):
        value = value_at(over["a"].split(), 0)
        former = value.text if value else ""
        text = f"{text[: over.start()]} {text[over.end() :]} now".replace(" but ", " ")
        denied = False
    if denied:
        return _beside_doubt(text, code) if " , " in text else None
    if "⟦" in text:
        text = _DATED.sub("", text)
    plain = text if _OF_TIME.isdisjoint(tokens) else _SINCE.sub("", text)
    said = plain.split()
    if former and not DOUBT.isdisjoint(said):
        return None
    left = [word for word in said if word not in NOW and word not in LATELY and word != "still"]
    is_change = bool(former) or plain != text or not NOW.isdisjoint(said)
    for part in (left, *_parts(left)):
        if len(part) > 1 and (one := moved_to(part) or state_of(part, code, beside=not is_change)):
            is_new = f" new {one.thing}" in f" {text}"  # "new phone : Pixel 8", "our new vet is …"
            return Stated(one.thing, one.relation, one.value, former, is_change or is_new or one.is_change)
    return None


def _beside_doubt(text: str, code: str) -> Stated | None:
    """A change that is told in some parts of a sentence, where others tell of what was, or of others.

    "immich is on cormorant now , puffin was out of memory"
    """
    parts = text.split(" , ")
    for length in range(len(parts) - 1, 0, -1):
        for at in range(len(parts) - length + 1):
            part = " , ".join(parts[at : at + length]).removeprefix("so ").removeprefix("and ").removeprefix("but ")
            if DOUBT.intersection(part.split()) <= _DENIED and (one := _of_sentence(part, code)) and one.is_change:
                return one
    return None


def _parts(said: list[str]) -> Iterator[list[str]]:
    """The parts of a sentence after an opening: "hey all, rehearsals are at the Cannery"."""
    return (said[at + 1 :] for at, word in enumerate(said) if word in _BREAKS)


def _since(text: str, one: Stated) -> str | None:
    """From when on a change is told to be so: the reference of a date that is no value."""
    return next((date for date in _ON.findall(text) if date not in (one.value, one.former)), None)


def _as_fact(fact: Fact, one: Stated) -> Stated:
    """What a sentence says, by the fact that a pattern made of it: what follows it is such a fact, too."""
    about = fact.relation.removeprefix("has ") if fact.relation in ROLE_RELATIONS else ""
    return Stated(
        fact.subject,
        fact.relation,
        fact.object,
        one.former,
        one.is_change,
        fact.valid_from or one.valid_from,
        about or one.thing,
    )
