"""Draw the demo corpus anew into `src/hopgate/demo/data`, or into another folder: `python tools/demo_corpus/make.py`.

The same seed gives the same bytes; tests/demo compares them with what is there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from memories import Draft, look_alikes, of_facts, of_notes, of_turns, sensitive
from questions import numbered, question, questions
from world import RELATIONS, history

from hopgate.demo import DATA, Corpus, Qrels, Question, WorldFact, write

SEED = 7


def corpus(seed: int) -> Corpus:
    """Draw who runs what where, every change and every wording."""
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


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    drawn = corpus(SEED)
    write(folder, drawn)
    more = {
        "evidence": {query.id: query.evidence for query in drawn.queries},
        "canaries": drawn.canaries,
        "single_valued": sorted(drawn.single_valued),
    }
    (folder / "world.json").write_text(json.dumps(more, ensure_ascii=False) + "\n", encoding="utf-8")
