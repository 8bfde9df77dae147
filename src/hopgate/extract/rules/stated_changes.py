"""What a sentence says to have changed: from A to B, A replaced by B, B took over from A, moved something to B."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopgate.extract.extraction import Stated
from hopgate.extract.rules.change_words import alternatives
from hopgate.extract.rules.clauses import NAME, Clause
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.places import is_passing
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.stated_parts import ARTICLES, BY, DOUBT, MOVED, closes, thing_at, value_at
from hopgate.extract.rules.stated_states import ThingState, sort_of
from hopgate.extract.rules.subjects import KINSHIP
from hopgate.extract.rules.words import words

_GAVE = compiled(
    r"^(?P<a>⟨\d+⟩) (?:has |have )?(?:passed|gave|handed|passes|hands) (?P<t>[^,;]+?) (?:over |on )?to (?P<b>[^,;]+)"
)
_FROM_TO = compiled(
    r" (?:from (?P<a>[^,;]+?) (?:over )?(?:to|->|→)|(?:off|out of) (?P<off>[^,;]+?) (?:and )?(?:onto|into)) "
    r"(?P<b>[^,;]+)"
)
_ARROW = compiled(r"^(?P<t>[^:,;]+) : (?P<a>[^,;]+?) (?:->|→|=>) (?P<b>[^,;]+)$")
# "dns filter : pihole is gone , replaced by adguard"
_GONE = compiled(
    r"^(?P<t>[^:,;]+) : (?P<a>[^,;:]+?) (?:is |are |was )?(?:gone|out|dead|over|finished|history) [,;]? ?(?:and )?"
    r"(?:replaced (?:by|with)|now|(?:we|i) (?:now )?use|it 's(?: now)?) (?P<b>[^,;]+)$"
)
_REPLACED = compiled(
    r"\b(?:replaced|swapped|exchanged|ditched|dropped|traded) (?P<a>[^,;]+?) (?:with|by|for|in favour of) (?P<b>[^,;]+)"
)
_WAS_REPLACED = compiled(
    r"^(?P<a>[^,;]+?) (?:has been |have been |was |is |got |were )?replaced (?:by|with) (?P<b>[^,;]+)"
)
_REPLACES = compiled(
    r"^(?P<b>[^,;]+?) (?:has |have )?(?:replaced|replaces|took over from|taken over from|"
    r"(?:took|taken|takes) the place of|succeeds|succeeded) (?P<a>[^,;]+)"
)
_TAKEN = compiled(
    r"\b(?:took|pulled|got|moved|lifted) (?P<t>[^,;]+?) (?:off|out of|from) (?P<a>[^,;]+?) (?:and|,) (?:then )?"
    r"(?:put|set|placed|installed|parked|stuck|hung) (?:it|them|that) (?:back )?(?:up )?"
    r"(?:on|onto|in|into|at) (?P<b>[^,;]+)"
)
_TOOK_OVER = compiled(
    r"^(?P<b>[^,;]+?) (?:has |have )?(?:took|taken|takes) (?:over|on the (?:job|role|post|task|position) (?:of|as)) "
    r"(?P<t>[^,;]+?) from (?P<a>[^,;]+)"
)
# "Fatima takes over Hall 2 as of today"
_TAKES_OVER = compiled(
    r"^(?P<b>⟨\d+⟩) (?:has |have |is |'s )?(?:just |now |already )?(?:takes|took|taken|taking) over "
    r"(?P<t>(?:(?! from ⟨)[^,;:])+?)"
    r"(?: (?:now|today|as of .+|from ⟦\d+⟧.*|from (?:this|next) .+|since .+|on ⟦\d+⟧))?$"
)
# "crash trolley out of the sluice and into the alcove"
_OUT_OF = compiled(
    r"^(?P<t>[^,;:]+?) (?:is |are |has gone |went )?(?:out of|off|out from) (?P<a>[^,;:]+?) "
    r"(?:and )?(?:into|onto|in|on) (?P<b>[^,;]+)$"
)
_SWITCHED_TO = compiled(
    r"^(?:(?:i|we)(?: have| 've)? )?(?:just |finally )?(?:switched|changed|(?:moved|gone|went) over) (?:over )?to "
    r"(?P<b>[^,;]+?) for (?P<t>(?:my|our|the) [^,;]+)$"
)
_BYE = compiled(r"\b(?:bye|goodbye|farewell|so long) (?P<a>⟨\d+⟩) [,;]? ?(?:and )?(?:hello|hi|welcome) (?P<b>⟨\d+⟩)")
_PARTS = compiled(r" (?:[,:;–-]|but|and) ")
_FOR = compiled(r"^ (?:for|as) (?P<t>.+)$")
# What may follow the new value.
_MORE = words("in on this last and because since at a per each every")
# Without one of these words no form of a change is tried.
_FROM_A = MOVED | words(
    """
    bumped upgraded updated raised lowered cut took brought hauled carried dragged lugged transported schlepped wheeled
    sent shipped
    """
)
_HINTS = _FROM_A | words(
    """
    -> → => exchanged ditched dropped traded replaces took taken takes pulled got lifted succeeds succeeded bye goodbye
    farewell long passed gave handed passes hands out off
    """
)
_BEFORE = compiled(rf"\b(?:{alternatives('over_before')}) (?:the |my |our )?⟨(\d+)⟩(?! 's)")
_AFTER = compiled(
    r"⟨(\d+)⟩ (?:has |have |is |are |'s )?(?!no longer (?:on|in|at|with|by|from|part|to)\b)"
    rf"(?:{alternatives('over')})\b"
)
_GONE_TO = compiled(
    r"\b(?:with|at|in|on|to|from|hello|joined|by|through|use|using|got|new|is|are|take|takes|"
    r"read|get|have|drive|wear) (?:the |a |an |my |our )?⟨(\d+)⟩"
)
_WE = words("i we have has 've 's just finally had and so now")
_THEY = words("they we i")
_AUXILIARY = words("has have been was were is just 's 've :")
OF_OTHERS = KINSHIP | words(
    "he she they his her their friend friends partner colleague colleagues boss neighbour neighbor neighbours "
    "neighbors nachbar nachbarn kollege kollegen gran oma opa"
)
_INSTEAD = words("now instead hello new joined took welcome")
# Said of what is over, these do not deny what is so now.
_NO_INSTEAD = DOUBT - words("was were had before no not said cancelled canceled never")
_WENT = MOVED | words("went rose dropped increased bumped upgraded raised lowered pushed brought reassigned promoted")
_ON_THE_WAY = words("over up down back our my the")
_TWO = 2


def changed(text: str, said: list[str]) -> Stated | None:
    """A change that names what was and what is, in a sentence without doubt or in one of its parts.

    Examples
    --------
    >>> text = "we changed from ⟨0⟩ to ⟨1⟩ for flour"
    >>> told = changed(text, text.split())
    >>> told.thing, told.former, told.value
    ('flour', '⟨0⟩', '⟨1⟩')
    """
    if _HINTS.isdisjoint(said):
        return None
    for part in dict.fromkeys((text, *text.split(" : "), *text.split(" , "), *_PARTS.split(text))):
        if told := _changed(part):
            return told
    return None


def _changed(text: str) -> Stated | None:
    said = text.split()
    if _HINTS.isdisjoint(said):
        return None
    thing = ""
    if (found := _SWITCHED_TO.match(text)) and (part := thing_at(found["t"].split(), 0)):
        new = value_at(found["b"].split(), 0)
        return Stated(part.text, BY, new.text, is_change=True) if new and new.kind == "name" else None
    if found := _TAKES_OVER.match(text):
        what = found["t"].split()
        part = thing_at(what, 0) or value_at(what, 0)
        whole = part is not None and part.end == len(what) and part.kind in ("name", "noun")
        return Stated(part.text, BY, found["b"], is_change=True) if part and whole else None
    if found := (
        _ARROW.match(text)
        or _GONE.match(text)
        or _TAKEN.search(text)
        or _TOOK_OVER.match(text)
        or _GAVE.match(text)
        or _out_of(text)
    ):
        part = thing_at(found["t"].split(), 0)
        thing = part.text if part else ""
    elif (found := _FROM_TO.search(text)) and not _FROM_A.isdisjoint(text[: found.start()].split()):
        thing = _moved_thing(text[: found.start()].split())
    else:
        found = _BYE.search(text) or _WAS_REPLACED.match(text) or _REPLACED.search(text) or _REPLACES.match(text)
        if (
            found
            and found.re is _REPLACED
            and (before := [word for word in text[: found.start()].split() if word not in _WE])
        ):
            # "Saffron dropped Tekton for Buildbot": not we.
            part = thing_at(before, 0)
            if not part or part.end < len(before):
                return None
            thing = part.text
    if not found:
        return None
    return _named_both(found, thing)


def _out_of(text: str) -> re.Match[str] | None:
    """What is out of A and into B by its name alone: in "Martin moved the photos off A onto B" it is not Martin."""
    found = _OUT_OF.match(text)
    said = found["t"].split() if found else []
    return found if said and (part := thing_at(said, 0)) and part.end == len(said) else None


def _named_both(found: re.Match[str], thing: str) -> Stated | None:
    """The old value and the new one of a change, and what it is of where that comes after: "… for the newsletter"."""
    before = found.groupdict().get("off") or found["a"]
    old, new = value_at(before.split(), 0), value_at((after := found["b"].split()), 0)
    if not old or not new:
        return None
    rest = " " + " ".join(after[new.end :])
    rest = rest if found.re is not _REPLACES else " " + " ".join(found["a"].split()[old.end :])
    if (more := _FOR.match(rest)) and (part := thing_at(more["t"].split(), 0)):
        thing = thing or part.text
    elif rest.strip() and rest.split()[0] not in _MORE:
        return None
    if "noun" in (old.kind, new.kind) and not thing:
        return None
    sorts = {part.kind for part in (old, new) if part.kind in ("when", "amount")}
    if len(sorts) > 1 or (sorts and old.kind != new.kind):
        return None
    return Stated(thing, sort_of(new), new.text, old.text, is_change=True)


def _moved_thing(said: list[str]) -> str:
    """What was moved: what stands before the verb, or after it."""
    verb = next((at for at, word in enumerate(said) if word in _FROM_A), -1)
    if verb < 0:
        return ""
    while said[-1] in _ON_THE_WAY and len(said) > verb + 1:
        said = said[:-1]  # "brought the safe down from …"
    after = thing_at(said, verb + 1) if verb + 1 < len(said) else None
    if after:
        return after.text if after.end == len(said) else ""
    part = thing_at(said, 0)
    return part.text if part and _AUXILIARY.issuperset(said[part.end : verb]) else ""


def moved_to(said: list[str]) -> ThingState | None:
    """What was moved, and where to: "moved the passports to the safe", "the rent went up to 925"."""
    verb = next((at for at, word in enumerate(said) if word in _WENT), -1)
    to = next((at for at in range(verb + 1, len(said)) if said[at] in ("to", "into", "onto")), -1) if verb >= 0 else -1
    if to < 0:
        return None
    between = [word for word in said[verb + 1 : to] if word not in _ON_THE_WAY]
    value = value_at(said, to + 1)
    if not value or not closes(said, value):
        return None
    if between:
        part = thing_at(said, verb + 1)
        we = _WE.issuperset(said[:verb]) or said[verb - 1] in _THEY or value.kind in ("amount", "when")
        thing = part.text if part and part.end >= to - 1 and we else ""
    else:
        part = thing_at(said, 0)
        thing = part.text if part and _AUXILIARY.issuperset(said[part.end : verb]) else ""
        somebody = part and part.kind == "name" and said[0] not in ARTICLES  # "the confocal" is nobody
        if part and somebody and value.kind in ("name", "noun") and said[part.end] != ":":
            if said[to] == "into" and value.kind == "noun":
                return ThingState(value.text, BY, part.text, is_change=True)  # who has the big room
            return None  # somebody who moved
    if not thing or (value.kind == "noun" and is_passing(thing, value.text)):
        return None
    return ThingState(thing, sort_of(value, "to"), value.text, is_change=True)


def gone_names(sentences: Sequence[Clause], reading: Reading) -> set[str]:
    """The names that a note says to be over: "we've left Bitwarden", "Winifred stood down"."""
    text = " . ".join(clause.text for clause in sentences).replace("⟨team ", "⟨")
    if not OF_OTHERS.isdisjoint(text.split()):
        return set()
    return {reading.spans[int(number)].name for number in (*_BEFORE.findall(text), *_AFTER.findall(text))}


def over_and_instead(sentences: Sequence[Clause], reading: Reading) -> Stated | None:
    """A note that says of one name that it is over, and has a word of what is so instead of it.

    Of what they are the values, another note has told: "we've left Bitwarden, all logins are in 1Password now".
    """
    if len(reading.spans) < _TWO or _INSTEAD.isdisjoint(reading.lower) or any(one.question for one in sentences):
        return None
    text = " . ".join(clause.text for clause in sentences).replace("⟨team ", "⟨")
    said = set(text.split())
    gone = gone_names(sentences, reading)
    if len(gone) != 1 or said & _NO_INSTEAD:
        return None
    names = {reading.spans[int(number)].name for number in NAME.findall(text)} - {reading.speaker} - gone
    # "Viessmann sold out, Carrier owns them now" says nothing of what was from there.
    new = names & {reading.spans[int(number)].name for number in _GONE_TO.findall(text)}
    if len(names) > 1:  # "we take the Telegraph now, Geoff likes the crossword"
        parts = [part for part in re.split(r" [.,] ", text) if not _INSTEAD.isdisjoint(part.split())]
        new &= {reading.spans[int(number)].name for part in parts for number in NAME.findall(part)}
    return Stated("", BY, new.pop(), gone.pop(), is_change=True) if len(new) == 1 else None
