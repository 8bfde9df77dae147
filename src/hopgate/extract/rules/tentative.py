"""What a sentence tells if more is known: names beside a word of change, where no pattern fits.

"gitea is happier on birch now" says nothing certain. Where an earlier memory says that gitea runs on alder, it says
that it moved. So the rules note what a sentence allows, for relations of which a thing has one at a time, and the graph
keeps what ends a fact that it knows (`graph/temporal/precedence`). Precision comes from there being such a fact, and
from words of plans, copies, visits and doubt, beside which nothing is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.change_words import DENIED, alternatives, has_change, is_doubtful, moves_something
from hopgate.extract.rules.clauses import STATES, TEAMS, Clause
from hopgate.extract.rules.fact_dates import begins, validity
from hopgate.extract.rules.fitting import THEIRS
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.not_ours import is_not_here
from hopgate.extract.rules.places import is_address, is_room
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.referents import Referents
from hopgate.extract.rules.subjects import KINSHIP, LINKING, named_parts, subjects_of
from hopgate.extract.rules.towns import is_firm, is_town
from hopgate.extract.rules.words import words

ALONE, BESIDE = 0.0, -1.0
"""The confidence of what a sentence allows and does not state, and of what a note merely names beside other things."""
_FIRST = words("i we ich wir je nous yo nosotros io noi ik wij")
_PRONOUNS = words("it he she es er sie il elle ella él hij zij ze lei lui")
MOST_SUBJECTS = 6
# In a note of at most so many tokens a word of work or of homes is said of all of it.
SHORT = 40
# A sentence with more names is a list, and every pair of it would be noted.
MOST_NAMES = 4
_NAME = compiled(r"⟨(?:team )?(\d+)⟩")
_ROOM = compiled(
    r"\b(?:in|into|to|onto|on|at|inside|under|behind|auf|im|ins|in den|in die|in der|dans|en|nel|nella|naar|op|:) "
    r"(?:(?:the|my|our|a|an|dem|den|der|die|das|la|le|el|il|de|het|new|old) )*"
    r"(?P<room>(?:room|raum|zimmer|lab|bay|shelf|building) [\w.]*\d\w*|\d+(?:st|nd|rd|th) floor|"
    r"[^\W\d_]+(?: [^\W\d_]+)?)(?=$| (?:now|[,;.()]|instead|since|from|jetzt|for))"
)
# Each part of a sentence says what it says.
_PART = compiled(r" (?:[,;()–-]|because|weil|omdat|porque|parce que|perché|so|while|after|but|aber|maar|mais|pero) ")
_A_HOME = compiled(
    r"\b(?:flat|apartment|house|home|place|keys|boxes|address|rent|neighbou?rs|neighbou?rhood|village|town|wohnung|haus|"
    r"appartement|piso|casa|huis)\b"
)
# "took the bike to the workshop" is no move of its place, unless it stays there.
_TAKEN = compiled(
    r"\b(?:took|taken|taking|brought|bring)\b(?!.*\b(?:now|from now on|for good|permanent|instead|since)\b)"
)
_NAME_NOUN = compiled(
    r"⟩ (?!is |are |was |has |have |had |now |on |to |in |at |and |from |moved |runs |lives )[^\W\d_]{3,} "
)
_OF_IT = compiled(r"\b(?:of|von|de|van|di) (?:(?:the|my|our|der|dem|la|le|het) )?$")
# Between who moves and where to, anything may be said.
_MOVING = compiled(
    r"\b(?:moved|relocated|migrated|resettled|emigrated|gezogen|umgezogen|verhuisd|déménagée?|mudado|mudó|trasferit[oa])\b"
)
_OTHERS = KINSHIP | words(
    "friend friends colleague colleagues flatmate roommate neighbour neighbours neighbor landlord"
)
_SOMEBODY = compiled(r"⟩ 's |\b(?:who|whose)\b")
_I_MOVED = compiled(r"(?:just |finally |officially |have |has |we |i )*(?:moved|relocated|settled|emigrated)\b")


_ARTICLES = rf"(?:(?:{alternatives('articles')}) ){{0,3}}"
_TOWARDS, _AWAY = (compiled(rf"(?:^|\s)(?:{alternatives(name)}) {_ARTICLES}$") for name in ("towards", "away"))
_HOLDS = compiled(
    rf"^ (?:(?:is|has|'s|now|finally|then|just|already|officially|and) ){{0,3}}(?:{alternatives('holding')})\b"
)
_OF_HANDS, _OF_WORK, _OF_HOME, _OF_BOSS = (
    compiled(rf"\b(?:{alternatives(name)})\b") for name in ("hands", "work", "home", "boss")
)
_APPOSED = compiled(r"(?:^|[,;:] )an? $")  # "has a new car, a Tesla"; elsewhere "a" is a preposition
_CLOSED = compiled(r"$| (?:now|[,;])")  # "goes to St. Brendan's now"


def tentative_facts(clause: Clause, who: Referents, *, told: bool = False) -> Iterator[Fact]:
    """Yield what a sentence would tell of its names if they were known to have been elsewhere.

    Where `told`, another sentence of the same short note has the word of change.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.extraction import Source
    >>> from hopgate.extract.rules.clauses import clauses
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> known = (("gitea", "service"), ("birch", "host"))
    >>> text = Cleared("gitea is happier on birch now.")
    >>> source = Source("m1", text, created_at=datetime(2024, 5, 4), known=known)
    >>> reading = read(source)
    >>> for fact in tentative_facts(next(clauses(reading)), Referents(reading, source)):
    ...     print(fact.subject, "|", fact.relation, "|", fact.object, "|", fact.confidence)
    gitea | runs on | birch | 0.0
    """
    if not who.written or not (told or has_change(clause)):
        return
    if len(_NAME.findall(clause.text)) > MOST_NAMES or is_doubtful(clause, but=DENIED) or moves_something(clause.text):
        return
    if is_not_here(clause.text):
        return
    texts = _PART.split(clause.text)
    parts = [replace(clause, text=text) for text in texts] if len(texts) > 1 else [clause]
    for part in parts:
        targets = list(_targets(part, who))
        if not targets or part.stance(0, len(part.text)) == "not":
            continue
        for place, target, holds in targets:
            begin = validity(part, place, None)[0] or begins(clause, who.written)
            for subject in _held(part, place, target, who) if holds else _moved(part, parts, place, target, who):
                for relation in _relations(subject, target, _around(clause, who), holds, who):
                    yield Fact(subject, relation, target, begin, None, ALONE)


def changes_somewhere(sentences: list[Clause], reading: Reading) -> bool:
    """Whether a short note tells of a change somewhere, and nothing of it is in doubt."""
    if len(reading.lower) > SHORT or len(sentences) == 1:
        return False
    return any(map(has_change, sentences)) and not any(is_doubtful(one, but=DENIED) for one in sentences)


def _around(clause: Clause, who: Referents) -> str:
    """A sentence with what stands beside it in a short note."""
    lower = who.reading.lower
    return clause.text if len(lower) > SHORT else f"{clause.text} | {' '.join(lower)}"


def other_forms(made: list[Fact], clause: Clause, who: Referents) -> Iterator[Fact]:
    """Yield what is stated of something by one of its names, tentatively by the others: "the Zigbee gateway"."""
    told = [fact for fact in made if fact.valid_to is None and fact.relation in STATES]
    if not told or not who.written or not has_change(clause):
        return
    if not (_NAME_NOUN.search(clause.text) or any(" " in fact.subject for fact in told)):
        return
    for forms in subjects_of(clause.text, who):
        for fact in told:
            if fact.subject in forms:
                others = (form for form in forms if form not in (fact.subject, fact.object))
                yield from (
                    Fact(form, fact.relation, fact.object, fact.valid_from or begins(clause, who.written), None, ALONE)
                    for form in others
                )


def _targets(part: Clause, who: Referents) -> Iterator[tuple[re.Match[str], str, bool]]:
    """Where something may be now, or whose it may be: names and rooms, and whether that one holds it."""
    text = part.text
    for match in _NAME.finditer(text):
        name = who.names_of(match[0])
        if not name or name[0] == who.reading.speaker or is_left(text, match):
            continue
        if part.reading.code == "en" and _APPOSED.search(text[: match.start()]):
            continue
        holds = bool(_HOLDS.match(text[match.end() :]))
        if holds or is_towards(text, match):
            yield match, name[0], holds
    for match in _ROOM.finditer(text):
        if is_room(match["room"]) and match["room"].split()[0] not in THEIRS and not _TAKEN.search(text):
            yield match, match["room"], False


def _held(part: Clause, place: re.Match[str], target: str, who: Referents) -> list[str]:
    """What somebody or something is said to have: all that its part of the sentence names after it."""
    after = part.text[place.end() :]
    found = [name for forms in subjects_of(after, who) for name in forms]
    found += [name for match in _NAME.finditer(after) if not is_left(after, match) for name in who.names_of(match[0])]
    return [name for name in dict.fromkeys([*found, *_meant(part.text, who)]) if name != target][:MOST_SUBJECTS]


def _moved(part: Clause, parts: list[Clause], place: re.Match[str], target: str, who: Referents) -> list[str]:
    """Whom or what a part of a sentence is about that something is said to be in now.

    That is what is named last before it, with nothing else happening between the two; else what a pronoun means, or
    what another part of the sentence is about.
    """
    before = part.text[: place.start()]
    named = [(end, forms) for end, forms in named_parts(before, who) if not _is_left_name(forms, before, who)]
    said = before.replace("⟨team ", "⟨").split()
    end, forms = named[-1] if named else (0, ())
    if named and _OTHERS.isdisjoint(said[end:]):
        between = [word for word in said[end:] if word[0] not in "⟨⟦⟪" and not word.endswith(("ly", "er"))]
        found = forms if LINKING.issuperset(between) or _MOVING.search(part.text) else ()
        return [name for name in dict.fromkeys((*found, *_meant(" ".join(said[end:]), who))) if name != target]
    # "Gus: my brother works at Aldi now" is not about Gus.
    if named or not KINSHIP.isdisjoint(said) or _SOMEBODY.search(part.text):
        return []
    if not LINKING.issuperset(word for word in said if word[0] not in "⟨⟦⟪" and not word.endswith(("ly", "er"))):
        return []
    if meant := _meant(before, who):
        return [name for name in meant if name != target]
    for other in (one for one in parts if one is not part):
        found = tuple(name for forms in subjects_of(other.text, who) for name in forms)
        if found := (*found, *_meant(other.text, who)):
            return [name for name in dict.fromkeys(found) if name != target][:MOST_SUBJECTS]
    first = who.topic or (who.first_person if _I_MOVED.match(part.text) and is_town(target) else "")
    return [first] if first and first != target else []


def _is_left_name(forms: tuple[str, ...], text: str, who: Referents) -> bool:
    return any(
        _AWAY.search(before := text[: match.start()])
        and not _OF_IT.search(before)
        and set(who.names_of(match[0])) & set(forms)
        for match in _NAME.finditer(text)
    )


def is_left(text: str, name: re.Match[str]) -> bool:
    """Whether a name is where something was, or whose it is ("Mats's brother moved"): a sentence is not about it."""
    possessive = text.startswith(" 's", name.end()) and not _CLOSED.match(text, name.end() + 3)
    return possessive or bool(_AWAY.search(text[: name.start()]))


def is_towards(text: str, name: re.Match[str]) -> bool:
    """Whether a name is where something went to."""
    return bool(_TOWARDS.search(text[: name.start()]))


def _meant(text: str, who: Referents) -> tuple[str, ...]:
    """What the first pronoun of a part of a sentence means."""
    for word in text.split():
        if word in _FIRST:
            return (who.first_person,)
        if word in _PRONOUNS:
            return who.people_of(word)
    return ()


def _relations(subject: str, target: str, text: str, holds: bool, who: Referents) -> Iterator[str]:
    """The relations of which a thing has one at a time that these two may have, given the sentence's words."""
    if target.startswith(TEAMS):
        if not who.is_person(subject):
            yield "owned by"
        return
    if who.is_person(target) or who.is_owner(target):
        if _OF_HANDS.search(text):
            yield from ("reports to",) if who.is_person(subject) else ("owned by", "led by")
        return
    person = who.is_person(subject) or who.is_owner(subject)
    if who.may_be_person(target) and not is_town(target) and (_OF_BOSS if person else _OF_HANDS).search(text):
        yield from ("reports to",) if person else ("owned by", "led by")
    if person:
        if not who.is_host(target) and not holds:
            yield from _of_person(target, text, mine=who.is_owner(subject))
        return
    if is_room(target) or is_address(target) or is_town(target):
        if not holds:
            yield "located in"
    elif target.islower() or who.is_host(target):
        yield "runs on"
    elif not holds and target[:1].isupper():
        yield from ("located in", "runs on")


def _of_person(target: str, text: str, *, mine: bool) -> Iterator[str]:
    """Where somebody lives or works who is said to be there now: what the words and the name itself tell."""
    # "We're on Koha at work": not where one works
    work, home = bool(_OF_WORK.search(text.replace(" at work", ""))), bool(_OF_HOME.search(text))
    if is_town(target) or is_room(target):
        if home and not work and is_town(target):
            yield "lives in"
    elif mine and home and not work and not _A_HOME.search(text):
        return  # "we moved to Zulip"
    elif work != home:
        yield "works at" if work else "lives in"
    elif is_firm(target):
        yield "works at"
