"""What memories show of their words together: which are names in lower case, because they are introduced or recur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.lower_names import BARE, PREPOSITIONS, RARE, SMALL, WORD, introduced, is_rare, rare_at
from hopgate.extract.rules.lower_slots import beside_known
from hopgate.extract.rules.words import words

# "Kanboard: host lotus" is no turn of a talk.
_SAID_OF_THINGS = words("host server node machine runs running hosted on owner lead due moved now new price costs is")
_CHANGED = words(table("changes")["change"]) | words("-> → => ➜")
_MACHINERY = frozenset(("service", "host"))
_IN_CAPITALS = frozenset(("person", "organisation", "place"))


@lru_cache(maxsize=32768)
def _is_lower_word(token: str) -> bool:
    return token.islower() and bool(WORD.fullmatch(token))


@dataclass(slots=True)
class Survey:
    """What memories show of their words: counted over all of them, asked for one.

    Examples
    --------
    >>> survey = Survey()
    >>> for text in ("immich runs on cedar .", "rebooted cedar", "a cedar table"):
    ...     survey.add(text.split(), "en", "")
    >>> survey.names("cedar is slow".split(), "en")
    {'cedar': 'host'}
    """

    introduced: dict[str, str] = field(default_factory=dict)
    capitals: Counter[str] = field(default_factory=Counter)
    lower: Counter[str] = field(default_factory=Counter)
    bare: Counter[str] = field(default_factory=Counter)
    starts: set[str] = field(default_factory=set)
    speakers: Counter[str] = field(default_factory=Counter)

    def add(
        self, tokens: list[str], code: str, marks: str, tags: Iterable[str] = (), lower: list[str] | None = None
    ) -> None:
        """Count one memory; `lower` are its tokens in lower case, where these are known."""
        if lower is None:
            lower = [token.lower() for token in tokens]
        for name, kind in introduced(tokens, lower, tags).items():
            if self.introduced.get(name) != "service":  # an arrow makes hosts of both its ends, also of a service
                self.introduced[name] = kind
        self.lower.update(filter(_is_lower_word, set(tokens)))
        if not PREPOSITIONS.isdisjoint(lower):
            for before, token, word in zip(lower, tokens[1:], lower[1:], strict=False):
                if before in PREPOSITIONS and token.islower():
                    self.bare[word] += 1
        speaks = len(tokens) > 2 and tokens[1] == ":" and tokens[0][0].isupper() and lower[0] not in SMALL
        # Nor is "Treasurer: Winifred".
        if speaks and lower[2] not in _SAID_OF_THINGS and any(map(str.islower, tokens[2:])):
            self.speakers[lower[0]] += 1
        self.starts.update([word for word, token in zip(lower, tokens, strict=True) if token[0].isupper()])
        if code != "de":
            inside = zip(marks, marks[1:], lower[1:], strict=False)
            self.capitals.update({word for before, mark, word in inside if mark == "U" and before not in '.¶":(->'})

    def merge(self, later: Survey) -> None:
        """Take in a survey of memories that come after those of this one."""
        self.introduced |= later.introduced
        for mine, theirs in (
            (self.capitals, later.capitals), (self.lower, later.lower), (self.bare, later.bare),
            (self.speakers, later.speakers),
        ):  # fmt: skip
            mine.update(theirs)
        self.starts |= later.starts

    def names(self, tokens: Iterable[str], code: str) -> dict[str, str]:
        """Give those of a memory's words that all memories show to be names, in lower case, with their kinds."""
        found: dict[str, str] = {}
        # `get`: asking a Counter for what it has not is slow, and this is asked of every word of every memory.
        capitals, lower, bare = self.capitals.get, self.lower.get, self.bare.get
        for token in dict.fromkeys(tokens):
            word = token.lower()
            if "'" in word or "’" in word:
                word = word.replace("’", "'").removesuffix("'s")
            if word in found:
                continue
            kind = self.introduced.get(word)
            if kind is not None and not (kind in _IN_CAPITALS and token.islower()):
                found[word] = kind
            elif token[:1].isupper():
                if self.speakers.get(word, 0) > 1:
                    found[word] = "person"
                elif capitals(word, 0) > lower(word, 0):
                    found[word] = ""
            elif lower(word, 0) > 1 and (
                is_rare(word, code, RARE) or (bare(word, 0) > 1 and is_rare(word, code, BARE))
            ):
                found[word] = ""
        if not _MACHINERY.isdisjoint(found.values()):
            given = list(tokens)
            lowered = [token.lower() for token in given]
            if not _CHANGED.isdisjoint(lowered):
                for word in beside_known(given, lowered, rare_at):
                    found.setdefault(word, "host")
        return found
