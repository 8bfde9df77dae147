"""Facts as people note them: each sentence against the table of patterns, with its dates, moves and pronouns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from hopgate.extract.extraction import Fact, Source
from hopgate.extract.rules.clauses import STATES, Clause, clauses
from hopgate.extract.rules.fact_dates import came_when, holds_still, tells_turn, validity
from hopgate.extract.rules.fact_ends import ARTICLE, ends_of, objects_of, subjects_of
from hopgate.extract.rules.fact_patterns import FACTS, groups_of
from hopgate.extract.rules.fitting import fitting
from hopgate.extract.rules.former_facts import COMMON, STATED, before, gone
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.markers import meet
from hopgate.extract.rules.moved_facts import HANDS, moved_facts
from hopgate.extract.rules.next_sentence import of_this_sentence
from hopgate.extract.rules.not_ours import is_of_others
from hopgate.extract.rules.places import contrast, is_event, is_room, tells_change
from hopgate.extract.rules.reading import Reading
from hopgate.extract.rules.referents import Referents

_PUT_OFF = compiled(
    r"\b(?:moved|postponed|pushed|extended|delayed|rescheduled|shifted|brought|verschoben|verlängert)\b"
)
_KEPT = compiled(r"\b(?:stored|kept|parked|moored|located|based|gelagert|eingelagert)\b")
_RISES = compiled(
    r"\b(?:(?:goes|went|gone|going|put) (?:up|down)|(?:put|puts|putting) [^,;]{1,30}up|rises|rose|risen|increases|"
    r"increased|raises|raised|bumped|lowered|drops|dropped|falls|fell|steigt|gestiegen|erhöht|sinkt|gesunken|gesenkt)\b"
)
_ON_A_DAY = compiled(r"(?: [^,;]{0,20})?(?: ,)? (?:in|from|on|starting|as of|ab|im|zum) ⟦(\d+)⟧")
_OLDER = compiled(
    r"(?:the|my|our|his|her|their|der|die|das|den|mein|meine|meinen|unser|unsere|unseren|le|la|mon|ma|"
    r"el|mi|il|de|het|mijn) "
    r"(?:old|older|former|previous|alte[nrs]?|vorige[nrs]?|ancien|ancienne|vieux|vieille|viej[oa]|antigu[oa]|vecchi[oa]|"
    r"oude) $"
)
# "Netflix in Turkey costs £3" is another price, "the flat in Leeds costs £900" its own.
_ELSEWHERE = compiled(r"^(?:⟨\d+⟩|[^\W\d_][\w-]*) in ⟨\d+⟩ ")
# "Grant report for the Wolfson money is due": the report is; but "the report for the board" may be one of several.
_OF_A_KIND = compiled(
    r"(?:⟨\d+⟩ : )?(?:(?:the|our|my|this) )?(?P<noun>(?!(?:the|our|my|this) )(?:[^\W\d_]+ ){1,2}"
    r"(?!(?:half|part|rest|copy|bulk|price|cost|deadline|date|one|pair|set)\b)[^\W\d_]+) "
    r"(?:for|of|at) (?:(?:the|my|our) )?$"
)


def note_facts(reading: Reading, source: Source) -> Iterator[Fact]:
    """Yield the facts of a memory, sentence by sentence.

    Examples
    --------
    >>> from datetime import datetime
    >>> from hopgate.extract.rules.reading import read
    >>> from hopgate.memory import Cleared
    >>> source = Source("m1", Cleared("Moved immich from cedar to alder yesterday."), created_at=datetime(2024, 5, 4))
    >>> for fact in note_facts(read(source), source):
    ...     print(fact.subject, "|", fact.relation, "|", fact.object, "|", fact.valid_from, "|", fact.valid_to)
    immich | runs on | alder | 2024-05-03 | None
    immich | runs on | cedar | None | 2024-05-03
    """
    who = Referents(reading, source)
    for clause in clauses(reading):
        yield from _of_clause(clause, who)
        who.leave(clause)


def _of_clause(clause: Clause, who: Referents) -> Iterator[Fact]:  # noqa: PLR0912
    seen: list[tuple[int, int]] = []
    for pattern, matches in FACTS.found_in(clause.text):
        for match in matches:
            start, end = match.span()
            if pattern.relation in _QUIET and any(start < last and first < end for first, last in seen):
                continue
            free = pattern.free
            if free and (not clause.is_plain() or clause.is_of_its_own(start, end)):
                continue
            about = match.start("s") if groups_of(match).get("s") else 0
            if pattern.relation in _PLACES and clause.is_beside(
                start, end, 0 if pattern.relation == "located in" else about
            ):
                continue
            kind = _OF_A_KIND.match(clause.text[:about]) if pattern.relation in _MEASURED else None
            if pattern.relation in _MEASURED and (
                (clause.is_of_another(about) and not kind) or is_of_others(clause.text[start:end])
            ):
                continue
            if pattern.relation in _PLACES and groups_of(match).get("s") and clause.is_of_a_part(match.end("s"), about):
                continue
            if pattern.relation in HANDS and groups_of(match).get("s") and clause.is_of_a_piece(match.end("s")):
                continue
            if groups_of(match).get("o") and match.end("o") == end and clause.text.startswith(" 's ", end):
                continue  # "lives in Mo's flat": not in Mo
            if pattern.relation == "led by" and _STOOD_DOWN.match(clause.text, end):
                continue
            stance = clause.stance(start, end)
            if free and (stance != "said" or clause.is_past(start, end)):
                continue
            if stance != "said" and pattern.relation in STATES and not clause.question:
                yield from _instead(pattern.relation, match, clause, who)
            if stance == "not" and pattern.relation != "before":
                continue
            if pattern.relation == "replaced by":
                stance = "said"  # "no longer" is of the old thing
            if pattern.relation in STATES and (pattern.over or clause.is_past(start, end)):
                stance = "ended"
            if stance == "ended" and clause.is_long_ago(end):
                continue  # over, but not since this note
            made = list(_facts_of(pattern.relation, match, clause, who, stance == "ended"))
            if kind:
                made = [replace(fact, subject=kind["noun"]) for fact in made]
            if made:
                seen.append((start, end))
                who.note(made[0])
            yield from made


def _instead(relation: str, match: re.Match[str], clause: Clause, who: Referents) -> Iterator[Fact]:
    """What holds instead of what is denied, told by a preposition alone: "not in Celle any more but in Uelzen"."""
    if told := contrast(clause.text, *match.span()):
        subjects = ends_of(groups_of(match).get("s"), clause, who, match.start())[0]
        began = validity(clause, match, None)[0]
        for subject, name in product(subjects, who.names_of(told) or (told,)):
            yield Fact(subject, relation, name, began, None, STATED)


# "Elected chair of the club, Bernard stood down": it is not Bernard.
_STOOD_DOWN = compiled(
    r" (?:(?:has |have |is )?(?:stood|stepped|steps|stepping|standing) down\b|(?:has )?(?:resigned|retired)(?= [,;]|$))"
)
_PLACES = frozenset(("runs on", "lives in", "works at", "located in", "move"))
_MEASURED = frozenset(("due", "costs"))
# "The register runs on bramble, and so do the timesheets"
_SO_DO = compiled(
    r" (?:, )?(?:and )?so (?:do|does|is|are) (?:(?:the|my|our) )?"
    r"(?P<t>⟨\d+⟩|(?!(?:i|he|she|they|we|you|it|everyone|everybody|all|others|many)\b)[^\W\d_]+)(?=$| [,;])"
)
_SHARED = frozenset(("runs on", "located in", "lives in", "works at"))
_QUIET = frozenset(("move", "located in", "runs on", "part of", "replaced by", "owned by"))


def _facts_of(relation: str, match: re.Match[str], clause: Clause, who: Referents, ended: bool) -> Iterator[Fact]:  # noqa: PLR0912
    groups = of_this_sentence(groups_of(match), match)
    begin, until = validity(clause, match, groups.get("d"))
    over = begin or who.written
    if relation == "costs" and _ELSEWHERE.match(clause.text):
        return
    if relation == "before":
        yield from before(groups, who, over, clause.text[match.end() :])
        return
    subjects, common = subjects_of(relation, groups, clause, who, match.start())
    if relation in _SHARED and (too := _SO_DO.match(clause.text, match.end())):
        subjects += who.names_of(too["t"]) if too["t"][0] == "⟨" else (too["t"],)
    older = relation != "replaced by" and groups.get("s") and _OLDER.search(clause.text[: match.start("s")])
    if older and len(subjects) == 1 and not who.is_person(subjects[0]):
        subjects = (f"old {subjects[0]}",)  # the one before the one that bears the name now
    if relation == "move":
        after = clause.text[match.end() :].split(" ", 4)[:4]
        yield from moved_facts(groups, subjects, common, clause, who, begin, " ".join((match[0], *after)))
        return
    if (
        relation == "replaced by"
        or (relation == "due" and _PUT_OFF.search(match[0]))
        or (relation == "costs" and not begin and _RISES.search(clause.text))
    ):
        # Told as it happens, or with its day: before it the old thing was in its place.
        ahead = _ON_A_DAY.match(clause.text, match.end()) if relation == "costs" else None
        begin = clause.reading.spans[int(ahead[1])].name if ahead else over
    objects, plain = objects_of(relation, groups, clause, who, clause.text[match.end() :])
    made = False
    for subject, target in product(subjects, objects):
        kind = fitting(relation, subject, target, clause, who, plain=plain, common=common)
        # Two common nouns say little, but for where a thing is in the house.
        if not kind or subject == target or (common and plain and not (kind == "located in" and is_room(target))):
            continue
        if (
            common
            and kind == "located in"
            and not (ARTICLE.match(groups.get("s") or "") or is_room(target) or _KEPT.search(match[0]))
        ):
            continue  # "Mail is at Gmail"
        if not meet(groups, subject, target, who) or (kind == "led by" and is_room(subject)):
            continue
        if kind == "located in" and (
            is_room(target) or is_event(subject) or tells_change(match[0], clause.text[match.end() :])
        ):
            # A town in a country stays there; what stands in a room, or is there now, has been put there.
            begin = over
        trust = COMMON if common or plain else STATED
        made = True
        if not ended:
            turned = kind in FACTS.single_valued and not until and tells_turn(clause, match)
            if turned and not holds_still(clause, begin, who.written):
                mine = subject == who.first_person
                begin = begin or came_when(kind, clause, match, who.written, mine=mine) or over
            yield Fact(subject, kind, target, begin, until, trust)
        elif end := until or begin or who.written:  # "No longer since May": the date is its end.
            yield Fact(subject, kind, target, begin if until else None, end, trust)
    if over and made and not ended:
        yield from gone(relation, subjects[0], groups, clause, match.end(), over, who)
