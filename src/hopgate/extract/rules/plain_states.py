"""What a short sentence says of one thing and one value, in any words: "backups go to Wasabi", "Greta has the pager".

No pattern knows such words, and alone they make no fact. But where one note says that backups go to Backblaze and a
later one that they go to Wasabi now, something has changed: so what a sentence without a word of change says is kept as
`SAID`, and what one with such a word says as what it allows (`tentative.ALONE`); `graph/temporal/precedence` brings the
two together. A change that names what it ends ("Wasabi instead of Backblaze") needs no earlier note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.doubts import DENIED, is_doubtful
from hopgate.extract.rules.language_tables import table
from hopgate.extract.rules.places import is_address, is_room
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.role_table import ROLE_RELATIONS, ROLES, Role
from hopgate.extract.rules.subjects import ARTICLES, STOP, is_noun, named_parts
from hopgate.extract.rules.tentative import ALONE, SAID, alternatives, is_left
from hopgate.extract.rules.timetable import DAYS
from hopgate.extract.rules.towns import is_town
from hopgate.extract.rules.value_phrases import AT, EQUALS, TAKING, TO, USING, WITH, Value, comes_from, values_in
from hopgate.extract.rules.words import words

IS_WITH, GOES_TO, IS = "is with", "goes to", "is"
"""The relations of a thing to who has, makes or brings it, to where it goes, and to what it is by name."""
ANY_WORDS = (IS_WITH, GOES_TO, IS)
"""The relations of what is said in words that no pattern knows."""
MOST_WORDS = 18
_STILL = words("still noch nog encore toujours todavía aún ancora sigue stays stay remains remain bleibt blijft reste")
OVER_BUT = DENIED | words("cancelled canceled planned")
"""Words of doubt that are none beside a change: what is over may be cancelled."""
_SAID_BUT = OVER_BUT | _STILL
_PART = re.compile(
    r" (?:[,;()–]|because|weil|omdat|porque|parce que|perché|so|while|after|but|aber|maar|mais|pero|and(?! ⟨)|und|et) "
)
_NAME = re.compile(r"⟨(?:team )?(\d+)⟩(?: 's)?(?= |$)")
_OVER = re.compile(rf"⟨(\d+)⟩ (?:(?:has|have|is|are|was|'s|just|now|finally|officially) )*(?:{alternatives('over')})\b")
_OVER_BEFORE = re.compile(
    rf"\b(?:{alternatives('over_before')}|stop using|fed up with|had it with|no more|not (?:with|at|in|on)|"
    r"no longer (?:in|on|with|at)) (?:(?:the|my|our|with|to|old|at|of) )*⟨(\d+)⟩"
)
_VERBS = words(table("states")["verbs"])
_BETWEEN = STOP | ARTICLES | _VERBS | words(table("states")["skipped"])
_OF_OTHERS = words("old other second his her their sein seine ihr ihre son sa leur su sus zijn haar hun")
_FOR_IT = (["for"], ["as"], ["pour"], ["für"], ["voor"], ["para"], ["als"], ["como"], ["comme"])
# A word of change, but for those that also say how something is.
_CHANGE = words(table("changes")["change"] + table("states")["change"]) - words(
    """
    home hosts hosted läuft wohnt liegt steht gehört arbeitet nicht takes starts begins started began hands passes gave
    left quit takes taken packed unpacked longer ya landed ended
    """
)
_CHANGING = re.compile(
    r"\b(?:these days|any ?more|no longer|from now on|as of|of today|over to|from ⟦\d+⟧|from (?:this|next) \w+|"
    r"left|gave|took)\b|->|→"
)
_ONE = frozenset(("works at", "lives in", "runs on", *ROLE_RELATIONS))
_AT_WORK = re.compile(
    r"^(?:(?P<s>⟨\d+⟩|i) (?:'m|am|is|'s) )?(?:still |currently |also )*"
    r"(?:(?:started|starts|starting|joined|working|slaving away|employed|temping|interning|freelancing) )?"
    r"(?:at|with|for) (?P<v>⟨\d+⟩)(?: as (?:an?|the) .*)?$"
)
_AFTER_VERB = WITH | AT | TO | words(table("states")["skipped"])
_NOT_THINGS = words(
    """
    it that this they them us me you he she i we time date price today everything everyone nothing something anything
    all one thing things way year month week day morning evening night lot bit people guy life news idea plan problem
    question answer reason note notes wir ich je nous yo ik wij was were on
    """
)
# "the invoice from May", "the vet at the zoo", "the old one": another than the one that is meant without these words.
_ANOTHER = words(
    "old other second from of at in for on of von aus vom du des del van uit old alte alten ancien vieja oude"
)


def plain_states(  # noqa: PLR0912
    clause: Clause, who: Referents, made: list[Fact], *, told: bool = False
) -> Iterator[Fact]:
    """Yield what a sentence says of one thing and one value: as said, or where it tells of a change as what it allows.

    Where `told`, another sentence of the same short note has the word of change. What is `made` of the sentence is not
    said again.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> for text in ("Logs go to Loki.", "Logs now go to Elastic instead of Loki."):
    ...     source = Source("m1", Cleared(text), created_at=datetime(2024, 5, 4))
    ...     reading = read(source)
    ...     for fact in plain_states(next(clauses(reading)), Referents(reading, source), []):
    ...         print(fact.subject, "|", fact.relation, "|", fact.object, "|", fact.valid_to, "|", fact.confidence)
    logs | goes to | Loki | None | -2.0
    logs | goes to | Elastic | None | 0.0
    logs | is with | Elastic | None | 0.0
    logs | located in | Elastic | None | 0.0
    logs | runs on | Elastic | None | 0.0
    logs | is | Elastic | None | 0.0
    logs | goes to | Loki | 2024-05-04 | -2.0
    """
    text = clause.text
    if "⟨" not in text and not any(map(str.isdigit, text)) and (AT | TO).isdisjoint(text.split()):
        return
    if who.reading.speaker:
        text = text.partition(" : ")[2] or text
    changed = told or tells_change(text)
    if is_doubtful(clause, but=OVER_BUT if changed else _SAID_BUT):
        return
    left = left_names(text, who) if changed else {}
    if changed and len(left) == 1:
        yield from _ended(made, left, who)
    parts = [one for part in _PART.split(text) for one in _said_apart(part)]
    told_of = {(fact.subject, fact.object) for fact in made}
    for part in parts:
        if not changed and not made and "⟨" in part:
            yield from _work(part, clause, who)
        said = part.replace("⟨team ", "⟨").split()
        if not 2 < len(said) <= MOST_WORDS:
            continue
        found = [
            value for value in values_in(said, who) if value.name not in left and value.name != who.reading.speaker
        ]
        if len({value.name for value in found}) != 1:
            continue
        value = found[0]
        if not DAYS.keys().isdisjoint(said[value.end :]):
            continue  # "opens at 10 on Sundays"
        if _stance(clause, part, len(" ".join(said[: value.end]))) != "said":
            continue
        things = list(_things(said, value, left, who, 2 if not changed else int(value.name[0].isdigit())))
        for forms in things if len(things) == 1 else ():
            for subject in forms if changed else forms[:1]:
                if (subject, value.name) in told_of or subject in left or subject == value.name:
                    continue
                role = None if "'s" in said else ROLES.get(subject)  # "my brother's car insurance"
                yield from _told(subject, value, left, role, who) if changed else _said(subject, value, role, who)


def _stance(clause: Clause, part: str, end: int) -> str:
    return Clause(part, clause.reading, clause.question, clause.first).stance(0, end)


def _said_apart(part: str) -> tuple[str, ...]:
    """What stands before a colon is a remark of its own where it is long: "in case you forgot : rehearsals are …"."""
    before, colon, after = part.partition(" : ")
    return (before, after) if colon and len(before.split()) > 3 and after.count(" ") > 1 else (part,)


def _ended(made: list[Fact], left: dict[str, None], who: Referents) -> Iterator[Fact]:
    """What a stated fact takes the place of, where its sentence names that: "I work for B now and left A"."""
    for fact in made:
        for old in left:
            if fact.valid_to is None and fact.confidence > 0 and fact.relation in _ONE and old != fact.object:
                yield Fact(fact.subject, fact.relation, old, None, who.written, SAID)


def tells_change(text: str) -> bool:
    """Whether an encoded sentence has a word of change that does not as well say how something is.

    Examples
    --------
    >>> tells_change("⟨0⟩ sits in the hall"), tells_change("⟨0⟩ sits in the hall now")
    (False, True)
    """
    return not _CHANGE.isdisjoint(text.split()) or bool(_CHANGING.search(text) or _OVER_BEFORE.search(text))


def _said(subject: str, value: Value, role: Role | None, who: Referents) -> Iterator[Fact]:
    yield Fact(subject, _relation(subject, value, who), value.name, None, None, SAID)
    if role and value.named:
        yield Fact(who.first_person, role.relation, value.name, None, None, SAID)


def _told(subject: str, value: Value, left: dict[str, None], role: Role | None, who: Referents) -> Iterator[Fact]:
    relations = _relations(subject, value, who)
    yield from (Fact(subject, one, value.name, who.written, None, ALONE) for one in relations)
    if role and value.named:
        yield Fact(who.first_person, role.relation, value.name, who.written, None, ALONE)
    if len(left) == 1:
        yield from (Fact(subject, relations[0], old, None, who.written, SAID) for old in left)


def _work(part: str, clause: Clause, who: Referents) -> Iterator[Fact]:
    """Where somebody says to be, by a name that is neither a town nor a person's: at work."""
    match = _AT_WORK.search(part)
    if not match or _stance(clause, part, len(part)) != "said":
        return
    names = who.names_of(match["v"])
    subjects = who.names_of(match["s"] or "") or (who.first_person,)
    if not names or not (who.is_person(subjects[0]) or who.is_owner(subjects[0])):
        return
    if names[0][:1].isupper() and not (is_town(names[0]) or who.is_person(names[0]) or is_room(names[0])):
        yield Fact(subjects[0], "works at", names[0], None, None, SAID)


def left_names(text: str, who: Referents) -> dict[str, None]:
    """The names that an encoded sentence says to be over: "instead of A", "from A", "A has closed"."""
    found = [match[0] for match in _NAME.finditer(text) if is_left(text, match) and not _comes_from(text, match)]
    found += [f"⟨{match[1]}⟩" for pattern in (_OVER, _OVER_BEFORE) for match in pattern.finditer(text)]
    return dict.fromkeys(name for part in found for name in who.names_of(part))


def _comes_from(text: str, name: re.Match[str]) -> bool:
    said = _PART.split(text[: name.start()])[-1].split()
    while said and said[-1] in ARTICLES:
        said.pop()
    return bool(said) and comes_from(said, len(said) - 1)


def _things(
    said: list[str], value: Value, left: dict[str, None], who: Referents, most_odd: int
) -> Iterator[tuple[str, ...]]:
    """What a value is given for: the noun or name before it with words between that only link the two, or after it."""
    before, after = said[: value.start], said[value.end :]
    for_it = after[:1] in _FOR_IT
    if value.by != "has" and value.by not in TAKING and not for_it:
        named = _named(before, value, left, who)
        if named and _is_linked(before, *named[0], value.by, most_odd):
            yield named[0][1]
            return
    if value.by == "has" or for_it:
        named = _named(after[for_it:], value, left, who)
        mine = value.by == "has" or (_BETWEEN | TAKING).issuperset(_plain(before))
        if named and mine and not _is_another(after, *named[0]):
            yield named[0][1]


def _named(said: list[str], value: Value, left: dict[str, None], who: Referents) -> list[tuple[int, tuple[str, ...]]]:
    found = named_parts(" ".join("is" if _is_verb(said, at) else word for at, word in enumerate(said)), who)
    made = [(end, forms) for end, forms in found if _is_thing(forms[0], value, who) and forms[0] not in left]
    return [_whole(said, end, forms) for end, forms in made]


def _is_verb(said: list[str], at: int) -> bool:
    """Whether a word is a verb: a known one, or one in "s" between a noun and "at" or "now" ("the bakery opens at")."""
    word = said[at]
    if word in _VERBS:
        return True
    if not (at > 1 and word.endswith("s") and not word.endswith("ss") and said[at - 2] in ARTICLES and word.isalpha()):
        return False
    return at + 1 == len(said) or said[at + 1] in _AFTER_VERB


def _whole(said: list[str], end: int, forms: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """A noun with what "of" or "for" adds to it, and that by itself: "the door code of the office"."""
    if said[end : end + 1] not in (["of"], ["for"]):
        return end, forms
    start = end + 1 + (said[end + 1 : end + 2] != [] and said[end + 1] in ARTICLES)
    last = start
    while last < len(said) and last - start < 3 and is_noun(said[last]):
        last += 1
    if last == start:
        return end, forms
    inner = " ".join(said[start:last])
    return last, (" ".join((forms[0], *said[end:last])), inner)


def _is_linked(before: list[str], end: int, forms: tuple[str, ...], by: str, most_odd: int) -> bool:
    """Whether nothing but linking words stands between a thing and its value; "long call with Ann" has no verb."""
    between = before[end:]
    if not between and end == len(forms[0].split()) and by not in EQUALS:
        return False
    odd = [word for word in _plain(between) if word not in _BETWEEN]
    return len(odd) <= most_odd and not _is_another(before, end, forms)


def _plain(said: list[str]) -> list[str]:
    return [word for word in said if word[0] not in "⟨⟦⟪" and not word.endswith("ly")]


def _is_another(before: list[str], end: int, forms: tuple[str, ...]) -> bool:
    """Whether words around a noun say which of several it is."""
    first = end - len(forms[0].split()) - 1
    if first > 0 and before[first] == "'s" and before[first - 1][0] != "⟨":
        return True  # "my brother's car"
    return (before[end : end + 1] or [""])[0] in _ANOTHER or (first >= 0 and before[first] in _OF_OTHERS)


def _is_thing(name: str, value: Value, who: Referents) -> bool:
    if name == value.name or who.is_person(name) or who.is_owner(name):
        return False
    return name not in _NOT_THINGS and not is_town(name) and len(name) > 2


def _relation(subject: str, value: Value, who: Referents) -> str:
    """The one relation that words say: whose or with whom something is, where it is, or what it is."""
    name = value.name
    if value.by in EQUALS or value.by in TAKING or name[0].isdigit():
        return IS
    if value.by == "has" or value.by in WITH or value.by in USING or who.is_person(name):
        return IS_WITH
    if not value.named or is_room(name) or is_town(name) or is_address(name):
        return "located in"
    if who.is_host(name) and not who.is_person(subject):
        return "runs on"
    return GOES_TO if value.by in TO else "located in"


def _relations(subject: str, value: Value, who: Referents) -> list[str]:
    """The relations that a change may be of: what is said first, then what another wording may have said before."""
    first = _relation(subject, value, who)
    others = []
    if value.name[0].isdigit():
        return [IS]
    if not value.named:
        return list(dict.fromkeys((first, "located in", GOES_TO)))
    if value.by in AT:
        others = ["located in", "runs on", IS_WITH, GOES_TO]
    elif value.by in TO or value.by in EQUALS:
        others = [GOES_TO, IS_WITH, "located in", "runs on", IS]
    if who.is_person(value.name):
        others = [one for one in others if one not in ("located in", "runs on")]
    return list(dict.fromkeys((first, *others)))
