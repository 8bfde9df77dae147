"""Facts from sentences: two spans, the words between them, and the dates beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from operator import itemgetter

from hopgate.extract.dates import iso
from hopgate.extract.extraction import Fact
from hopgate.extract.rules.candidates import Span
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.plural import singular
from hopgate.extract.rules.relation_table import FIRST_WORDS, Relation, possessed, relation
from hopgate.extract.rules.words import words

# How far a pattern may be trusted: the share that was right when 20 facts of each were read beside their text (musique
# and 2wiki; 17, 12, 16 and 9 of 20), rounded: docs/research/extraction.md.
DIRECT, LISTED, PRONOUN, ORDINARY = 0.8, 0.6, 0.7, 0.4

PRONOUNS = words("he she it they He She It They I")
# "a film directed by X starring Y": the second participle is about the film, not about X.
_OF_WORKS = frozenset(
    ("starring", "directed by", "written by", "produced by", "performed by", "published by", "created by", "based on")
)
_FINITE = compiled(r"\b(?:is|are|was|were|has|had|have|who|which)\b")
_COMMON = compiled(r"[we]*w")
# Letters of gaps that hold no relation. Most gaps are one of these, and their words need not be read.
_NO_RELATION = frozenset(
    ("", ",", "a", ",a", "&", "(", ")", "),", "o", "ot", "t", ":", "-", '"', ',"', '",', "at", ",t")
)
_LIST = frozenset((",", "and", ", and", "&", "or", ", or", "as well as", "and the", ", the"))
_FROM = frozenset(("since", "from", "starting", "starting in", "beginning in", "as of", "( since", ", since"))
_UNTIL = frozenset(("until", "till", "through", "up to", ", until", "( until"))
_AT = frozenset(("in", "on", "at", ", on", ", in", "(", "in the", "in early", "in late", "around", "during"))
_RANGE = frozenset(("to", "until", "till", "through", "and", "–", "-", "—"))
_TO = frozenset(("to", "to the", "to a", "to an", "over to"))
_BY_DATE = {"born in": "date of birth", "died in": "date of death"}
_DATED = frozenset(_BY_DATE.values())
_LONGEST_GAP = 9
_END = compiled("[.¶;]")
_START = itemgetter(0)
_TRUST = {"pronoun": PRONOUN, "phrase": ORDINARY}


class Sentence:
    """The spans of one sentence and the words between them."""

    def __init__(self, tokens: list[str], marks: str, spans: list[Span]) -> None:
        self.tokens, self.marks, self.spans = tokens, marks, spans

    def gap(self, left: int, right: int) -> str:
        """Return the words between two spans, in lower case; a long gap is no gap."""
        start, end = self.spans[left].end, self.spans[right].start
        return " ".join(self.tokens[start:end]).lower() if end - start <= _LONGEST_GAP else ""

    def facts(self, but: Collection[str] = ()) -> Iterator[Fact]:
        """Yield the facts that the patterns find, left to right, without those of some relations."""
        subject, at = -1, 0
        tied = -1  # the span that "is a" or another relation has just tied to the subject
        while at < len(self.spans) - 1:
            found, right, about = self._relation(at, subject)
            if found is None:
                at += 1
                continue
            if about != tied or not self._continues(found, about, right):
                subject = about
            if found.name not in but or found.name in _BY_DATE:  # a date makes another relation of it
                yield from self._typed(subject, found, right)
            if found.name == "is a" and right + 1 < len(self.spans) and not self.gap(right, right + 1):
                right += 1  # "an American | silent film": the noun goes with its adjective
            tied = at = right

    def _relation(self, left: int, subject: int) -> tuple[Relation | None, int, int]:
        """Find the farthest span that a known relation links to `left`, looking past ordinary phrases only."""
        spans = self.spans
        best: tuple[Relation | None, int, int] = (None, left, left)
        after = spans[left].end
        if self.tokens[after] not in FIRST_WORDS and self.marks[after - 1] != "P":
            return best
        for right in range(left + 1, min(left + 4, len(spans))):
            between = self.marks[spans[left].end : spans[right].start]
            gap = "" if between in _NO_RELATION else self.gap(left, right)
            if not gap:
                if between in _NO_RELATION and spans[right].form == "phrase":
                    continue
                break
            if spans[left].form != "date" and (found := self._own(left, gap)):
                best = (found, right, left)
            elif subject >= 0 and (shared := _after_and(gap)) and (found := relation(shared)):
                best = (found, right, subject)
            if spans[right].form != "phrase" and not (spans[right].form == "date" and gap.endswith((" a", " an"))):
                break
        return best

    def _continues(self, found: Relation, left: int, right: int) -> bool:
        """Whether a relation after an object is still about the subject: "X is a film directed by Y"."""
        if self.spans[left].form == "phrase":
            return not _FINITE.search(self.gap(left, right))
        return found.name in _OF_WORKS and not _FINITE.search(self.gap(left, right))

    def _own(self, left: int, gap: str) -> Relation | None:
        if self.tokens[self.spans[left].end - 1].endswith(("'s", "’s")):
            role = possessed(gap)
            # "Lily's new teacher is …" is so from now on, which a relation of any words does not know.
            return Relation(role, inverse=True) if role and not role.startswith("new ") else None
        return relation(gap)

    def _typed(self, left: int, found: Relation, right: int) -> Iterator[Fact]:
        spans = self.spans
        subject, target = spans[left], spans[right]
        if target.form == "date":
            found = replace(found, name=_BY_DATE.get(found.name, found.name))
            if found.name not in _DATED:
                return
        elif found.name in _DATED or target.form == "pronoun":
            return
        trust = _TRUST.get(subject.form, DIRECT)
        objects, after = [(target, found)], right
        if found.name == "moved from" and right + 1 < len(spans) and self.gap(right, right + 1) in _TO:
            objects.append((spans[right + 1], replace(found, name="moved to")))
            after = right + 1
        elif target.form != "date":
            for place in self._list(right):
                objects.append((spans[place], found))
                after = place
        begin, end = self._validity(after, found) if target.form != "date" else (None, None)
        for number, (item, kind) in enumerate(objects):
            name = self._class(item) if kind.name == "is a" else item.name
            ends = (name, subject.name) if kind.inverse else (subject.name, name)
            if ends[0] != ends[1]:
                label = f"formerly {kind.name}" if kind.ended and not end else kind.name
                confidence = trust if not number or kind is not found else min(trust, LISTED)
                yield Fact(ends[0], label, ends[1], begin, end, confidence)

    def _class(self, item: Span) -> str:
        """Return the class after "is a": of "an American silent film" it is "silent film"."""
        common = _COMMON.match(self.marks, item.end) if item.form == "name" else None
        if not common:
            return item.name
        start, end = common.span()
        return " ".join((*self.tokens[start : end - 1], singular(self.tokens[end - 1])))

    def _list(self, right: int) -> Iterator[int]:
        """Yield the spans listed after `right`: "A, B and C"; a span with a relation of its own is no part of it."""
        spans = self.spans
        form = spans[right].form
        for item in range(right + 1, len(spans)):
            if self.gap(item - 1, item) not in _LIST or spans[item].form != form:
                return
            if item + 1 < len(spans) and relation(self.gap(item, item + 1)):
                return
            yield item

    def _validity(self, right: int, found: Relation) -> tuple[str | None, str | None]:
        """Read the date or the two dates after the object, or the one before the subject."""
        spans = self.spans
        if right + 1 < len(spans) and spans[right + 1].form == "date":
            word, date = self.gap(right, right + 1), iso(spans[right + 1].name)
            if right + 2 < len(spans) and spans[right + 2].form == "date" and word in _FROM | _AT | {"between"}:
                link, other = self.gap(right + 1, right + 2), iso(spans[right + 2].name)
                if date and other and link in _RANGE and date <= other:
                    return date, other
            if date and word in _FROM | _AT:
                return (None, date) if found.ended else (date, None)
            if date and word in _UNTIL:
                return None, date
        first = spans[0]
        if first.form == "date" and first.start > 0 and (date := iso(first.name)):
            word = self.tokens[first.start - 1].lower()
            if word in ("in", "on", "since", "from"):
                return (None, date) if found.ended else (date, None)
            if word == "until":
                return None, date
        return None, None


def facts(
    tokens: list[str], marks: str, spans: list[Span], topic: str = "", but: Collection[str] = ()
) -> Iterator[Fact]:
    """Yield the facts of a text, sentence by sentence; a pronoun means the topic, or the last sentence's subject.

    Relations in `but` are left out.

    Examples
    --------
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> reading = read(Source("m1", Cleared("Our Immich depends on Redis and Postgres.")))
    >>> for fact in facts(reading.tokens, reading.marks, reading.spans):
    ...     print(fact.subject, "|", fact.relation, "|", fact.object)
    Immich | depends on | Redis
    Immich | depends on | Postgres
    """
    speaker = spans[0].name if spans and marks[spans[0].end : spans[0].end + 1] == ":" and not spans[0].start else ""
    pronouns = (
        [at for at, token in enumerate(tokens) if token in PRONOUNS and marks[at] in "sZI"]
        if not PRONOUNS.isdisjoint(tokens)
        else []
    )
    last, at, following = topic, 0, 0
    for end in [*(match.start() for match in _END.finditer(marks)), len(marks)]:
        first = at
        while at < len(spans) and spans[at].start < end:
            at += 1
        inside = spans[first:at]
        while following < len(pronouns) and pronouns[following] < end:
            place = pronouns[following]
            following += 1
            named = any(span.start <= place < span.end for span in spans[first:at])  # "Meneer It"
            if not named and (name := speaker if tokens[place] == "I" else last):
                inside.append(Span(place, place + 1, name, "pronoun"))
        if len(inside) > at - first:
            inside.sort(key=_START)
        if len(inside) > 1:
            yield from Sentence(tokens, marks, inside).facts(but)
        if not topic:
            last = next((span.name for span in inside if span.form in ("name", "code", "phrase")), last)


def _after_and(gap: str) -> str:
    """Return what follows "and" in "X did this and <did that to> Y"; empty where there is no such thing."""
    for link in ("and ", ", and ", ", then ", "but ", ", "):
        if gap.startswith(link):
            return gap[len(link) :]
    return ""
