"""Queries about the world in six strata, made from facts, notes and threads, never from a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

from memories import NOTES, written_date
from world import CHAINS, RELATIONS, WorldRelation

from hopgate.demo import LAST_DAY, Question, WorldFact

# Queries of a chain, at most: there are 17 two-hop and 11 three-hop chains.
PER_CHAIN = 4
# Paraphrase queries about single facts, beside those about notes.
PARAPHRASES = 12


def questions(rng: Random, facts: Sequence[WorldFact], note_ids: dict[int, str]) -> list[Question]:
    """Ask for the notes, for single facts, along chains, and through time."""
    return numbered(
        [
            *_of_notes(note_ids),
            *_of_facts(rng, facts),
            *(query for chain in CHAINS for query in _of_chain(rng, chain, facts)),
            *_of_changes(rng, facts),
        ]
    )


def numbered(asked: Sequence[Question], after: int = 0) -> list[Question]:
    """Give queries the ids ``q0001`` and so on."""
    return [replace(query, id=f"q{number:04}") for number, query in enumerate(asked, after + 1)]


def question(stratum: str, text: str, answer: str, *evidence: tuple[str, ...], **more: Any) -> Question:
    """Make a question that has no id yet; what else it says is metadata."""
    metadata = {"type": stratum, "stratum": stratum, "hops": len(evidence), "answer": answer, **more}
    return Question("", text[0].upper() + text[1:], metadata, evidence)


def _of_notes(note_ids: dict[int, str]) -> Iterator[Question]:
    for number, key in sorted(note_ids.items()):
        note = NOTES[number]
        for stratum in ("exact", "paraphrase"):
            if text := note.get(stratum):
                yield question(stratum, text, note["text"], (key,))


def _of_facts(rng: Random, facts: Sequence[WorldFact]) -> Iterator[Question]:
    chained = {relation.name for chain in CHAINS for relation in chain}
    current = [fact for fact in facts if fact.valid_to is None and not fact.dated and fact.relation in chained]
    for fact in rng.sample(current, PARAPHRASES):
        text = rng.choice(RELATIONS[fact.relation].questions).format(x=fact.subject)
        yield question("paraphrase", text, fact.object, fact.evidence)


def _of_chain(rng: Random, chain: tuple[WorldRelation, ...], facts: Sequence[WorldFact]) -> list[Question]:
    found = []
    for path in _paths(chain, [fact for fact in facts if fact.holds(LAST_DAY)]):
        names = [fact.subject for fact in path] + [path[-1].object]
        # Two dates in neighbouring hops could share a month or a year, and memories of two hops must share no wording.
        if sum(fact.dated for fact in path) > 1 or len(set(names)) < len(names):
            continue
        phrase = path[0].subject
        for relation in chain[:-1]:
            phrase = rng.choice(relation.nouns).format(x=phrase)
        text = rng.choice(chain[-1].questions).format(x=phrase)
        stratum = "two-hop" if len(path) == 2 else "three-hop"
        found.append(question(stratum, text, path[-1].object, *(fact.evidence for fact in path)))
    return rng.sample(found, min(PER_CHAIN, len(found)))


def _paths(chain: tuple[WorldRelation, ...], facts: Sequence[WorldFact]) -> Iterator[tuple[WorldFact, ...]]:
    """Follow a chain from every fact of its first relation."""
    for first in (fact for fact in facts if fact.relation == chain[0].name):
        rests: Iterator[tuple[WorldFact, ...]] = _paths(chain[1:], facts) if len(chain) > 1 else iter([()])
        yield from ((first, *rest) for rest in rests if not rest or rest[0].subject == first.object)


def _of_changes(rng: Random, facts: Sequence[WorldFact]) -> Iterator[Question]:
    """Ask for each fact of a subject that changes on a day when it held, and by what was known before a late record."""
    for fact in facts:
        if fact.valid_from is None and fact.valid_to is None:
            continue
        asks = RELATIONS[fact.relation].past_questions
        begin = max(fact.valid_from or fact.recorded_at, fact.recorded_at)
        middle = begin + timedelta(((fact.valid_to or LAST_DAY) - begin).days // 2)
        text = rng.choice(asks).format(x=fact.subject, d=written_date(rng, middle))
        yield question("temporal", text, fact.object, fact.evidence, as_of=middle.isoformat())
        ended, recorded = fact.valid_to, fact.end_recorded_at
        if ended and recorded and (recorded - ended).days > 7:
            # By what was known then, on a day after the end of a fact and before a memory recorded that end.
            day, known_at = ended + timedelta((recorded - ended).days // 3), recorded - timedelta(2)
            text = rng.choice(asks).format(x=fact.subject, d=written_date(rng, day))
            text = f"Going by what I knew on {written_date(rng, known_at)}: {text[0].lower()}{text[1:]}"
            times = {"as_of": day.isoformat(), "known_at": known_at.isoformat()}
            yield question("temporal", text, fact.object, fact.evidence, **times)
