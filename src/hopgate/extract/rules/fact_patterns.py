"""The patterns of `tables/facts.toml`, ready to be matched against an encoded sentence (see `clauses`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hopgate.extract.rules.languages import table
from hopgate.extract.rules.words import words

_ONE = r"⟨(?:team )?\d+⟩"
_NAMES = rf"{_ONE}(?:(?: , {_ONE})*(?: ,)? (?:and|&|und|et|y|e|en|sowie|plus) (?:the )?{_ONE})?(?: both| beide)?"
_PRONOUNS = (
    "i|he|she|they|it|both|him|her|them|ich|er|sie|es|beide|je|il|elle|ils|elles|yo|él|ella|io|lui|lei|ik|hij|zij|ze|eu|ele|ela|j"
)
# Words that neither begin nor continue a common noun.
_NOT_NOUN = (
    "is|are|was|were|be|been|has|have|had|and|or|but|that|which|who|not|so|to|of|in|on|at|by|for|from|with|as|it|he|she|they|we|"
    "you|i|this|there|if|when|do|does|did|will|would|can|could|may|what|where|ist|sind|und|oder|nicht|ich|er|sie|es|wir|im|am|"
    "auf|bei|von|zu|mit|est|et|il|elle|je|en|y|que|se|no|si|e|che|non|di|van|op|bij|also|then|one|mine|all|some|just|only|now|still|again|too|today|"
    "yesterday|tomorrow|already|here|since|until|jetzt|noch|schon|nu|ya|ora|nog|her|him|them|me|us|über|what|how"
)
_WORD = rf"(?!(?:{_NOT_NOUN})\b)[^\W\d_][^\W\d_-]*(?:-[^\W\d_]+)*"
_ARTICLES = (
    "the|a|an|my|our|your|his|her|its|their|this|that|der|die|das|den|dem|des|ein|eine|einen|einem|einer|mein|meine|meinen|unser|unsere|"
    "le|la|les|un|une|mon|ma|notre|el|los|las|una|mi|nuestro|il|lo|gli|i|mio|mia|de|het|een|mijn|onze|o|os|as"
)
_COMMON = rf"(?:(?:(?<=^)|(?<=[,:;(] )|(?<=\bthe )|(?<=\b(?:der|die|das|den|dem|ein|les|una|het|een|our|his|her) )|(?<=\b(?:my|le|la|un|el|il|lo|de|an|mi|ma) )|(?<=\ba ))(?:{_WORD} ){{0,2}}{_WORD})"
_MACROS = {
    "{SC}": rf"(?P<s>{_NAMES}|(?:{_PRONOUNS})(?= )|(?:(?:{_ARTICLES}) )?{_COMMON})",
    "{OC}": rf"(?P<o>{_NAMES}|(?:{_WORD} )?{_WORD})",
    "{S}": rf"(?P<s>{_NAMES}|\b(?:{_PRONOUNS})(?= ))",
    "{O}": rf"(?P<o>{_NAMES}|\b(?:her|him|he|she|ihr|ihm|elle|ella|lei|zij|hij)\b)",
    "{A}": rf"(?P<a>{_ONE}|⟪\d+⟫)",
    "{B}": rf"(?P<b>{_ONE})",
    "{M}": r"(?P<m>⟪\d+⟫)",
    "{D}": r"(?P<d>⟦\d+⟧)",
    "{the}": rf"(?:(?:{_ARTICLES}) )?",
    "{be}": r"(?:(?:is|are|was|were|'s|be|been|got|has been|have been|ist|sind|war|wurde|wird|est|sont|es|è|sono|was|werd) )?",
    "{adv}": (
        r"(?:(?:now|still|currently|also|already|only|again|mostly|as well|always|directly|itself|then|today|by|jetzt|noch|nun|schon|"
        r"immer|wieder|aktuell|nur|auch|aber|nu|nog|weer|ook|encore|maintenant|toujours|aussi|ahora|ya|todavía|siempre|ora|ancora|adesso|"
        r"anche|agora|ainda) )*"
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FactPattern:
    """A relation and one way in which people write it."""

    relation: str
    regex: re.Pattern[str]
    needs: frozenset[str]


class FactTable:
    """The table of patterns by the words that make them worth trying."""

    def __init__(self) -> None:
        rows = table("facts")
        self.single_valued = tuple(name for name, row in rows.items() if row.get("single"))
        self.relations = frozenset(rows) - {"move", "before"}
        self._of_word: dict[str, list[str]] = {}
        for name, row in rows.items():
            for word in words(row["on"]):
                self._of_word.setdefault(word, []).append(name)
        self._raw = {name: row["patterns"] for name, row in rows.items()}
        self._compiled: dict[str, tuple[FactPattern, ...]] = {}
        # A move says more than the relation it ends in, so it is read first.
        self._order = {name: at for at, name in enumerate(("move", "before", *self.relations))}

    def worth_trying(self, found: set[str]) -> Iterator[FactPattern]:
        """Yield the patterns of every group one of whose words is in a sentence."""
        groups = {group for word in found & self._of_word.keys() for group in self._of_word[word]}
        for group in sorted(groups, key=lambda name: (self._order[name], name)):
            if group not in self._compiled:
                made = (FactPattern(group, _compiled(raw), _needs(raw)) for raw in self._raw[group])
                self._compiled[group] = tuple(made)
            yield from (pattern for pattern in self._compiled[group] if not pattern.needs.isdisjoint(found))


def _needs(raw: str) -> frozenset[str]:
    """The words of a pattern, one of which a sentence must have: its telling ones, where it has any."""
    plain = re.sub(r"\{\w+\}|\\.|\(\?P<\w+>", " ", raw)
    found = {word for word in re.findall(r"[^\s()|?:\[\]^*+{},.]+", plain.replace("e?s?", "").replace("s?", "|"))}
    found |= {word + "s" for word in found if word + "s?" in raw}
    return frozenset(found - _COMMON_WORDS or found)


_COMMON_WORDS = words("on in at to of by from and is are the a with for over it that was has been if op auf en de a an y e à au")


def _compiled(raw: str) -> re.Pattern[str]:
    pattern = raw
    for name, regex in _MACROS.items():
        pattern = pattern.replace(name, regex)
    return re.compile(pattern)


FACTS = FactTable()
SINGLE_VALUED = FACTS.single_valued
"""The relations of the shipped patterns of which a concept has one object at a time."""
