"""What spans say that the tagger marks: which are sure, whose a thing is, and values as the rules write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hopgate.extract.rules.agent_nouns import is_agent
from hopgate.extract.rules.capitals import is_person
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.parts_of_things import is_part
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_parts import AMOUNT, ANY, DAYS, VERBS, WHEN
from hopgate.extract.rules.subjects import KINSHIP
from hopgate.extract.rules.words import words
from hopgate.extract.tagger.sentence_pairs import sentences_of
from hopgate.extract.tagger.tagged_spans import TaggedSpan

_SURE = 0.5
_MINE = compiled(
    r"\b(?:my|our|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|nos|mi|mis|nuestr\w|mijn|onze) $", re.IGNORECASE
)
# "A photocopy of Mum's will", "the Jellyfin exporter": what changed is not the will, nor Jellyfin.
_OF_IT = compiled(r"(\S+) (?:of|off|for|from) (?:(?:the|my|our) )?$", re.IGNORECASE)
_COMPOUND = compiled(r"\w-([^\W\d_]+)$")
# "hängt bei mir am Schlüsselbrett"
_AT_ME = compiled(
    r"^(?:mir|uns|me|us|ihm|ihr) (?:am|im|in|an|auf|in the|on the) |"
    r"(?<=\w) (?:im|am|in|der|des|dem|den|von|vom|zu|zur|zum|nach|bei|und|mit|für|by|behind|near|at|on|"
    r"under|with|next to|over|across|down|up)$"
)
_OF_SOMEBODY = compiled(r" (?:von|of) (?:Herrn?|Frau|Familie|Mrs?\.?|Ms\.?) ")
_RANKS = words("head lead chief deputy assistant senior junior main line")
_NEXT = compiled(r" ([^\W\d_]+)")
_ITS = compiled(r"(?:['’]s)? ([^\W\d_]+)")
OF_OTHERS = words("his her their ihr ihre ihren ihrem sein seine seinen seinem sus suo sua zijn haar")
_OWNER = compiled(r"(\S+)['’]s $")
# "room 5.04" is no time.
_CLOCK = compiled(
    r"(?:^|\s)\d{1,2}:\d\d(?!\d)|^\d{1,2}\.\d\d$|(?:^|\s)\d{1,2}(?:[:.]\d\d)? ?(?:[ap]m|uhr|h|o'clock)(?!\w)|"
    r"\b(?:noon|midnight)\b|\b(?:halb|viertel (?:vor|nach)|half(?: past)?|quarter (?:past|to)) [^\W_]+$",
    re.IGNORECASE,
)
# "3 TB", "300 Euro", and not "1Password" or "2009 Corolla".
_NUMBER = compiled(r"\d[\d.,]*(?: ?(?:[^\W\dA-ZÄÖÜ]{1,10}|[A-Z]{1,3}|Euro|Franken|Stück|Liter|Meter))?")


def sure_spans(spans: Iterable[TaggedSpan], label: str) -> list[TaggedSpan]:
    """Spans of a label that the tagger is sure of, each text once, the surest first."""
    found: dict[str, TaggedSpan] = {}
    for span in sorted(spans, key=lambda span: -span.confidence):
        if span.label == label and span.confidence >= _SURE:
            found.setdefault(span.text.casefold(), span)
    return list(found.values())


def value_of(text: str, reading: Reading) -> tuple[str, str]:
    """A value as the rules write it, and how it goes with a thing: a date, an amount, or whatever it is."""
    text = sentences_of(text)[0] if ". " in text else text  # it may mark words on either side of a full stop
    text = _AT_ME.sub("", text.replace("Herrn ", "Herr ")).rstrip(".")  # as the rules write it
    said = text.casefold().split()
    for span in reading.spans:
        words = " ".join(reading.tokens[span.start : span.end]).casefold().split()
        if span.form in ("date", "amount") and (set(words) <= set(said) or set(said) <= set(words)):
            return span.name, WHEN if span.form == "date" else AMOUNT
    days = [day for word in said if (day := word.removesuffix("s")) in DAYS or word in DAYS]
    if days and len(said) == 1:
        return days[0], WHEN
    if days or _CLOCK.search(text):
        return text, WHEN
    # Of a name it may mark a part: of "Proxmox Mail Gateway 8.1" the last two words.
    names = (span.name for span in reading.spans if span.form == "name")
    if whole := next((name for name in names if len(name) > len(text) and shares_start_or_end(name, text)), None):
        return whole, ANY
    return text, AMOUNT if _NUMBER.fullmatch(text) else ANY


def owned_thing(thing: TaggedSpan, reading: Reading, text: str) -> str:
    """A thing by its name, and whose it is: "Jo's bike"; in a talk "my laptop" is its speaker's."""
    before, called = text[: thing.start], thing.text.replace("’", "'")
    if called.lower() in VERBS:
        return ""  # "Judith Marsh conducts": what, the others say
    # Of a name it may mark a part: of "Eastgate Food Bank" the last word.
    names = (span.name for span in reading.spans if span.form == "name" and not is_person(span.name))
    called = next((name for name in names if len(name) > len(called) and name.endswith(f" {called}")), called)
    after = _NEXT.match(text, thing.start + len(thing.text))
    if after and called in _RANKS and is_agent(after[1]):
        called = f"{called} {after[1]}"  # "head", of "head baker"
    named = _OWNER.search(before)
    owner = reading.speaker if reading.speaker and _MINE.search(before) else named and named[1]
    return f"{owner}'s {called}" if owner and called.startswith(thing.text) else called


def is_of_another(thing: TaggedSpan, text: str) -> bool:
    """Whether what changed is a part of a thing, or somebody else's: "a photocopy of Mum's will", "her Pixel"."""
    before, after = text[: thing.start], text[thing.start + len(thing.text) :]
    parts = _OF_IT.search(before), _ITS.match(after), _COMPOUND.search(thing.text)
    if any(part and is_part(part[1].lower()) for part in parts):
        return True
    if _OF_SOMEBODY.match(after):
        return True  # "Rasenmäher von Herrn Maurer"
    if parts[1] and parts[1][1].lower() in KINSHIP:
        return True  # "Dietmars Frau"
    return bool(said := before.lower().split()) and said[-1] in OF_OTHERS


def is_called_alike(thing: TaggedSpan, earlier: str, later: str) -> bool:
    """Whether two notes say the same of what something is a part, or whose: "the spare key of the cottage" in both."""
    end, said = thing.start + len(thing.text), earlier.casefold()
    if (whole := _OF_IT.search(later[: thing.start])) and later[whole.start() : end].casefold() in said:
        return True
    whose = _ITS.match(later, end)
    return whose is not None and whose[1].lower() in KINSHIP and whose[1].casefold() in re.findall(r"\w+", said)


def shares_start_or_end(one: str, other: str) -> bool:
    """Whether two values are one, or one has more words before or after the other.

    Examples
    --------
    >>> shares_start_or_end("Proxmox box", "Proxmox"), shares_start_or_end("old Proxmox box", "Proxmox")
    (True, False)
    """
    few, many = sorted((one.casefold().split(), other.casefold().split()), key=len)
    return bool(few) and few in (many[: len(few)], many[-len(few) :])
