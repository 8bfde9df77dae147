"""What models answer: JSON inside prose or fences, after a thought, cut off; grounded in each memory's own text.

Pure, never raises for a text, and counts what it leaves out.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from hopgate.extract.extraction import Extraction, Fact, Mention, Source, State, failed, found
from hopgate.extract.rules.dates import iso

MAX_NAME = 200
"""Longer names are sentences: no concept is called that."""
MAX_RELATION = 100
MODEL_CONFIDENCE = 0.9
MAX_STATEMENT, MOST_STATEMENTS = 2000, 3
"""A statement is a sentence: what is longer is a memory of its own. More than three of a memory say its text again."""
GROUNDED = 0.5
"""So much of a statement's words must stand in the memory or in what was told before it: the rest is grammar."""

_WORD = re.compile(r"\w+")
_ENDS = ("subject", "relation", "object")
_OPENS = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_CLOSES = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_COMMA = re.compile(r",(\s*[}\]])")
_OPENING = re.compile(r"[{\[]")
# Strings, whose brackets are none, and brackets.
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\]]', re.DOTALL)
_MOST_TRIES = 20  # prose with more brackets than this before its JSON is not an answer
_CLOSERS = {"{": "}", "[": "]"}
# What an answer has, and what an entry that stands alone has.
_KEYS = ("memories", "mentions", "facts", "statements", "ended")
# Makes an extraction of an entry; the last argument says why the entry is not whole, where it is not.
Read = Callable[[dict[str, Any], Source, str], Extraction]
Item = TypeVar("Item", Fact, Mention)
Key = tuple[str | None, ...]


def fold(name: str) -> str:
    """Fold case and punctuation away, as grounding and de-duplication compare names."""
    return " ".join(_WORD.findall(name.casefold()))


def read_answers(
    answer: str, sources: Sequence[Source], *, cut: bool = False, read: Read | None = None
) -> list[Extraction | None]:
    """Turn what a model wrote about some memories into an extraction of each. Pure.

    None stands for a memory that the answer has no whole entry of; of a single memory it says why there is nothing.
    `cut` is whether the model was stopped at its length limit.
    """
    by_id, problem, is_cut = read_entries(answer, len(sources), cut=cut)
    if len(sources) == 1 and not by_id:
        return [
            Extraction(state=State.TRUNCATED, reason=problem)
            if is_cut
            else failed(problem or "the answer holds no entry")
        ]
    # Of several the last one is left out where the answer was cut: what is here is whole.
    problem = problem if len(sources) == 1 else ""
    entries = [by_id.get(str(number)) for number in range(1, len(sources) + 1)]
    pairs = zip(entries, sources, strict=True)
    return [None if entry is None else (read or read_facts)(entry, source, problem) for entry, source in pairs]


def read_facts(entry: dict[str, Any], source: Source, problem: str) -> Extraction:
    """The mentions and facts of an entry that its memory grounds."""
    dropped: Counter[str] = Counter()
    ground = ground_of(source)
    facts = _kept("fact", entry.get("facts"), partial(_fact, ground, dropped), dropped)
    mentions = _kept("mention", entry.get("mentions"), partial(_mention, ground), dropped)
    for name in (name for fact in facts.values() for name in (fact.subject, fact.object)):
        mentions.setdefault((fold(name),), Mention(name))
    return _made(mentions.values(), facts.values(), dropped, problem)


def read_statements(entry: dict[str, Any], source: Source, problem: str) -> Extraction:
    """The statements of an entry that are made of its memory's words, as facts from subjects to sentences."""
    dropped: Counter[str] = Counter()
    ground = f"{ground_of(source)}{fold(' '.join(source.before))} "
    facts = [*_kept("statement", entry.get("statements"), partial(_statement, ground), dropped).values()]
    dropped[f"statement beyond the first {MOST_STATEMENTS}"] += len(facts[MOST_STATEMENTS:])
    return _made((), facts[:MOST_STATEMENTS], dropped, problem)


def _made(mentions: Iterable[Mention], facts: Iterable[Fact], dropped: Counter[str], problem: str) -> Extraction:
    """What was read of an entry; where there was a problem it is not whole."""
    counts = tuple(sorted((+dropped).items()))  # + leaves zeros out
    if problem:
        return Extraction(tuple(mentions), tuple(facts), State.TRUNCATED, problem, dropped=counts)
    nothing = "nothing in the answer could be kept" if counts else "the model found nothing"
    return replace(found(mentions, facts, reason=nothing), dropped=counts)


def _kept(what: str, items: Any, read: Callable[[Any], Item | str], dropped: Counter[str]) -> dict[Key, Item]:
    """What can be kept of a list in an answer, each once; the rest is counted by what it lacks."""
    kept: dict[Key, Item] = {}
    for item in items if isinstance(items, list) else ():
        read_item = read(item)
        if isinstance(read_item, str):
            dropped[read_item] += 1
        elif kept.setdefault(_key(read_item), read_item) is not read_item:
            dropped[f"repeated {what}"] += 1
    return kept


def _key(item: Fact | Mention) -> Key:
    """What two of a kind have in common that say the same."""
    if isinstance(item, Mention):
        return (fold(item.name),)
    return (fold(item.subject), fold(item.relation), fold(item.object), item.valid_from, item.valid_to)


def ground_of(source: Source) -> str:
    """The folded words of which names must be made, with a space at both ends."""
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


def _fact(ground: str, dropped: Counter[str], item: Any) -> Fact | str:
    subject, relation, target = (clean(item.get(part)) if isinstance(item, dict) else "" for part in _ENDS)
    if not (subject and relation and target):
        return "fact without a subject, relation or object"
    if len(relation) > MAX_RELATION or max(len(subject), len(target)) > MAX_NAME:
        return "over-long fact"
    if not (grounded(subject, ground) and grounded(target, ground)):
        return "ungrounded fact"
    return Fact(subject, relation, target, *_interval(item, dropped), MODEL_CONFIDENCE)


def _mention(ground: str, item: Any) -> Mention | str:
    given = item if isinstance(item, dict) else {"name": item}
    name = clean(given.get("name"))
    if not name or len(name) > MAX_NAME:
        return "mention without a usable name"
    return Mention(name, clean(given.get("kind"))[:40].lower()) if grounded(name, ground) else "ungrounded mention"


def _statement(ground: str, item: Any) -> Fact | str:
    given = item if isinstance(item, dict) else {}
    sentence, subject = clean(given.get("statement")), clean(given.get("subject"))
    words = fold(sentence).split()
    if not words or len(sentence) > MAX_STATEMENT:
        return "statement without a usable sentence"
    if sum(f" {word} " in ground for word in words) < GROUNDED * len(words):
        return "ungrounded statement"
    about = subject if len(subject) <= MAX_NAME and grounded(subject, ground) else ""
    return Fact(about, "states", sentence, iso(clean(given.get("valid_from"))), None, MODEL_CONFIDENCE)


def _interval(item: dict[str, Any], dropped: Counter[str]) -> tuple[str | None, str | None]:
    """Read the two dates; what is no date, or an interval that ends before it begins, is counted and left out."""
    texts = [clean(item.get(key)) for key in ("valid_from", "valid_to")]
    begin, end = map(iso, texts)
    given = [text for text in texts if text and text.lower() not in ("null", "none", "unknown")]
    dropped["bad date"] += sum(iso(text) is None for text in given)
    if begin and end and begin > end:
        dropped["bad date"] += 1
        return None, None
    return begin, end


class Entries(NamedTuple):
    """What a model answered about several memories: the entries by their ids, and why there are none or not all."""

    by_id: dict[str, dict[str, Any]]
    problem: str = ""
    is_cut: bool = False


def read_entries(answer: str, count: int, *, cut: bool = False) -> Entries:
    """Read the entries of an answer about `count` memories, whose ids are 1, 2, ….

    Of several the last one is left out where the answer was cut, since it may have lost its end. About one memory a
    model may answer without a list and an id.
    """
    text, thinking = without_thoughts(answer)
    parsed = first_json(text, _KEYS)
    if parsed is None:
        if thinking:
            return Entries({}, "the model was still thinking when it stopped", is_cut=True)
        if cut:
            return Entries({}, "the answer was cut before any JSON was whole", is_cut=True)
        return Entries({}, "the answer holds no JSON" if text else "the answer is blank")
    value, broken = parsed
    if isinstance(value, dict) and ("$schema" in value or "properties" in value):
        return Entries({}, "the answer is the schema, echoed")
    problem = "stopped at the length limit" if cut else "the JSON was cut off" if broken else ""
    listed = value.get("memories") if isinstance(value, dict) else value
    if count == 1:
        first = listed[0] if isinstance(listed, list) and listed else value
        return Entries({"1": first} if isinstance(first, dict) else {}, problem, bool(problem))
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    if problem and entries:
        entries.pop()
    # An id that comes twice says nothing about which of the two was meant.
    times = Counter(str(entry.get("id")) for entry in entries)
    once = {key: entry for entry in entries if times[key := str(entry.get("id"))] == 1}
    return Entries(once, problem, bool(problem))


def without_thoughts(text: str) -> tuple[str, bool]:
    """Take a model's thoughts out of its answer; also return whether the last one was left open."""
    # A chat template may have opened the thought in the prompt already.
    end = max((match.end() for match in _CLOSES.finditer(text)), default=0)
    opened = _OPENS.search(text, end)
    return text[end : opened.start() if opened else None].strip(), opened is not None


def first_json(text: str, keys: tuple[str, ...] = ()) -> tuple[Any, bool] | None:
    """Return the first JSON object or list in a text, and whether it was cut off; None where there is none.

    An object with one of the `keys` goes before what has none of them.
    """
    first: tuple[Any, bool] | None = None
    at = tries = 0
    while tries < _MOST_TRIES and (opening := _OPENING.search(text, at)):
        end, closers, is_whole = _extent(text, opening.start())
        value = _lenient(text[opening.start() : end] + closers)
        at, tries = opening.end(), tries + 1
        if isinstance(value, dict | list):
            if isinstance(value, dict) and any(key in value for key in keys):
                return value, not is_whole
            first = first or (value, not is_whole)
            at = end if is_whole else len(text)
    return first


def _extent(text: str, start: int) -> tuple[int, str, bool]:
    """Find where the value that opens at `start` ends, or else where its last whole element does and what closes it."""
    closers: list[str] = []
    end, missing = start, ""
    for mark in _MARK.finditer(text, start):
        if mark[0] in _CLOSERS:
            closers.append(_CLOSERS[mark[0]])
        elif mark[0] in ("}", "]"):
            closers.pop()
        if (mark[0] in _CLOSERS and len(closers) == 1) or mark[0] in ("}", "]"):
            end, missing = mark.end(), "".join(reversed(closers))
        if not closers:
            return end, "", True
    return end, missing, False


def _lenient(text: str) -> Any:
    """Read JSON; forgive commas before brackets and raw line ends in strings."""
    for attempt in (text, _COMMA.sub(r"\1", text)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None
