"""Facts of the world and queries about them in six strata, made from facts, notes and threads, never from a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from random import Random
from typing import Any

from hopgate.demo.memories import NOTES, written_date
from hopgate.demo.world import CHAINS, LAST_DAY, RELATIONS, WorldRelation

# Queries of a chain, at most: there are 17 two-hop and 11 three-hop chains.
PER_CHAIN = 4
# Paraphrase queries about single facts, beside those about notes.
PARAPHRASES = 12


@dataclass(frozen=True, slots=True)
class WorldFact:
    """One true statement of the world, with when it held and when it was recorded.

    Parameters
    ----------
    valid_from, valid_to : date, optional
        The half-open interval ``[valid_from, valid_to)`` in which it holds; None is open.
    evidence : tuple of str
        The memories that state it, the earliest first.
    recorded_at : date
        When it became known: the day of the earliest of them.
    end_recorded_at : date, optional
        When its end became known: the day its successor was recorded.
    dated : bool
        Whether the memory's text names the day it began.
    """

    subject: str
    relation: str
    object: str
    subject_type: str
    object_type: str
    valid_from: date | None
    valid_to: date | None
    evidence: tuple[str, ...]
    recorded_at: date
    end_recorded_at: date | None = None
    dated: bool = False

    def holds(self, as_of: date, known_at: date | None = None) -> bool:
        """Whether it holds as of a day, by what was known at the end of another (by default: by all there is).

        Examples
        --------
        >>> moved, recorded = date(2025, 3, 1), date(2025, 3, 9)
        >>> fact = WorldFact(
        ...     "Gitea", "runs on", "birch", "service", "host", None, moved, ("m1",), date(2025, 1, 1), recorded)
        >>> fact.holds(date(2025, 3, 5)), fact.holds(date(2025, 3, 5), known_at=date(2025, 3, 8))
        (False, True)
        """
        if known_at is not None and known_at < self.recorded_at:
            return False
        began = self.valid_from is None or self.valid_from <= as_of
        end_is_known = known_at is None or (self.end_recorded_at is not None and self.end_recorded_at <= known_at)
        over = self.valid_to is not None and end_is_known and self.valid_to <= as_of
        return began and not over


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with its stratum and what answers it.

    Parameters
    ----------
    metadata : dict
        ``type`` and ``stratum`` (the same word), ``hops``, ``answer``; ``as_of`` and ``known_at`` where asked.
    evidence : tuple of tuple of str
        For each hop, in order, the memories that state it.
    bridges : tuple of str
        The concepts that join consecutive hops: one fewer than hops.
    """

    id: str
    text: str
    metadata: dict[str, Any] = field(hash=False)
    evidence: tuple[tuple[str, ...], ...] = ()
    bridges: tuple[str, ...] = ()


def questions(rng: Random, facts: Sequence[WorldFact], note_ids: dict[int, str]) -> list[Question]:
    """Ask for the notes, for single facts, along chains, and through time; ids are ``q0001`` and so on."""
    asked = [
        *_of_notes(note_ids),
        *_of_facts(rng, facts),
        *(query for chain in CHAINS for query in _of_chain(rng, chain, facts)),
        *_of_changes(rng, facts),
    ]
    return [replace(query, id=f"q{number:04}") for number, query in enumerate(asked, 1)]


def questions_of_turns(turns: Iterable[tuple[str, str, str]], after: int) -> list[Question]:
    """Ask for the turns that have a query: each is that query, the turn's text and its id."""
    asked = [_query("chat", ask, text, ((key,),)) for ask, text, key in turns if ask]
    return [replace(query, id=f"q{number:04}") for number, query in enumerate(asked, after + 1)]


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
    current = [fact for fact in facts if fact.valid_to is None and not fact.dated and fact.relation in by_name]
    for fact in rng.sample(current, PARAPHRASES):
        text = rng.choice(by_name[fact.relation].questions).format(x=fact.subject)
        yield _query("paraphrase", text, fact.object, (fact.evidence,))


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
        found.append(
            _query(
                "two-hop" if len(path) == 2 else "three-hop",
                rng.choice(chain[-1].questions).format(x=phrase),
                path[-1].object,
                tuple(fact.evidence for fact in path),
                bridges=tuple(fact.subject for fact in path[1:]),
            )
        )
    return rng.sample(found, min(PER_CHAIN, len(found)))


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
    """Ask for each fact of a subject that changes on a day when it held, and by what was known before a late record."""
    relations = {relation.name: relation for relation in RELATIONS}
    for fact in facts:
        asks = relations[fact.relation].past_questions
        if fact.valid_from is None and fact.valid_to is None:
            continue
        begin = max(fact.valid_from or fact.recorded_at, fact.recorded_at)
        end = fact.valid_to or LAST_DAY
        middle = begin + timedelta((end - begin).days // 2)
        text = rng.choice(asks).format(x=fact.subject, d=written_date(rng, middle))
        yield _query("temporal", text, fact.object, (fact.evidence,), as_of=middle.isoformat())
        if fact.valid_to and fact.end_recorded_at and (fact.end_recorded_at - fact.valid_to).days > 7:
            yield _as_known(rng, asks, fact, fact.valid_to, fact.end_recorded_at)


def _as_known(rng: Random, asks: tuple[str, ...], fact: WorldFact, ended: date, recorded: date) -> Question:
    """Ask, by what was known then, on a day after the end of a fact and before a memory recorded that end."""
    day = ended + timedelta((recorded - ended).days // 3)
    known_at = recorded - timedelta(2)
    question = rng.choice(asks).format(x=fact.subject, d=written_date(rng, day))
    text = f"Going by what I knew on {written_date(rng, known_at)}: {question[0].lower()}{question[1:]}"
    return _query("temporal", text, fact.object, (fact.evidence,), as_of=day.isoformat(), known_at=known_at.isoformat())
