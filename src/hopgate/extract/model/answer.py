"""A model's answer to an extraction: grounded in each memory's own text, without repetitions, and counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hopgate.extract.dates import iso
from hopgate.extract.extraction import Extraction, Fact, Mention, Source, State, failed, found
from hopgate.extract.model.json_answer import read_entries

MAX_NAME = 200
"""Longer names are sentences: no concept is called that."""
MAX_RELATION = 100
MODEL_CONFIDENCE = 0.9

_WORD = re.compile(r"\w+")
_ENDS = ("subject", "relation", "object")


def fold(name: str) -> str:
    """Fold case and punctuation away, as grounding and de-duplication compare names.

    Examples
    --------
    >>> fold("  The N.A.S., (old) ")
    'the n a s old'
    """
    return " ".join(_WORD.findall(name.casefold()))


def read_answers(answer: str, sources: Sequence[Source], *, cut: bool = False) -> list[Extraction | None]:
    """Turn what a model wrote about some memories into an extraction of each. Pure.

    None stands for a memory that the answer has no whole entry of; of a single memory it says why there is nothing.

    Parameters
    ----------
    answer : str
        The model's text, whatever it is.
    cut : bool
        Whether the model was stopped at its length limit.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> sources = [Source("m1", Cleared("Ada owns the NAS.")), Source("m2", Cleared("It hums."))]
    >>> fact = '{"subject": "Ada", "relation": "owns", "object": "NAS"}'
    >>> invented = '{"subject": "Bob", "relation": "owns", "object": "NAS"}'
    >>> entry = '{"id": "1", "mentions": [], "facts": [%s, %s, %s]}' % (fact, fact, invented)
    >>> first, second = read_answers('{"memories": [%s]}' % entry, sources)
    >>> first.facts, second
    ((Fact(subject='Ada', relation='owns', object='NAS', valid_from=None, valid_to=None, confidence=0.9),), None)
    >>> first.dropped
    (('repeated fact', 1), ('ungrounded fact', 1))
    """
    entries = read_entries(answer, len(sources), cut=cut)
    if len(sources) > 1:
        known = [entries.by_id.get(str(number)) for number in range(1, len(sources) + 1)]
        return [_read(entry, source) if entry else None for entry, source in zip(known, sources, strict=True)]
    if not entries.by_id:
        return [Extraction(state=State.TRUNCATED, reason=entries.problem) if entries.is_cut else failed(
            entries.problem or "the answer holds no entry")]  # fmt: skip
    return [_read(entries.by_id["1"], sources[0], entries.problem)]


def _read(entry: dict[str, Any], source: Source, problem: str = "") -> Extraction:
    """An entry of an answer as the extraction of its memory; where there was a problem it is not whole."""
    dropped: Counter[str] = Counter()
    ground = ground_of(source)
    facts = tuple(_facts(entry.get("facts"), ground, dropped))
    mentions = tuple(_mentions(entry.get("mentions"), facts, ground, dropped))
    counts = tuple(sorted((+dropped).items()))  # + leaves zeros out
    if problem:
        return Extraction(mentions, facts, State.TRUNCATED, problem, dropped=counts)
    if mentions or facts:
        return Extraction(mentions, facts, State.COMPLETE, dropped=counts)
    reason = "nothing in the answer could be kept" if counts else "the model found nothing"
    return Extraction(state=State.EMPTY, reason=reason, dropped=counts)


def merged(parts: Iterable[Extraction]) -> Extraction:
    """Join the extractions of a text's parts; the whole is as good as its worst part.

    Examples
    --------
    >>> merged([Extraction((Mention("a"),), (), State.COMPLETE), Extraction(state=State.EMPTY)]).state.value
    'complete'
    """
    parts = list(parts)
    mentions = {fold(mention.name): mention for part in reversed(parts) for mention in reversed(part.mentions)}
    facts = {_key(fact): fact for part in reversed(parts) for fact in reversed(part.facts)}
    whole = found(reversed(mentions.values()), reversed(facts.values()), reason="the model found nothing")
    worst = next((part for part in parts if not part.state.done), whole)
    state = State.TRUNCATED if worst.state is State.FAILED and whole.state is State.COMPLETE else worst.state
    dropped = sum((Counter(dict(part.dropped)) for part in parts), Counter[str]())
    tokens = (sum(part.prompt_tokens for part in parts), sum(part.answer_tokens for part in parts))
    return Extraction(whole.mentions, whole.facts, state, worst.reason, *tokens, tuple(sorted(dropped.items())))


def ground_of(source: Source) -> str:
    """The folded words of which names must be made, with a space at both ends.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> ground_of(Source("m1", Cleared("I moved."), ("leeds",), owner="Ada"))
    ' i moved leeds ada '
    """
    return f" {fold(' '.join((source.text, *source.tags, *source.keywords, source.owner)))} "


def grounded(name: str, ground: str) -> bool:
    """Whether a name occurs in a folded text that has a space at both ends."""
    folded = fold(name)
    return bool(folded) and f" {folded} " in ground


def clean(value: Any) -> str:
    """Return a string without control characters, and nothing for what is no text or was broken on its way."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or "\ufffd" in value:
        return ""
    return " ".join("".join(" " if mark < " " else mark for mark in value).encode("utf-8", "ignore").decode().split())


def _facts(items: Any, ground: str, dropped: Counter[str]) -> Iterator[Fact]:
    seen: set[tuple[str | None, ...]] = set()
    for item in items if isinstance(items, list) else ():
        subject, relation, target = (clean(item.get(part)) if isinstance(item, dict) else "" for part in _ENDS)
        if not (subject and relation and target):
            dropped["fact without a subject, relation or object"] += 1
        elif len(relation) > MAX_RELATION or max(len(subject), len(target)) > MAX_NAME:
            dropped["over-long fact"] += 1
        elif not (grounded(subject, ground) and grounded(target, ground)):
            dropped["ungrounded fact"] += 1
        else:
            fact = Fact(subject, relation, target, *_interval(item, dropped), MODEL_CONFIDENCE)
            if _key(fact) in seen:
                dropped["repeated fact"] += 1
                continue
            seen.add(_key(fact))
            yield fact


def _mentions(items: Any, facts: Iterable[Fact], ground: str, dropped: Counter[str]) -> Iterator[Mention]:
    seen: set[str] = set()
    for item in items if isinstance(items, list) else ():
        name = clean(item.get("name") if isinstance(item, dict) else item)
        if not name or len(name) > MAX_NAME:
            dropped["mention without a usable name"] += 1
        elif not grounded(name, ground):
            dropped["ungrounded mention"] += 1
        elif fold(name) in seen:
            dropped["repeated mention"] += 1
        else:
            seen.add(fold(name))
            yield Mention(name, clean(item.get("kind"))[:40].lower() if isinstance(item, dict) else "")
    for fact in facts:
        for name in (fact.subject, fact.object):
            if fold(name) not in seen:
                seen.add(fold(name))
                yield Mention(name)


def _interval(item: dict[str, Any], dropped: Counter[str]) -> tuple[str | None, str | None]:
    """Read the two dates; what is no date, or an interval that ends before it begins, is counted and left out."""
    dates: list[str | None] = []
    for key in ("valid_from", "valid_to"):
        text = clean(item.get(key))
        date = iso(text) if text else None
        dropped["bad date"] += bool(text) and date is None and text.lower() not in ("null", "none", "unknown")
        dates.append(date)
    begin, end = dates
    if begin and end and begin > end:
        dropped["bad date"] += 1
        return None, None
    return begin, end


def _key(fact: Fact) -> tuple[str | None, ...]:
    return (fold(fact.subject), fold(fact.relation), fold(fact.object), fact.valid_from, fact.valid_to)
