"""A memory as the rules read it: tokens, letters, language, and the spans that are names, dates and amounts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from hopgate.extract.extraction import Source
from hopgate.extract.rules.candidates import Span, candidates, title
from hopgate.extract.rules.capitals import is_given, judged, plain
from hopgate.extract.rules.dates import date_spans
from hopgate.extract.rules.han_names import han_names
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.language_tables import GIVEN_NAMES, KIN
from hopgate.extract.rules.lower_names import introduced, lower_spans
from hopgate.extract.rules.tokenise import analysed
from hopgate.extract.rules.words import MONEY, words

# "Note:" and "Reason:" start lines too; a speaker's name is short, and its line a turn.
_SPEAKER_WORDS = 3
# Short forms that are words, too: only before the colon of a turn are they names.
_SHORT_NAMES = words("mo al jo ed vi bo jay kit drew ash tash bex dazza gaz baz shaz jonno robbo")
_NO_SPEAKERS = words(
    "project projekt projet team squad room milestone sprint phase task ticket service host server new old next latest "
    "neue neuer neues alte alter nächste nächster nouveau nouvelle nuevo nueva nuovo nuova nieuwe"
)

_COSTS = words("costs cost kostet kosten kost cuesta cuestan coûte coûtent costa costano")
_DIGITS = compiled(r"\d[\d.,]*")
_IS = words("is now : = ist est es è are")
_UP_TO = words("to -> → => auf à a naar")
_PRICE = compiled(r"\d{1,6}(?:[.,]\d\d)?|\d{1,3}(?:,\d{3})+")
# "goes up to 2,300 a month"
_UP_OR_DOWN = words("up down")
_A_MONTH = [[each, time] for each in ("a", "per") for time in ("month", "year")]
_PER = words("a an per each pro im par al now instead since from as for jetzt nu ahora ora maintenant and")

# Who is called by what they are: "Grandma is in Bath now".
_FAMILY = words(
    "grandma grandpa granny grandad granddad gran nana nan auntie "
    "mum mom mummy mommy dad daddy papa mama oma opa mamie papy abuela abuelo "
    "nonna nonno"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules know of one memory before they look for facts."""

    tokens: list[str]
    lower: list[str]
    marks: str
    code: str
    spans: list[Span]
    kinds: dict[str, str]
    topic: str
    speaker: str


def read(source: Source) -> Reading:
    """Read one memory.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> reading = read(Source("m1", Cleared("immich runs on cedar since March 2024. Ask Bea.")))
    >>> [(span.name, span.form) for span in reading.spans]
    [('immich', 'service'), ('cedar', 'host'), ('2024-03', 'date'), ('Bea', 'name')]
    """
    tokens, lower, raw, code = analysed(source.text)
    known = dict(source.known)
    if source.title is None:  # without context; with it the survey has seen this text too
        known |= {name: kind for name, kind in introduced(tokens, lower, source.tags).items() if not known.get(name)}
    speaker = _speaker(tokens, raw, known)
    if speaker:
        known.setdefault(lower[0], "person")
    marks = _priced(judged(tokens, lower, raw, code, known), tokens, lower)
    dates = date_spans(tokens, lower, code, source.created_at)
    if "$" in marks:
        dates = [one for one in dates if "$" not in marks[one.start : one.end]]  # "rent is 1150"
    if speaker and dates and not dates[0].start:
        dates = dates[1:]  # Jan, June
    spans = candidates(tokens, marks, dates)
    taken = bytearray(len(tokens))
    for span in spans:
        taken[span.start : span.end] = b"\1" * (span.end - span.start)
    for at in lower_spans(tokens, known, code):
        if not taken[at]:
            name = tokens[at].removesuffix("'s").removesuffix("’s")
            spans.append(Span(at, at + 1, name, known.get(name) or "name"))
    for at, mark in enumerate(marks):
        if mark == "$":
            spans.append(Span(at, at + 1, _amount(tokens, lower, at), "amount"))
        elif mark == "J":
            spans += [Span(at, at + 1, name, "han") for name in han_names(tokens[at])]
    spans.sort(key=lambda span: span.start)
    topic = source.title if source.title is not None else title(tokens, raw)
    kinds = {span.name: kind for span in spans if (kind := person_kind(span.name) or known.get(span.name.lower(), ""))}
    return Reading(tokens, lower, marks, code, spans, kinds, " ".join(topic.split()), speaker)


def _priced(marks: str, tokens: list[str], lower: list[str]) -> str:
    """Make an amount of a bare number after "costs", and before one: "costs 4.60", "from 900 to 1100 euros"."""
    if "$" in marks:
        for at in range(2, len(tokens)):
            before = at - 2
            if marks[at] == "$" and lower[at - 1] in _UP_TO and _PRICE.fullmatch(tokens[before]):
                marks = f"{marks[:before]}${marks[before + 1 :]}"
    if _COSTS.isdisjoint(lower) and MONEY.isdisjoint(lower) and _UP_OR_DOWN.isdisjoint(lower):
        return marks
    for at in range(1, len(tokens)):
        ends = at + 1 == len(tokens) or marks[at + 1] in ".¶,;:()" or lower[at + 1] in _PER
        told = lower[at - 1] in _COSTS or lower[at - 2] in _COSTS
        told = told or (lower[at - 1] == "to" and lower[at - 2] in _UP_OR_DOWN and lower[at + 1 : at + 3] in _A_MONTH)
        told = told or (lower[at - 1] in _IS and not MONEY.isdisjoint(lower[max(0, at - 4) : at - 1]))  # "rent is 1150"
        if told and ends and _PRICE.fullmatch(tokens[at]):
            marks = f"{marks[:at]}${marks[at + 1 :]}"
    return marks


def _amount(tokens: list[str], lower: list[str], at: int) -> str:
    """An amount as it is written; one without a currency has that of what it went to: "from 900 to 1100 euros"."""
    other = tokens[at + 2] if at + 2 < len(tokens) and lower[at + 1] in _UP_TO else ""
    if _DIGITS.search(other) and _PRICE.fullmatch(tokens[at]):
        return _DIGITS.sub(tokens[at], other, count=1)
    return tokens[at]


def _speaker(tokens: list[str], marks: str, known: dict[str, str]) -> str:
    """The name before the colon that starts a turn: "Caroline: …"."""
    end = marks.find(":", 0, _SPEAKER_WORDS + 1)
    if end < 1 or end == len(marks) - 1 or any(mark not in "UAiKMZC" for mark in marks[:end]) or marks[end + 1] == "¶":
        return ""
    name = " ".join(tokens[:end])
    first = tokens[0].lower()
    if first in _NO_SPEAKERS:
        return ""
    is_short = first in _SHORT_NAMES and marks[end + 1] != "N"  # "Ash: 5 points"
    return name if is_given(first) or is_short or known.get(first) == "person" or end > 1 else ""


@lru_cache(maxsize=16384)  # asked of every name, several times
def person_kind(name: str) -> str:
    """Say "person" where a name has a given name or a title in front.

    Examples
    --------
    >>> [person_kind(name) for name in ("Tomasz Wilk", "Aunt Shirin", "Frau Dirks", "Team Atlas")]
    ['person', 'person', 'person', '']
    """
    first, _, rest = name.partition(" ")
    if name.endswith(("'s", "’s")):
        return ""  # "works at Jimmy's"
    word = plain(first).rstrip(".")
    if rest:
        return "person" if (word in KIN and rest[0].isupper()) or word in GIVEN_NAMES else ""
    return "person" if first[:1].isupper() and (is_given(first) or word in _FAMILY) else ""
