"""What a sentence says to have been before: "went up from £24 to …", "took over Atlas from Bea", "before that at …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopgate.extract.extraction import Fact
from hopgate.extract.rules.clauses import Clause
from hopgate.extract.rules.fact_patterns import FACTS
from hopgate.extract.rules.places import is_room
from hopgate.extract.rules.referents import Referents

# How far a pattern may be trusted: the share right on the tuning half of benchmarks/notes, rounded down.
STATED, COMMON = 0.9, 0.7


def gone(
    relation: str, subject: str, groups: dict[str, str | None], clause: Clause, end: int, over: str, who: Referents
) -> Iterator[Fact]:
    """Yield what a sentence says to have been before: "went up from £24 to …", "took over Atlas from Bea"."""
    old = _gone_amount(groups, clause, end) if relation in ("costs", "due") else groups.get("ac")
    if old and ("room" not in groups or is_room(old)):
        yield Fact(subject, relation, old, None, over, COMMON)
    if not groups.get("a"):
        return
    old = clause.reading.spans[clause.spans(groups["a"] or "")[0]].name
    if relation in ("owned by", "reports to", "located in"):
        yield Fact(subject, relation, old, None, over, STATED)
    elif relation in ("led by", "sold to") and not who.is_host(old):
        led = relation == "led by" and not old.startswith("Team ")
        yield Fact(subject, relation if led else "owned by", old, None, over, STATED)


def _gone_amount(groups: dict[str, str | None], clause: Clause, end: int) -> str | None:
    """What something cost before: "… instead of £24", "(was £24)", "went up from £24 to …"."""
    part = groups.get("x")
    if not part:
        after = re.match(
            r"(?: [\w/]+){0,4} (?:instead of|statt|, was|\( was|, before|"
            r", not|rather than|anstatt|au lieu de|en vez de) (⟪\d+⟫)",
            clause.text[end:],
        )
        part = after[1] if after else None
    return clause.reading.spans[clause.spans(part)[0]].name if part else None


def before(groups: dict[str, str | None], who: Referents, over: str | None, rest: str) -> Iterator[Fact]:
    """Yield what "before that" and its like end: the last fact's predecessor, or somebody's former work."""
    name = who.names_of(groups.get("a") or "")
    last = who.last_fact
    # "the Aberdeen port authority" is not Aberdeen.
    if (
        not name
        or not over
        or re.match(r" (?!and|und|in|on|at|by|but|for|to|then|as|or|until|till|before)[^\W\d_]{3,} [^\W\d_]{3,}", rest)
    ):
        return
    if "work" in groups:
        if who.topic and who.is_person(who.topic):
            yield Fact(
                who.topic, "works at", name[0], None, last.valid_from if last and last.valid_from else over, STATED
            )
        return
    subjects = who.people_of(groups["s"]) if groups.get("s") else ()
    if last and "s" not in groups and last.relation in FACTS.single_valued and last.object != name[0]:
        yield Fact(last.subject, last.relation, name[0], None, last.valid_from or over, STATED)
    elif subjects:
        end = last.valid_from if last and last.relation == "works at" and last.subject in subjects else None
        yield Fact(subjects[0], "works at", name[0], None, end or over, STATED)
