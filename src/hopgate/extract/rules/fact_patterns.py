"""The patterns of `tables/facts.toml`, ready to be matched against an encoded sentence (see `clauses`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.words import words

_ONE = r"⟨(?:team )?\d+⟩"
_NAMES = rf"{_ONE}(?:(?: , {_ONE})*(?: ,)? (?:and|&|und|et|y|e|en|sowie|plus) (?:the )?{_ONE})?(?: both| beide)?"
_PRONOUNS = (
    "i|he|she|they|it|both|him|her|them|ich|er|sie|es|beide|je|il|"
    "elle|ils|elles|yo|él|ella|io|lui|lei|ik|hij|zij|ze|eu|ele|ela|j"
)
# Words that neither begin nor continue a common noun.
_NOT_NOUN = (
    "is|are|was|were|be|been|has|have|had|and|or|but|that|which|who|not|so|to|of|in|on|at|by|for|from|with|as|it|he|she|they|we|"
    "you|i|this|there|if|when|do|does|did|will|would|can|could|may|what|where|ist|sind|und|oder|nicht|ich|er|sie|es|wir|im|am|"
    "auf|bei|von|zu|mit|est|et|il|elle|je|en|y|que|se|no|si|e|che|non|di|also|then|one|mine|all|some|just|only|now|still|again|too|today|"
    "yesterday|tomorrow|already|here|since|until|jetzt|noch|schon|nu|ya|ora|nog|her|him|them|me|us|über|what|how|second-hand|used|online"
)
_WORD = rf"(?!(?:{_NOT_NOUN})\b)[^\W\d_][^\W\d_-]*(?:-[^\W\d_]+)*"
_ARTICLES = (
    "the|a|an|my|our|your|his|her|its|their|this|that|der|die|das|den|dem|des|ein|eine|einen|einem|einer|mein|meine|meinen|unser|unsere|"
    "le|la|les|un|une|mon|ma|notre|el|los|las|una|mi|nuestro|il|lo|gli|i|mio|mia|de|het|een|mijn|onze|o|os|as"
)
_COMMON = (
    rf"(?:(?:(?<=^)|(?<=[,:;(] )|(?<=\bthe )|(?<=\b(?:der|die|das|den|dem|ein|les|una|het|een|our|his|"
    rf"her) )|(?<=\b(?:my|le|la|un|el|il|lo|de|an|mi|ma) )|(?<=\ba ))(?:{_WORD} ){{0,2}}{_WORD})"
)
# "the service at Hartley costs": what a preposition stands before is not the subject.
_NOT_AFTER = "(?=⟨)" + "".join(
    rf"(?<!\b{words} )"
    for words in (
        "at",
        "in",
        "from",
        "with",
        "on",
        "to",
        "of",
        "for",
        "about",
        "near",
        "via",
        "at the",
        "in the",
        "from the",
        "with the",
        "on the",
        "to the",
        "of the",
        "for the",
        "bei",
        "mit",
        "nach",
        "von",
        "für",
        "vom",
        "im",
        "zum",
        "zur",
        "beim",
        "für den",
        "für die",
        "von der",
        "chez",
        "de",
        "du",
        "de la",
        "pour",
        "para",
        "del",
        "per",
        "di",
        "della",
        "voor",
        "van",
        "van de",
        "bij",
        "my",
        "for my",
        "of my",
    )
)
_MACROS = {
    "{SC}": rf"(?P<s>(?:the|my|our) ⟨\d+⟩ {_WORD}|{_NOT_AFTER}{_NAMES}|(?:{_PRONOUNS})(?= )|(?:(?:{_ARTICLES}) )?{_COMMON})",
    "{OC}": rf"(?P<o>{_NAMES}|(?:{_WORD} )?{_WORD})",
    "{S}": rf"(?P<s>{_NOT_AFTER}{_NAMES}|\b(?:{_PRONOUNS})(?= ))",
    "{O}": rf"(?P<o>{_NAMES}|\b(?:her|him|he|she|ihr|ihm|elle|ella|lei|zij|hij)\b)",
    "{A}": rf"(?P<a>{_ONE}|⟪\d+⟫)",
    "{B}": rf"(?P<b>{_ONE})",
    "{M}": r"(?P<m>⟪\d+⟫)",
    "{D}": r"(?P<d>⟦\d+⟧)",
    "{the}": rf"(?:(?:{_ARTICLES}) )?",
    "{be}": r"(?:(?:is|are|was|were|'s|be|"
    r"been|got|has been|have been|"
    r"ist|sind|war|wurde|wird|est|"
    r"sont|es|è|sono|was|werd) )?",
    "{off}": r"(?:away |over |across )?(?:from|off of|off|out of)",
    "{onto}": r"(?:over |across |back |up )?(?:to|onto|on to|into|on)",
    "{adv}": (
        r"(?:(?:now|still|currently|also|"
        r"already|only|again|mostly|as "
        r"well|always|directly|itself|then|"
        r"today|by|jetzt|noch|nun|schon|"
        r"immer|wieder|aktuell|nur|auch|aber|nu|nog|weer|ook|encore|maintenant|toujours|aussi|ahora|ya|todavía|siempre|ora|ancora|adesso|"
        r"anche|agora|ainda|no longer|used "
        r"to|formerly|previously|nicht "
        r"mehr|niet meer|früher|not any more|"
        r"even|fully|proudly|quite|once|finally|officially|permanently|been|these days|at last|inzwischen|"
        r"mittlerweile|endlich|désormais|actualmente|inmiddels|from now on|from today|"
        r"(?:seit|sinds|depuis|since|"
        r"desde|dal|im|am|in|ab|from|as "
        r"of|vanaf|dès|a partir de)(?: "
        r"dem| the| le| el)? ⟦\d+⟧) )*"
    ),
}
_VERBS = {
    name: "(?:" + "|".join(form.replace("_", " ") for form in sorted(forms.split(), key=len, reverse=True)) + ")"
    for name, forms in table("verbs").items()
}
_FIRST_WORDS = {name: {form.split("_")[0] for form in forms.split()} for name, forms in table("verbs").items()}
_CLASS = re.compile(r"\{(" + "|".join(_VERBS) + r")\}")


def _with_verbs(raw: str) -> str:
    """Write out the classes of verbs that a pattern names."""
    return _CLASS.sub(lambda name: _VERBS[name[1]], raw)


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
            named = {form for raw in row["patterns"] for verbs in _CLASS.findall(raw) for form in _FIRST_WORDS[verbs]}
            for word in words(row["on"]) | named:
                self._of_word.setdefault(word, []).append(name)
        self._raw = {name: [_with_verbs(raw) for raw in row["patterns"]] for name, row in rows.items()}
        self._compiled: dict[str, tuple[FactPattern, ...]] = {}
        # A move says more than the relation it ends in, so it is read first.
        self._order = {
            name: at
            for at, name in enumerate(("move", *(name for name in rows if name not in ("move", *_LAST)), *_LAST))
        }

    def worth_trying(self, found: set[str]) -> Iterator[FactPattern]:
        """Yield the patterns of every group one of whose words is in a sentence."""
        groups = {group for word in found & self._of_word.keys() for group in self._of_word[word]}
        for group in sorted(groups, key=lambda name: (self._order[name], name)):
            if group not in self._compiled:
                made = (FactPattern(group, _compiled(raw), _needs(raw)) for raw in self._raw[group])
                self._compiled[group] = tuple(made)
            yield from (
                pattern for pattern in self._compiled[group] if not pattern.needs or not pattern.needs.isdisjoint(found)
            )


def _needs(raw: str) -> frozenset[str]:
    """Words of which a sentence must have one for a pattern to match: its first telling part, or none known."""
    rest = re.sub(r"\{\w+\}|\(\?[=!][^()]*\)", " ", raw)
    while rest != (rest := re.sub(r"\(\?:[^()]*\)[?*]", " ", rest)):
        pass
    for group, word in re.findall(r"\(\?(?::|P<\w+>)([^()]+)\)(?![?*])|([^\s()|]+)", rest):
        ways = (group or word).split("|")
        firsts = {way.split()[0] if way.split() else "" for way in ways}
        needed = {one for first in firsts for one in ((first[:-2], first[:-1]) if first.endswith("s?") else (first,))}
        if all(re.fullmatch(r"[^\W\d_]+", one) for one in needed) and not needed & _COMMON_WORDS:
            return frozenset(needed)
    return frozenset()


# What costs something or was before is often named by the facts of its sentence, so these come last; moves first.
_LAST = ("costs", "before")
_COMMON_WORDS = words(
    "on in at to of by from and is are the a with for over it that was has been if op auf en de a an y e à au"
)


_OPENING = re.compile(r"^(?:\(\?P<\w+>\)|\{(?:the|adv)\})+")


def _compiled(raw: str) -> re.Pattern[str]:
    pattern = raw
    for name, regex in _MACROS.items():
        # Where the pattern itself has words before its subject ("head of {S}"), any name may follow them.
        before = _OPENING.sub("", raw.partition(name)[0])
        pattern = pattern.replace(name, regex.replace(_NOT_AFTER, "") if before else regex)
    return re.compile(pattern)


FACTS = FactTable()
SINGLE_VALUED = FACTS.single_valued
"""The relations of the shipped patterns of which a concept has one object at a time."""
