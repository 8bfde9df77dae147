"""The patterns of `tables/facts.toml`, ready to be matched against an encoded sentence (see `clauses`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hopgate.extract.rules.kept_patterns import compiled, needs_of
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.needed_texts import Needs, may_match
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
    "yesterday|tomorrow|already|here|since|until|jetzt|noch|schon|nu|ya|ora|nog|up|down|over|out|off|went|goes|gone|got|get|gets|fue|had|new|wurde|wurden|hat|hab|habe|haben|bin|wird|her|him|them|me|us|über|what|how|second-hand|used|online|beträgt|betrug|kostet|costs|has|took|takes|ahora|maintenant|désormais|adesso|nun|inzwischen|mittlerweile|inmiddels|voortaan|seit|sinds|depuis|desde|finally|changed|switched|swapped|moved|steht|stehen|liegt|liegen|hängt|hängen|staat|staan|ligt|liggen"
)
_WORD = rf"(?!(?:{_NOT_NOUN})\b)[^\W\d_][^\W\d_-]*(?:-[^\W\d_]+)*"
_ARTICLES = (
    "the|a|an|my|our|your|his|her|its|their|this|that|der|die|das|den|dem|des|ein|eine|einen|unseren|unserem|unserer|meinem|meiner|einem|einer|mein|meine|meinen|unser|unsere|"
    "le|la|les|un|une|mon|ma|notre|el|los|las|una|mi|nuestro|il|lo|gli|i|mio|mia|de|het|een|mijn|onze|o|os|as"
)
# One to three words, of which the list of others is written once: it is what takes longest to compile.
_NOUN = rf"(?: ?\b{_WORD}){{1,3}}(?: \d[\d.]*(?= ))?"
# "The bakery next to the Helix office moved": not the office.
_NOT_BESIDE = r"(?<!\bto )(?<!\bof )(?<!\bbeside )(?<!\bnear )(?<!\bbehind )(?<!\babove )(?<!\bopposite )(?<!\bthan )"
_COMMON = (
    rf"(?:(?:{_NOT_BESIDE}(?:the|my|our) |(?<=^))⟨\d+⟩ \b|(?:(?:{_ARTICLES}) )?(?:(?<=^)|(?<=[,:;(] )|"
    rf"(?<=\b(?:the|der|die|das|den|dem|des|vom|ein|les|una|het|een|our|his|her) )|"
    rf"(?<=\b(?:unseren|unserem|unserer) )|(?<=\b(?:unsere|meinen|meinem|meiner) )|"
    rf"(?<=\b(?:my|le|la|un|el|il|lo|de|an|mi|ma) )|(?<=\ba ))){_NOUN}"
)
# "the service at Hartley costs": what a preposition stands before is not the subject.
_PREPOSITIONS = (
    "off,onto,at,in,from,with,on,to,of,for,about,near,via,at the,in the,from the,with the,on the,to the,of "
    "the,for the,beside,behind,opposite,under,above,around,like,than,unlike,beside the,behind the,near the,opposite "
    "the,than the,unlike the,above the,neben,hinter,über,neben der,neben dem,hinter dem,à côté de,junto a,naast,"
    "accanto a,bei,mit,nach,von,für,bei der,bei dem,mit der,mit dem,aus der,aus dem,auf der,auf dem,in der,in dem,"
    "vom,im,zum,zur,beim,für den,für die,von der,chez,de,du,des,de "
    "la,pour,para,del,per,di,della,voor,van,van de,bij,my,for my,of my"
)


def _not_after(phrases: str) -> str:
    """A name that none of the phrases stands before; a lookbehind has one width, so there is one for each length."""
    by_length: dict[int, list[str]] = {}
    for phrase in phrases.split(","):
        by_length.setdefault(len(phrase), []).append(phrase)
    return "(?=⟨)" + "".join(rf"(?<!\b(?:{'|'.join(some)}) )" for some in by_length.values())


_NOT_AFTER = _not_after(_PREPOSITIONS)
# Encoded sentences are words with one space between: patterns begin where a word does.
_START = r"(?<!\S)"
# Rooms that have a number.
_NUMBERED = r"(?:room|raum|zimmer|salle|sala|lab|bay|shelf|building) [\w.]*\d\w*|\d+(?:st|nd|rd|th) floor"
_MACROS = {
    "{SC}": rf"{_START}(?P<s>{_NOT_AFTER}{_NAMES}|(?:{_PRONOUNS})(?= |$)|{_COMMON})",
    "{OC}": rf"{_START}(?P<o>{_NAMES}|{_NUMBERED}|(?: ?\b{_WORD}){{1,2}})",
    "{S}": rf"{_START}(?P<s>{_NOT_AFTER}{_NAMES}|\b(?:{_PRONOUNS})(?= ))",
    "{O}": rf"{_START}(?P<o>{_NAMES}|\b(?:her|him|he|she|ihr|ihm|elle|ella|lei|zij|hij)\b)",
    "{A}": rf"{_START}(?P<a>{_ONE}|⟪\d+⟫)",
    "{B}": rf"{_START}(?P<b>{_ONE})",
    "{M}": r"(?P<m>⟪\d+⟫)",
    "{D}": r"(?P<d>⟦\d+⟧)",
    "{the}": rf"(?:(?:{_ARTICLES}) )?(?:(?:old|new|dead|broken|ageing|trusty|little|tiny|current|former) )?",
    # Words that say nothing of where or whose: no names, no marks.
    "{any}": r"(?:(?!(?:down|off|out|from|von|van|about|with|mit|avec|con|met) )[^\W\d_]+ ){0,3}",
    "{be}": r"(?:(?:is|are|was|were|am|'s|'m|'re|'ve|has|have|had|be|"
    r"been|got|has been|have been|"
    r"ist|sind|war|wurde|wird|est|"
    r"sont|es|è|sono|was|werd) )?",
    "{is}": r"(?:is|are|ist|sind|est|es|è|heißt|heet|:|is called|is named|used to be|was|"
    r"se llama|s'appelle|became|wird)",
    "{new}": r"(?:(?:new|neue[nrs]?|nouvel|nouvelle|nouveau|nuevo|nueva|nieuwe|nuovo|nuova|current) )?",
    "{of}": r"(?:of|for|von|vom|im|beim|de|del|du|di|van|in)",
    "{off}": r"(?:away |over |across )?(?:from|off of|off|out of)",
    "{onto}": r"(?:over |across |back |up |down |out )?(?:to|onto|on to|into|on)",
    "{adv}": (
        r"(?:(?:now|still|currently|also|"
        r"already|only|again|mostly|as "
        r"well|always|directly|itself|then|"
        r"today|by|jetzt|noch|nun|schon|"
        r"immer|wieder|aktuell|erst|nur|auch|aber|nu|nog|weer|ook|encore|maintenant|toujours|aussi|ahora|ya|todavía|siempre|ora|ancora|adesso|"
        r"anche|agora|ainda|no longer|used "
        r"to|formerly|previously|nicht "
        r"mehr|niet meer|früher|not any more|"
        r"even|fully|proudly|quite|once|ab sofort|ab jetzt|finally|just|recently|been|\w{3,}ly|these days|at "
        r"last|inzwischen|"
        r"mittlerweile|endlich|désormais|actualmente|inmiddels|from now on|from today|"
        r"seit (?:weihnachten|ostern|pfingsten|kurzem|gestern|heute|neuestem)|"
        r"(?:seit|sinds|depuis|since|"
        r"desde|dal|im|am|in|ab|bis|from|as "
        r"of|vanaf|dès|a partir de)(?: "
        r"dem| the| le| el)? ⟦\d+⟧) )*"
    ),
}
_VERBS = {
    name: "(?:" + "|".join(form.replace("_", " ") for form in sorted(forms.split(), key=len, reverse=True)) + ")"
    for name, forms in table("verbs").items()
}
_CLASS = compiled(r"\{(" + "|".join(_VERBS) + r")\}")


# "is now", wherever a pattern has "is".
_IS = compiled(r"(?<= )(is|are|\(\?:is\|:\)|\(\?:is\|are\)) (?!\{adv\}|\(\?:now|no longer|out)")


def _with_verbs(raw: str) -> str:
    """Write out the classes of verbs that a pattern names, and let "now" follow what is."""
    return _CLASS.sub(lambda name: _VERBS[name[1]], _IS.sub(r"\1 {adv}", raw))


@dataclass(frozen=True, slots=True)
class FactPattern:
    """A relation and one way in which people write it."""

    relation: str
    regex: re.Pattern[str]
    needs: Needs
    free: bool
    over: bool


class FactTable:
    """The table of patterns by the words that make them worth trying; each is compiled when it first is."""

    def __init__(self) -> None:
        rows, frames = table("facts"), table("frames")
        self.single_valued = tuple(name for name, row in rows.items() if row.get("single"))
        self.relations = frozenset(rows) - {"move", "before"}
        # A move says more than the relation it ends in, so it is read first.
        order = ("move", *(name for name in rows if name not in ("move", *_LAST)), *_LAST)
        self._raw = [
            (name, _with_verbs(raw)) for name in order for raw in (*rows[name]["patterns"], *_framed(frames, name))
        ]
        self._holds = [_holds(raw) for _, raw in self._raw]
        self._checks: list[tuple[frozenset[str], ...]] = []
        self._compiled: dict[int, FactPattern] = {}
        self._of_word: dict[str, set[int]] = {}
        for number, (name, raw) in enumerate(self._raw):
            parts = _needs(raw)
            telling = next((part for part in parts if not part & _COMMON_WORDS), None)
            self._checks.append(tuple(part for part in parts if part is not telling))
            for word in telling or words(rows[name]["on"]):
                self._of_word.setdefault(word, set()).add(number)

    @lru_cache(maxsize=4096)  # noqa: B019  there is one table
    def _numbers(self, words: frozenset[str]) -> tuple[int, ...]:
        """The patterns that some words make worth trying, in the order of the table."""
        return tuple(sorted(set[int]().union(*(self._of_word[word] for word in words))))

    @lru_cache(maxsize=4096)  # noqa: B019  short sentences differ in their names alone, which are numbers here
    def found_in(self, text: str) -> tuple[tuple[FactPattern, tuple[re.Match[str], ...]], ...]:
        """Give what matches an encoded sentence, pattern by pattern; moves first."""
        found = ((pattern, tuple(pattern.regex.finditer(text))) for pattern in self._worth_trying(text))
        return tuple((pattern, matches) for pattern, matches in found if matches)

    def _worth_trying(self, text: str) -> Iterator[FactPattern]:
        """Yield the patterns one of whose words is in an encoded sentence, and whose brackets are; moves first."""
        said = set(text.split())
        for number in self._numbers(frozenset(self._of_word.keys() & said)):
            if self._holds[number] not in text or any(map(said.isdisjoint, self._checks[number])):
                continue
            if number not in self._compiled:
                relation, raw = self._raw[number]
                regex = _compiled(raw)
                named = regex.groupindex
                self._compiled[number] = FactPattern(relation, regex, needs_of(regex), "free" in named, "over" in named)
            pattern = self._compiled[number]
            if may_match(pattern.needs, text):
                yield pattern


def _framed(frames: dict[str, Any], relation: str) -> Iterator[str]:
    """The frames of `tables/frames.toml` with a relation's nouns."""
    row = frames.get(relation)
    if row:
        nouns = "|".join(form.replace("_", " ") for form in sorted(row["nouns"].split(), key=len, reverse=True))
        marks = "".join(f"(?P<{mark}>)" for mark in row.get("markers", "").split())
        yield from (marks + frame.replace("{N}", f"(?:{nouns})") for frame in frames["frames"])


def _holds(raw: str) -> str:
    """The bracket that every match of a pattern has: of an amount, a date or a name; a pronoun may stand for a name."""
    rest = raw
    while rest != (rest := re.sub(r"\(\?:[^()]*\)[?*]", " ", rest)):
        pass
    return next((mark for slot, mark in (("{M}", "⟪"), ("{D}", "⟦"), ("{B}", "⟨"), ("{O}", "⟨")) if slot in rest), "")


def _needs(raw: str) -> list[frozenset[str]]:
    """The parts of a pattern of each of which a sentence must have a word for it to match."""
    rest = re.sub(r"\[[^]]*\]", "§", raw)
    rest = re.sub(r"\{\w+\}|\(\?<?[=!][^()]*\)", " ", rest)
    rest = re.sub(r"\(\?:[^()]*[^() ]\)\?(?=\w)", "§", rest)  # "(?:in|on)?to" is one word or another
    steps = (
        (r"\(\?:[^()]*\)[?*]|\(\?<?[=!][^()]*\)", " "),
        (r"\((\?P<\w+>)\(\?:([^()]*)\)\)", r"(\1\2)"),
        (r"(\([^()]*)\(\?[^()]*\)", r"\1§"),  # what a group holds inside another says nothing certain
    )
    while any(rest != (rest := re.sub(pattern, instead, rest)) for pattern, instead in steps):
        pass
    parts = []
    for group, word in re.findall(r"\(\?(?::|P<\w+>)([^()]+)\)(?![?*])|([^\s()|]+)", rest):
        ways = (group or word).split("|")
        firsts = {way.split()[0] if way.split() else "" for way in ways}
        needed = {one for first in firsts for one in ((first[:-2], first[:-1]) if first.endswith("s?") else (first,))}
        if all(re.fullmatch(r"[^\W\d_]+|[-=]+>|→|[:=@]", one) for one in needed):
            parts.append(frozenset(needed))
    return parts


# What costs something or was before is often named by the facts of its sentence, so these come last; moves first.
_LAST = ("costs", "before")
_COMMON_WORDS = words(
    "on in at to of by from and is are the a with for over it that was has been if op auf en de a an y e à au"
)


_OPENING = compiled(r"^(?:\(\?P<\w+>\)|\{(?:the|adv)\})+")


def _compiled(raw: str) -> re.Pattern[str]:
    pattern = raw
    for name, regex in _MACROS.items():
        # Where the pattern itself has words before its subject ("head of {S}"), any name may follow them.
        before = _OPENING.sub("", raw.partition(name)[0])
        pattern = pattern.replace(name, regex.replace(_NOT_AFTER, "") if before else regex)
    return compiled(pattern)


@lru_cache(maxsize=4096)  # `found_in` gives the same matches for equal sentences
def groups_of(match: re.Match[str]) -> dict[str, str | None]:
    """What the named groups of a match hold; not to be changed."""
    return match.groupdict()


FACTS = FactTable()
SINGLE_VALUED = FACTS.single_valued
"""The relations of the shipped patterns of which a concept has one object at a time."""
