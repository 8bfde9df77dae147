"""Queries in five strata, made from the facts and the notes, never from a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random
from typing import Any

from hopgate.demo.drafts import spoken
from hopgate.demo.history import LAST_DAY
from hopgate.demo.notes import NOTES
from hopgate.demo.records import Question, WorldFact
from hopgate.demo.relations import CHAINS, RELATIONS
from hopgate.demo.world import WorldRelation

EACH = 4  # queries of a chain, at most: 17 two-hop and 11 three-hop chains
SINGLE = 12  # paraphrases made of facts, beside those of the notes


def questions(rng: Random, facts: Sequence[WorldFact], note_ids: dict[int, str]) -> list[Question]:
    """Ask for the notes, for single facts, along chains, and through time; ids are ``q0001`` and so on."""
    asked = [
        *_of_notes(note_ids),
        *_of_facts(rng, facts),
        *(query for chain in CHAINS for query in _of_chain(rng, chain, facts)),
        *_of_changes(rng, facts),
    ]
    return [replace(query, id=f"q{number:04}") for number, query in enumerate(asked, 1)]


def _query(stratum: str, text: str, answer: str, evidence: tuple[tuple[str, ...], ...], **more: Any) -> Question:
    bridges = more.pop("bridges", ())
    metadata = {"type": stratum, "stratum": stratum, "hops": len(evidence), "answer": answer, **more}
    return Question("", text[0].upper() + text[1:], metadata, evidence, bridges)


def _of_notes(note_ids: dict[int, str]) -> Iterator[Question]:
    for number, key in sorted(note_ids.items()):
        note = NOTES[number]
        if note.exact:
            yield _query("exact", note.exact, note.text, ((key,),))
        if note.paraphrase:
            yield _query("paraphrase", note.paraphrase, note.text, ((key,),))


def _of_facts(rng: Random, facts: Sequence[WorldFact]) -> Iterator[Question]:
    by_name = {relation.name: relation for chain in CHAINS for relation in chain}
    still = [fact for fact in facts if fact.valid_to is None and not fact.dated and fact.relation in by_name]
    for fact in rng.sample(still, SINGLE):
        text = rng.choice(by_name[fact.relation].asks).format(x=fact.subject)
        yield _query("paraphrase", text, fact.object, (fact.told_by,))


def _of_chain(rng: Random, chain: tuple[WorldRelation, ...], facts: Sequence[WorldFact]) -> list[Question]:
    found = []
    for path in _paths(chain, [fact for fact in facts if fact.holds(LAST_DAY)]):
        names = [fact.subject for fact in path] + [path[-1].object]
        # Two days told in neighbouring hops could share a month or a year, which would be shared wording.
        if sum(fact.dated for fact in path) > 1 or len(set(names)) < len(names):
            continue
        phrase = path[0].subject
        for relation in chain[:-1]:
            phrase = rng.choice(relation.nouns).format(x=phrase)
        found.append(
            _query(
                "two-hop" if len(path) == 2 else "three-hop",
                rng.choice(chain[-1].asks).format(x=phrase),
                path[-1].object,
                tuple(fact.told_by for fact in path),
                bridges=tuple(fact.subject for fact in path[1:]),
            )
        )
    return rng.sample(found, min(EACH, len(found)))


def _paths(chain: tuple[WorldRelation, ...], facts: Sequence[WorldFact]) -> Iterator[tuple[WorldFact, ...]]:
    """Follow a chain from every fact of its first relation."""
    heads = [fact for fact in facts if fact.relation == chain[0].name]
    for head in heads:
        if len(chain) == 1:
            yield (head,)
            continue
        for rest in _paths(chain[1:], facts):
            if rest[0].subject == head.object:
                yield (head, *rest)


def _of_changes(rng: Random, facts: Sequence[WorldFact]) -> Iterator[Question]:
    """Ask before, between and after the changes of a subject, and once by what was known before a late telling."""
    relations = {relation.name: relation for relation in RELATIONS}
    for fact in facts:
        asks = relations[fact.relation].past_asks
        if fact.valid_from is None and fact.valid_to is None:
            continue
        begin = max(fact.valid_from or fact.told_at, fact.told_at)
        end = fact.valid_to or LAST_DAY
        middle = begin + timedelta((end - begin).days // 2)
        text = rng.choice(asks).format(x=fact.subject, d=spoken(rng, middle))
        yield _query("temporal", text, fact.object, (fact.told_by,), as_of=middle.isoformat())
        if fact.valid_to and fact.end_told_at and (fact.end_told_at - fact.valid_to).days > 7:
            yield _believed(rng, asks, fact, fact.valid_to, fact.end_told_at)


def _believed(rng: Random, asks: tuple[str, ...], fact: WorldFact, ended: date, learned: date) -> Question:
    """Ask for what was still believed after the end of a fact and before anyone told of it."""
    day = ended + timedelta((learned - ended).days // 3)
    known_at = learned - timedelta(2)
    question = rng.choice(asks).format(x=fact.subject, d=spoken(rng, day))
    text = f"Going by what I knew on {spoken(rng, known_at)}: {question[0].lower()}{question[1:]}"
    return _query("temporal", text, fact.object, (fact.told_by,), as_of=day.isoformat(), known_at=known_at.isoformat())
