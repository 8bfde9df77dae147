"""What memories show of their words together: names in lower case, because they are introduced or recur, and people."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from hopgate.extract.extraction import Source, sources
from hopgate.extract.rules.tokens import analysed, letter
from hopgate.extract.rules.words import (
    KIN,
    LANGUAGES,
    SMALL,
    filled,
    is_given,
    is_room,
    needed_words,
    table,
    word_sets,
    zipf,
)
from hopgate.memory import Cleared, Memory, thread_of

LONGEST_TEXT = 2000
"""Of a longer text only so many tokens are searched for what they introduce."""
# By zipf: what is rarer is a name when it is met in two memories, or where one introduces it.
RARE, INTRODUCED = 2.5, 4.2
WORD = re.compile(r"[^\W\d_][^\W_]*(?:-[^\W_]+)*")
# Letters of tokens after which a capital begins a sentence or a heading.
BEFORE_START = frozenset('.¶":(->#')
_CALENDAR = frozenset(
    word
    for language in LANGUAGES.values()
    for word in (*language.months, *language.days, *(f"{day}s" for day in language.days), *language.shifts)
)
_ENDINGS = ("ed", "ing", "er", "ers", "ly", "ish", "y", "ness", "able", "less", "d", "es", "ier")
_TABLE = table("names")
_WORDS = word_sets("names")
_IN_CAPITALS = frozenset(("person", "organisation", "place"))
_KINDS = {"service": "service", "host": "host", "name": "", "label": "", **{kind: kind for kind in _IN_CAPITALS}}


def _templates() -> Iterator[tuple[re.Pattern[str], tuple[frozenset[str], ...]]]:
    """The ways to introduce names, each with sets of words of each of which a note must have one."""
    rows = _TABLE["introduced"]
    articles = ("the", "my", "our", "der", "die", "das", "het", "his", "her", " a")
    word = "".join(f"(?<!{article} )" for article in articles) + WORD.pattern
    groups = {name: group for name, group in rows.items() if name != "templates"}
    for raw in (filled(template, groups) for template in rows["templates"]):
        regex = re.sub(r"\{(\w+)\}", lambda slot: f"(?P<{slot[1]}>{word})", raw)
        yield re.compile(rf"(?<![^ \n]){regex}(?![^ ])"), needed_words(re.sub(r"\{\w+\}", " ", raw))


_TEMPLATES = tuple(_templates())


@lru_cache(maxsize=32768)
def is_rare(word: str, code: str, limit: float) -> bool:
    """Whether a word in lower case is rare enough, in its note's language and in English, to be a name."""
    if len(word) < 3 or word in SMALL or word in _CALENDAR or not WORD.fullmatch(word):
        return False
    parts = word.split("-")
    is_common = all(len(part) < 3 or max(zipf(part, code), zipf(part, "en")) > 3 for part in parts)
    if is_common and len(parts) > 1 and len(parts[-1]) > 1:
        return False  # "follow-up"
    stem = word.removesuffix("s")
    return all(max(zipf(word, one), zipf(stem, one)) < limit for one in {code, "en"})


def introduced(tokens: list[str], lower: list[str], tags: Iterable[str] = ()) -> dict[str, str]:
    """Give the words that this text makes names, with their kinds: "X runs on Y", "X: A -> B", "called X", "X = Y"."""
    found: dict[str, str] = {}
    said, given = set(lower), set(tokens)
    text = " ".join(lower[:LONGEST_TEXT])
    for regex, needs in _TEMPLATES:
        for match in regex.finditer(text) if not any(map(said.isdisjoint, needs)) else ():
            names = {key: name for key, name in match.groupdict().items() if name}
            wrong = {key for key, name in names.items() if not _can_be(key.rstrip("2"), name, given)}
            # "The minecraft server runs on waffle": the host is named, though what runs there is not by one word.
            if wrong and not all(key.startswith("service") for key in wrong):
                continue
            for key, name in names.items():
                if key not in wrong and not found.get(name):
                    found[name] = _KINDS[key.rstrip("2")]
    for at, token in enumerate(tokens):
        is_software = "-" in token and token.islower() and token.rpartition("-")[2] in _WORDS["software"]
        if is_software and (not at or lower[at - 1] not in ("a", "an", "some", "any")):
            found.setdefault(token, "")  # billing-api
    for tag in {tag.lower() for tag in tags} & given:
        if is_rare(tag, "en", 3.2):
            found.setdefault(tag, "")
    return found


def _can_be(kind: str, word: str, given: set[str]) -> bool:
    """Whether a word can be a name of a kind: people, firms and towns have a capital, the others are rare."""
    if kind in _IN_CAPITALS:
        return word.capitalize() in given and word not in SMALL and word not in KIN
    limit = {"name": 3.0, "label": 9.0}.get(kind, INTRODUCED)
    if kind == "service" and word.capitalize() in given:
        return is_rare(word, "en", INTRODUCED)  # it has a capital, and is found by that
    is_named = word in given and word not in _WORDS["machines"] and word not in KIN and not is_room(word)
    is_named = is_named and letter(word) not in "scdN" and is_rare(word, "en", limit)
    return is_named and (kind == "host" or not is_given(word))


def lower_places(tokens: list[str], known: Iterable[str], code: str) -> Iterator[int]:
    """Yield where names in lower case stand: known ones, and words that no language has."""
    wanted = set(known)
    for at, token in enumerate(tokens):
        if not token[0].isalpha() or not token.islower():
            continue
        word = token.replace("’", "'").removesuffix("'s")
        if word in wanted or (len(word) > 4 and letter(token) in "we" and is_unknown(word, code)):
            yield at


@lru_cache(maxsize=32768)
def is_unknown(word: str, code: str) -> bool:
    """Whether no language knows a word, nor what it is derived from: then it is a name even where it stands once."""
    if code in ("de", "nl") or "-" in word or re.search(r"(.)\1\1", word):
        return False
    if not is_rare(word, code, 2.0) or zipf(word, "common"):
        return False
    stems = [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]
    if any(max(zipf(stem, "en"), zipf(stem + "e", "en"), zipf(stem + "y", "en")) > 2 for stem in stems):
        return False
    # Two known words written together ("doorbell") are a word; the service names of that form recur or are introduced.
    return not any(zipf(word[:at], "en") > 3.3 and zipf(word[at:], "en") > 3.3 for at in range(3, len(word) - 2))


@dataclass(slots=True)
class Survey:
    """What memories show of their words: counted over all of them, asked for one."""

    introduced: dict[str, str] = field(default_factory=dict)
    capitals: Counter[str] = field(default_factory=Counter)
    lower: Counter[str] = field(default_factory=Counter)
    starts: set[str] = field(default_factory=set)

    def add(self, source: Source) -> None:
        """Count one memory."""
        tokens, lower, marks, code = analysed(source.text)
        for name, kind in introduced(tokens, lower, (*source.tags, source.title or "")).items():
            if self.introduced.get(name) != "service":  # an arrow makes hosts of both its ends, also of a service
                self.introduced[name] = kind
        self.lower.update(token for token in set(tokens) if token.islower() and WORD.fullmatch(token))
        self.starts.update([word for word, token in zip(lower, tokens, strict=True) if token[0].isupper()])
        if code != "de":
            inside = zip(marks, marks[1:], lower[1:], strict=False)
            self.capitals.update({word for before, mark, word in inside if mark == "U" and before not in BEFORE_START})

    def merge(self, later: Survey) -> None:
        """Take in a survey of memories that come after those of this one."""
        self.introduced |= later.introduced
        self.capitals.update(later.capitals)
        self.lower.update(later.lower)
        self.starts |= later.starts

    def known(self, source: Source) -> tuple[tuple[str, str], ...]:
        """Give the words of a source that memories show to be names, beside those that it knows already."""
        tokens, _, _, code = analysed(source.text)
        found: dict[str, str] = {}
        for token in dict.fromkeys(tokens):
            word = token.lower().replace("’", "'").removesuffix("'s")
            kind = self.introduced.get(word)
            lower = self.lower.get(word, 0)
            if kind is not None and not (kind in _IN_CAPITALS and token.islower()):
                found.setdefault(word, kind)
            elif token[:1].isupper():
                if self.capitals.get(word, 0) > lower:
                    found.setdefault(word, "")
            elif lower > 1 and is_rare(word, code, RARE):
                found.setdefault(word, "")
        # A rare word that several notes have is a name, but not where things are kept: "in the carport".
        shown = {name: kind for name, kind in found.items() if kind or not is_room(name)}
        return tuple(sorted((shown | dict(source.known)).items()))


# Sources that know of each other. In a store that grows, `graph/build` asks the store instead of a survey.

# In a thread a name and a colon start what somebody says.
_SPEAKER = re.compile(r"([^\W\d_][\w'’-]{0,30}):\s")
# A pronoun means somebody of these last turns, or nobody.
TURNS = 4


def with_turns(memories: Iterable[Memory]) -> list[Source]:
    """Give each memory of a thread the turns before it, in the order in which they were written."""
    memories = list(memories)
    threads: dict[tuple[str, str], list[Source]] = defaultdict(list)
    made: dict[str | int, Source] = {source.memory_id: source for source in sources(memories)}
    for memory in memories:
        if (thread := thread_of(memory)) and (source := made.get(memory.external_id)):
            if speaker := _SPEAKER.match(source.text):
                source = replace(source, known=((speaker[1].lower(), "person"),))
            made[source.memory_id] = source
            threads[memory.scope or "", thread].append(source)
    for turns in threads.values():
        turns.sort(key=lambda source: source.created_at.timestamp() if source.created_at else 0.0)
        for at, source in enumerate(turns):
            before: tuple[Cleared, ...] = tuple(turn.text for turn in turns[max(0, at - TURNS) : at])
            made[source.memory_id] = replace(source, before=before)
    return list(made.values())
