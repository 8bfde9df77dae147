"""The corpus of a seed, in memory: what it is made of, and how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from hopgate.demo.memories import Draft, distractors, event_drafts, notes, sensitive, single_valued, turn_drafts
from hopgate.demo.questions import Question, WorldFact, questions, questions_of_turns
from hopgate.demo.world import RELATIONS, Event, events
from hopgate.memory import Memory

DEFAULT_SEED = 7


@dataclass(frozen=True, slots=True)
class Corpus:
    """The whole synthetic corpus of one seed.

    Parameters
    ----------
    qrels : dict
        Split (``dev``, ``test``) → query id → memory id → 1.
    triples : list of dict
        The rows of ``triples.jsonl``: facts and mentions as a perfect extractor would give them, none sensitive.
    facts : list of WorldFact
        The timeline: every fact that was ever true.
    canaries : dict
        Sensitive memory id → the words that occur in that memory and nowhere else.
    single_valued : frozenset of str
        Relations of which a subject has one object at a time: a newer one supersedes.
    """

    memories: list[Memory]
    queries: list[Question]
    qrels: dict[str, dict[str, dict[str, int]]]
    triples: list[dict[str, Any]]
    facts: list[WorldFact]
    canaries: dict[str, tuple[str, ...]]
    single_valued: frozenset[str]


@lru_cache(maxsize=4)
def corpus(seed: int = DEFAULT_SEED) -> Corpus:
    """Make the synthetic corpus, the same for the same seed.

    Parameters
    ----------
    seed : int
        Draws who runs what where, every change and every wording.

    Returns
    -------
    Corpus
        Memories, queries, qrels, triples, facts, canaries. Shared between callers: do not change it.

    Examples
    --------
    >>> world = corpus()
    >>> len(world.memories) > 350, sorted(world.qrels)
    (True, ['dev', 'test'])
    """
    rng = Random(seed)
    happened = events(rng, RELATIONS)
    drafts = [*event_drafts(rng, happened), *notes(rng), *distractors(rng, happened), *sensitive(rng)]
    drafts.sort(key=lambda draft: (draft.created_at, draft.text))
    keyed = [(f"m{number:04}", draft) for number, draft in enumerate(drafts, 1)]
    facts = _facts(happened, keyed)
    asked = questions(rng, facts, {draft.note: key for key, draft in keyed if draft.note is not None})
    # Draws of their own: whatever is said in the threads, the notes of a seed stay as they are.
    apart = Random(f"{seed} threads")
    turns = [(f"t{number:04}", draft) for number, draft in enumerate(turn_drafts(apart), 1)]
    keyed = sorted([*keyed, *turns], key=lambda row: (row[1].created_at, row[0]))
    of_turns = questions_of_turns(((draft.ask, draft.text, key) for key, draft in turns), len(asked))
    splits = _qrels(rng, asked), _qrels(apart, of_turns)
    return Corpus(
        memories=[draft.memory(key) for key, draft in keyed],
        queries=[*asked, *of_turns],
        qrels={name: splits[0][name] | splits[1][name] for name in splits[0]},
        triples=_triples(happened, keyed),
        facts=facts,
        canaries={key: (draft.canary,) for key, draft in keyed if draft.canary},
        single_valued=single_valued(RELATIONS),
    )


def _facts(happened: Sequence[Event], keyed: Sequence[tuple[str, Draft]]) -> list[WorldFact]:
    evidence: dict[int, list[tuple[str, Draft]]] = {}
    for key, draft in keyed:
        if draft.event is not None:
            evidence.setdefault(draft.event, []).append((key, draft))
    return [
        WorldFact(
            event.subject,
            event.relation.name,
            event.object,
            event.relation.subject_type,
            event.relation.object_type,
            event.valid_from,
            event.valid_to,
            tuple(key for key, _ in evidence[number]),
            event.recorded_at,
            event.end_recorded_at,
            any(draft.dated for _, draft in evidence[number]),
        )
        for number, event in enumerate(happened)
    ]


def _triples(happened: Sequence[Event], keyed: Sequence[tuple[str, Draft]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for key, draft in keyed:
        if draft.event is not None:
            event = happened[draft.event]
            fact = {
                "doc_id": key,
                "subject": event.subject,
                "relation": event.relation.name,
                "object": event.object,
                "subject_type": event.relation.subject_type,
                "object_type": event.relation.object_type,
            }
            rows.append(fact | ({"valid_from": event.valid_from.isoformat()} if event.valid_from else {}))
        rows += [{"doc_id": key, "entity": name, "type": kind} for name, kind in draft.mentions]
    return rows


def _qrels(rng: Random, asked: Sequence[Question]) -> dict[str, dict[str, dict[str, int]]]:
    """Deal the queries of every stratum to dev and test, half and half."""
    splits: dict[str, dict[str, dict[str, int]]] = {"dev": {}, "test": {}}
    for stratum in sorted({query.metadata["stratum"] for query in asked}):
        members = [query for query in asked if query.metadata["stratum"] == stratum]
        for number, query in enumerate(rng.sample(members, len(members))):
            relevant = {key: 1 for hop in query.evidence for key in hop}
            splits["dev" if number % 2 else "test"][query.id] = relevant
    return {split: dict(sorted(qrels.items())) for split, qrels in splits.items()}
