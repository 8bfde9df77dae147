"""A synthetic corpus written for this project: a small homelab-and-team world and its talk, with its facts.

Its queries are made from the facts that ``triples.jsonl`` holds. A graph replayed from that file is therefore fit for
tests of the machinery and for nothing else: `hopgate demo` and the gate have theirs read out of the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

from hopgate.demo.memories import Draft, look_alikes, of_facts, of_notes, of_turns, sensitive
from hopgate.demo.questions import Question, numbered, question, questions
from hopgate.demo.world import RELATIONS, WorldFact, history
from hopgate.memory import Memory

__all__ = ["Corpus", "Question", "corpus"]

DEFAULT_SEED = 7
Qrels = dict[str, dict[str, int]]


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
    qrels: dict[str, Qrels]
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
    facts = history(rng)
    drafts = _keyed("m", [*of_facts(rng, facts), *of_notes(rng), *look_alikes(rng, facts), *sensitive(rng)])
    told = [_told(fact, number, drafts) for number, fact in enumerate(facts)]
    asked = questions(rng, told, {draft.note: key for key, draft in drafts.items() if draft.note is not None})
    # Draws of their own: whatever is said in the threads, the notes of a seed stay as they are.
    apart = Random(f"{seed} threads")
    turns = {f"t{number:04}": draft for number, draft in enumerate(of_turns(apart), 1)}
    of_chat = [question("chat", one.ask, one.memory.text, (key,)) for key, one in turns.items() if one.ask]
    of_chat = numbered(of_chat, len(asked))
    splits = _dealt(rng, asked), _dealt(apart, of_chat)
    drafts = dict(sorted((drafts | turns).items(), key=lambda row: (row[1].memory.created_at, row[0])))
    return Corpus(
        memories=[replace(draft.memory, external_id=key) for key, draft in drafts.items()],
        queries=[*asked, *of_chat],
        qrels={name: splits[0][name] | splits[1][name] for name in splits[0]},
        triples=[row for key, draft in drafts.items() for row in _triples(key, draft, facts)],
        facts=told,
        canaries={key: (draft.canary,) for key, draft in drafts.items() if draft.canary},
        single_valued=frozenset(name for name, relation in RELATIONS.items() if relation.single_valued),
    )


def _keyed(letter: str, drafts: Sequence[Draft]) -> dict[str, Draft]:
    """Give drafts their ids, in the order of their times."""
    in_time = sorted(drafts, key=lambda draft: (draft.memory.created_at, draft.memory.text))
    return {f"{letter}{number:04}": draft for number, draft in enumerate(in_time, 1)}


def _told(fact: WorldFact, number: int, drafts: dict[str, Draft]) -> WorldFact:
    """A fact with the memories that state it."""
    stating = {key: draft for key, draft in drafts.items() if draft.fact == number}
    return replace(fact, evidence=tuple(stating), dated=any(draft.dated for draft in stating.values()))


def _triples(key: str, draft: Draft, facts: Sequence[WorldFact]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"doc_id": key, "entity": name, "type": kind} for name, kind in draft.mentions]
    if draft.fact is None:
        return rows
    fact = facts[draft.fact]
    names = ("subject", "relation", "object", "subject_type", "object_type")
    dated = {"valid_from": fact.valid_from.isoformat()} if fact.valid_from else {}
    return [{"doc_id": key} | {name: getattr(fact, name) for name in names} | dated, *rows]


def _dealt(rng: Random, asked: Sequence[Question]) -> dict[str, Qrels]:
    """Deal the queries of every stratum to dev and test, half and half."""
    splits: dict[str, Qrels] = {"dev": {}, "test": {}}
    for stratum in sorted({query.metadata["stratum"] for query in asked}):
        members = [query for query in asked if query.metadata["stratum"] == stratum]
        for number, query in enumerate(rng.sample(members, len(members))):
            relevant = {key: 1 for hop in query.evidence for key in hop}
            splits["dev" if number % 2 else "test"][query.id] = relevant
    return {split: dict(sorted(qrels.items())) for split, qrels in splits.items()}
