"""Multi-hop questions made from one's own facts, for exploring: a gate on them never opens anything."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, NewDataset, write_dataset
from hopgate.eval.slices import VectorSpace, latent_space
from hopgate.extract.files import Triple
from hopgate.memory import Memory
from hopgate.times import moment

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

# A concept that is the subject of more facts than this makes questions with many right answers.
MAX_OUTGOING = 20
# A concept that is the object of more facts than this is a class or a date ("album", "Japan"): of the first questions
# made from musique's triples most that went through such a concept were nonsense.
MAX_INCOMING = 5
# So many questions may go through one concept, so that no hub dominates.
MAX_QUESTIONS = 3


@dataclass(frozen=True)
class Fact:
    """A fact in force, with every memory that says so."""

    subject: str
    relation: str
    object: str
    evidence: tuple[str, ...]


def store_triples(kb: KnowledgeBase) -> list[Triple]:
    """Give a store's graph as mentions and facts: a fact for each memory that is evidence of an edge."""
    triples = [Triple(memory, concept) for memory, concepts in kb.graph.mentions().items() for concept in concepts]
    for edge in kb.graph.edges():
        begin, end = (time.isoformat() if time else None for time in (edge.valid_from, edge.valid_to))
        triples += [
            Triple(memory, edge.source, edge.relation, edge.target, valid_from=begin, valid_to=end)
            for memory in edge.evidence
        ]
    if not triples:
        raise HopgateError("the store has no graph: run hopgate build first")
    return triples


def made_dataset(
    memories: Iterable[Memory], triples: Iterable[Triple], out: Path, *, dev: float = 0.5, **options: Any
) -> tuple[Dataset, Mapping[str, int]]:
    """Write a data set of questions made from pairs of facts, and of all facts.

    Two memories are adjacent or not by latent semantic analysis of their texts, which is no embedder under test.
    Sensitive memories are left out, and all that is known of them. `dev` is the share of that split, `options` are
    those of `make_questions`. Gives what was written, and how many facts and pairs were left out for which reason.
    """
    shown = {memory.external_id: memory for memory in memories if not memory.is_sensitive}
    triples = [triple for triple in triples if triple.doc_id in shown]
    if not any(triple.is_fact for triple in triples):
        raise HopgateError("there is no fact to make questions from: mentions alone join nothing")
    data, dropped = make_questions(triples, latent_space(shown.values()), **options)
    if not data.queries:
        why = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items()) or "no pair at all"
        raise HopgateError(f"the facts make no question; left out: {why}")
    for triple in triples:
        mention = {"doc_id": triple.doc_id, "entity": triple.subject, "type": triple.subject_type}
        row = asdict(triple) if triple.is_fact else mention
        data.triples.append({name: value for name, value in row.items() if value not in ("", None)})
    data.corpus |= {name: to_record(memory) for name, memory in shown.items()}
    return write_dataset(out, data, dev), dropped


def make_questions(
    triples: Sequence[Triple],
    space: VectorSpace,
    *,
    neighbours: int = 1,
    limit: int = 200,
    seed: int = 0,
    now: datetime | None = None,
) -> tuple[NewDataset, Mapping[str, int]]:
    """Make questions of two hops that similarity alone does not answer.

    The object of one fact is the subject of the next; both are in force, and each is the only answer to its step. A
    pair is kept when no memory says both, no two memories of the two are adjacent in `space`, and the question names
    neither what lies between nor the answer.

    Mentions are passed over, and so are facts of memories that `space` lacks. Two memories are adjacent when either is
    among the other's nearest so many `neighbours`. Gives the questions, whose gold is every memory that says one of
    their facts, and how many facts and pairs were left out for which reason.
    """
    dropped: Counter[str] = Counter()
    steps = _steps(_in_force(triples, space, now or datetime.now(UTC), dropped), dropped)
    starts = sorted(steps)
    random.Random(seed).shuffle(starts)
    through: Counter[str] = Counter()
    data = NewDataset()
    pairs = ((one, two) for start in starts for one in steps[start] for two in steps.get(_folded(one.object), ()))
    for one, two in pairs:
        concepts = [_folded(one.subject), _folded(one.object), _folded(two.object)]
        text = f"Begin at “{one.subject}”, follow “{one.relation}”, then “{two.relation}”: where does that lead?"
        first, second = one.evidence, two.evidence
        if len(set(concepts)) < len(concepts):
            continue
        if len(data.queries) == limit:
            dropped["paths beyond the limit"] += 1
        elif any(through[concept] == MAX_QUESTIONS for concept in concepts):
            dropped[f"paths through a concept of {MAX_QUESTIONS} questions"] += 1
        elif any(re.search(rf"(?<!\w){re.escape(concept)}(?!\w)", _folded(text)) for concept in concepts[1:]):
            dropped["paths whose question names what it leads to"] += 1
        elif set(first) & set(second):
            dropped["paths of which one memory says two facts"] += 1
        elif space.adjacent([*first, *second], neighbours)[: len(first), len(first) :].any():
            dropped[f"paths whose memories are among each other's {neighbours} nearest"] += 1
        else:
            through.update(concepts)
            name = f"hop-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
            data.query(name, text, (*first, *second), type="multi-hop", hops=2, answer=two.object, made=True)
    return data, dict(dropped.most_common())


def _in_force(
    triples: Iterable[Triple], space: VectorSpace, now: datetime, dropped: Counter[str]
) -> dict[tuple[str, ...], Fact]:
    """Give the facts that hold now, with all memories that say so, by what they say without case."""
    alike: defaultdict[tuple[str, ...], list[Triple]] = defaultdict(list)
    for fact in triples:
        if fact.is_fact and fact.doc_id in space.rows:
            alike[tuple(map(_folded, (fact.subject, fact.relation, fact.object)))].append(fact)
    facts = {}
    for key, group in alike.items():
        times = [(moment(fact.valid_from), moment(fact.valid_to)) for fact in group]
        if any((begin is None or begin <= now) and (end is None or now < end) for begin, end in times):
            memories = tuple(dict.fromkeys(fact.doc_id for fact in group))
            facts[key] = Fact(group[0].subject, group[0].relation, group[0].object, memories)
        else:
            dropped["facts no longer in force"] += 1
    return facts


def _steps(facts: Mapping[tuple[str, ...], Fact], dropped: Counter[str]) -> dict[str, list[Fact]]:
    """Subject → the facts that are the only answer to their relation."""
    answers = Counter(key[:2] for key in facts)
    outgoing = Counter(subject for subject, _ in answers)
    incoming = Counter(object for *_, object in facts)
    steps: defaultdict[str, list[Fact]] = defaultdict(list)
    for (subject, relation, _), fact in facts.items():
        if not any(letter.isalpha() for letter in subject):
            dropped["facts about a number, which joins by accident"] += 1
        elif answers[subject, relation] > 1:
            dropped["facts with more than one answer"] += 1
        elif outgoing[subject] > MAX_OUTGOING or incoming[subject] > MAX_INCOMING:
            dropped["facts about a concept of too many facts"] += 1
        else:
            steps[subject].append(fact)
    return steps


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
