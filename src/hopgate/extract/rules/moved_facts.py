"""Facts of a move: the relation follows from who or what moves, and where it was is over."""

from __future__ import annotations

from collections.abc import Iterator

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.fitting import is_kin, of_hands, of_move, software_name
from hopgate.extract.rules.former_facts import STATED
from hopgate.extract.rules.kept_patterns import compiled
from hopgate.extract.rules.places import is_address, is_room
from hopgate.extract.rules.referents import Referents

HANDS = ("owned by", "led by")
"""What passes from hand to hand."""
# "I switched from A to B" is about what I use, "… jobs" about where I work.
_BY_WORD = (("own", "owned by"), ("job", "works at"), ("site", "located in"), ("team", "part of"))
_SWITCHED = compiled(r"\b(?:switched|changed|migrated|gewechselt)\b(?! (?:jobs?|employers?|compan))")
_BY_SOMEBODY = compiled(r"\b(?:wurden?|ist|sind|werd|werden)\b[^,;]* von ⟨")
_FOR_GOOD = compiled(r"\b(?:over|now|hers|ownership|for good|from now on)\b")


def moved_facts(  # noqa: PLR0912
    groups: dict[str, str | None],
    subjects: tuple[str, ...],
    common: bool,
    clause: Clause,
    who: Referents,
    begin: str | None,
    said: str,
) -> Iterator[Fact]:
    """What a match of a move tells of what moved: where it is now, and that it is no longer where it was."""
    spans = clause.reading.spans
    to = spans[clause.spans(groups["b"] or "")[0]]
    if to.form == "version":
        return  # "traefik v2.11 -> v3.1" goes nowhere
    new = to.name
    old = [spans[number].name for number in clause.spans(groups.get("a") or "")]
    if subjects == (who.first_person,) and _SWITCHED.search(clause.text):
        over = begin or who.written
        yield from (Fact(name, "replaced by", new, over, None, STATED) for name in old if name != new)
        return
    if _BY_SOMEBODY.search(clause.text) and any(map(who.is_person, old)):
        return  # "wurde von Anna verschoben": she did it
    for subject in subjects:
        by_word = [kind for key, kind in _BY_WORD if groups.get(key)]
        relation = by_word[0] if by_word else of_move(subject, new, old, said, who)
        if groups.get("hand"):
            relation = of_hands(subject, new, who, person="whom" in groups)
            if common and not _FOR_GOOD.search(clause.text):
                continue  # "handed the salt to Ann"
        if relation == "runs on":
            subject = software_name(subject, who)  # noqa: PLW2901
        if relation == "works at" and who.is_host(new):
            relation = "runs on"  # "gitea left birch for alder"
        if "free" in groups and (relation != "runs on" or not all(map(who.is_host, (new, *old)))):
            continue  # any verb may stand between a service and two hosts, between other names it must be known
        if "title" in groups and subject != who.reading.topic and not who.is_service(subject):
            continue
        if relation == "works at" and not (who.is_person(subject) or subject[:1].isupper()):
            continue
        told = (
            relation in ("owned by", "led by")
            or (relation in ("part of", "runs on") and bool(old))
            or (relation == "lives in" and is_kin(subject, clause.text))
            or (relation == "located in" and (bool(old) or is_room(new) or is_address(new)))
        )
        over = begin or who.written
        if "maybe" in groups and common:
            continue
        if not relation or subject == new or (common and not who.is_host(new) and not told):
            continue
        # A move is told about when it happens: the new one has not held before.
        yield Fact(subject, relation, new, over, None, STATED)
        for name in old:
            if over and name not in (subject, new):
                yield Fact(subject, relation, name, None, over, STATED)
