"""A model's answer to an extraction: read, repaired, grounded in the text, without repetitions, and counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from hopgate.extract.dates import iso
from hopgate.extract.extraction import Extraction, Fact, Mention, Source, State, failed
from hopgate.extract.model.repair import first_json, without_thoughts

MAX_NAME = 200
"""Longer names are sentences: no concept is called that."""
MAX_RELATION = 100
MODEL_CONFIDENCE = 0.9

_WORD = re.compile(r"\w+")
_MENTION_KEYS = ("mentions", "entities", "named_entities")
_FACT_KEYS = ("facts", "triples", "relations")


def fold(name: str) -> str:
    """Fold case and punctuation away, as grounding and de-duplication compare names.

    Examples
    --------
    >>> fold("  The N.A.S., (old) ")
    'the n a s old'
    """
    return " ".join(_WORD.findall(name.casefold()))


def read_answer(answer: str, source: Source, *, cut: bool = False) -> Extraction:
    """Turn what a model wrote about a source into an extraction. Pure.

    Parameters
    ----------
    answer : str
        The model's text, whatever it is.
    cut : bool
        Whether the model was stopped at its length limit.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("Ada owns the NAS."))
    >>> fact = '{"subject": "Ada", "relation": "owns", "object": "NAS"}'
    >>> invented = '{"subject": "Bob", "relation": "owns", "object": "NAS"}'
    >>> extraction = read_answer('{"mentions": [], "facts": [%s, %s, %s]}' % (fact, fact, invented), source)
    >>> extraction.facts
    (Fact(subject='Ada', relation='owns', object='NAS', valid_from=None, valid_to=None, confidence=0.9),)
    >>> extraction.dropped
    (('repeated fact', 1), ('ungrounded fact', 1))
    >>> read_answer("I am only a model.", source).reason
    'the answer holds no JSON'
    """
    text, thinking = without_thoughts(answer)
    found = first_json(text, (*_MENTION_KEYS, *_FACT_KEYS))
    if not text or found is None or _is_schema(found[0]):
        return _useless(text, thinking, cut, echoed=found is not None)
    value, broken = found
    dropped: Counter[str] = Counter()
    ground = f" {fold(' '.join((source.text, *source.tags, *source.keywords)))} "
    facts = tuple(_facts(_items(value, _FACT_KEYS), ground, dropped))
    mentions = tuple(_mentions(_items(value, _MENTION_KEYS), facts, ground, dropped))
    counts = tuple(sorted((+dropped).items()))  # + leaves zeros out
    if cut or broken:
        reason = "stopped at the length limit" if cut else "the JSON was cut off"
        return Extraction(mentions, facts, State.TRUNCATED, reason, dropped=counts)
    if mentions or facts:
        return Extraction(mentions, facts, State.COMPLETE, dropped=counts)
    reason = "nothing in the answer could be kept" if counts else "the model found nothing"
    return Extraction(state=State.EMPTY, reason=reason, dropped=counts)


def _useless(text: str, thinking: bool, cut: bool, *, echoed: bool) -> Extraction:
    """Say why there is nothing to read in an answer."""
    if echoed:
        return failed("the answer is the schema, echoed")
    if thinking:
        return Extraction(state=State.TRUNCATED, reason="the model was still thinking when it stopped")
    if cut:
        return Extraction(state=State.TRUNCATED, reason="the answer was cut before any JSON was whole")
    return failed("the answer holds no JSON" if text else "the answer is blank")


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
    worst = next((part for part in parts if not part.state.done), None)
    dropped: Counter[str] = Counter()
    for part in parts:
        dropped.update(dict(part.dropped))
    state = worst.state if worst else State.COMPLETE if mentions or facts else State.EMPTY
    if state is State.FAILED and (mentions or facts):
        state = State.TRUNCATED
    return Extraction(
        tuple(reversed(mentions.values())),
        tuple(reversed(facts.values())),
        state,
        worst.reason if worst else "" if mentions or facts else "the model found nothing",
        sum(part.prompt_tokens for part in parts),
        sum(part.answer_tokens for part in parts),
        tuple(sorted(dropped.items())),
    )


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict) and ("$schema" in value or "properties" in value) and "facts" not in value


def _items(value: Any, keys: tuple[str, ...]) -> list[Any]:
    """Find the list under one of the keys; a bare list may hold both, and its items are sorted out later."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    for key in keys:
        if isinstance(value.get(key), list):
            return list(value[key])
    return [value] if keys is _FACT_KEYS and "subject" in value else []


def _facts(items: list[Any], ground: str, dropped: Counter[str]) -> Iterator[Fact]:
    seen: set[tuple[str | None, ...]] = set()
    for item in items:
        if isinstance(item, list) and len(item) == 3:
            item = dict(zip(("subject", "relation", "object"), item, strict=True))  # noqa: PLW2901
        if not isinstance(item, dict):
            dropped["not a fact"] += isinstance(item, list) or item is None
            continue
        if "name" in item and "relation" not in item:
            continue
        ends = [clean(item.get(part, item.get("predicate") if part == "relation" else None)) for part in _PARTS]
        if not all(ends):
            dropped["fact without a subject, relation or object"] += 1
            continue
        subject, relation, target = ends
        if len(relation) > MAX_RELATION or max(len(subject), len(target)) > MAX_NAME:
            dropped["over-long fact"] += 1
            continue
        if not (grounded(subject, ground) and grounded(target, ground)):
            dropped["ungrounded fact"] += 1
            continue
        begin, end = _interval(item, dropped)
        fact = Fact(subject, relation, target, begin, end, MODEL_CONFIDENCE)
        if _key(fact) in seen:
            dropped["repeated fact"] += 1
            continue
        seen.add(_key(fact))
        yield fact


_PARTS = ("subject", "relation", "object")


def _mentions(items: list[Any], facts: tuple[Fact, ...], ground: str, dropped: Counter[str]) -> Iterator[Mention]:
    seen: set[str] = set()
    for item in items:
        if isinstance(item, dict) and "subject" in item:
            continue
        named = item.get("name", item.get("text")) if isinstance(item, dict) else item
        name = clean(named)
        if not name or len(name) > MAX_NAME:
            dropped["mention without a usable name"] += not isinstance(item, list)
            continue
        if not grounded(name, ground):
            dropped["ungrounded mention"] += 1
            continue
        if fold(name) in seen:
            dropped["repeated mention"] += 1
            continue
        seen.add(fold(name))
        yield Mention(name, clean(item.get("kind", item.get("type")))[:40].lower() if isinstance(item, dict) else "")
    for fact in facts:
        for name in (fact.subject, fact.object):
            if fold(name) not in seen:
                seen.add(fold(name))
                yield Mention(name)


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
