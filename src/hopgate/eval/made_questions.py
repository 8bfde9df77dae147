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
from hopgate.eval.data.dataset import Dataset, NewDataset, Query, write_dataset
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
    graph = kb.graph.node_link(memories=True)
    nodes = {node["id"]: node for node in graph["nodes"]}
    triples = []
    for edge in graph["links"]:
        source, target = nodes[edge["source"]], nodes[edge["target"]]
        if source["type"] == "memory":
            triples.append(Triple(source["name"], target["name"]))
        for memory in edge.get("evidence", ()):
            times = {name: edge.get(name) for name in ("valid_from", "valid_to")}
            triples.append(Triple(memory, source["name"], edge["relation"], target["name"], **times))
    if not triples:
        raise HopgateError("the store has no graph: run hopgate build first")
    return triples


def made_dataset(
    memories: Iterable[Memory], triples: Iterable[Triple], out: Path, *, dev: float = 0.5, **options: Any
) -> tuple[Dataset, Mapping[str, int]]:
    """Write a data set of questions made from pairs of facts, and of the facts that no question was made from.

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
    used = {key for query in data.queries.values() for key in query.metadata["facts"]}
    for triple in triples:
        mention = {"doc_id": triple.doc_id, "entity": triple.subject, "type": triple.subject_type}
        row = asdict(triple) if triple.is_fact else mention
        if fact_key(triple) not in used:
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

    Gives the questions, whose gold is every memory that says one of their facts, and how many facts and pairs were left
    out for which reason. Their metadata says that each was `made`, the keys of its `facts`, and the `answer`.

    Parameters
    ----------
    triples : sequence of Triple
        Mentions are passed over, and so are facts of memories that `space` lacks.
    space : VectorSpace
        Of an embedder other than the one under test.
    neighbours : int
        Two memories are adjacent when either is among the other's nearest so many; with 0 none are.
    now : datetime, optional
        When facts are in force; by default today.
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
        if len(set(concepts)) < len(concepts):
            continue
        text = f"Begin at “{one.subject}”, follow “{one.relation}”, then “{two.relation}”: where does that lead?"
        if len(data.queries) == limit:
            reason = "paths beyond the limit"
        elif any(through[concept] == MAX_QUESTIONS for concept in concepts):
            reason = f"paths through a concept of {MAX_QUESTIONS} questions"
        elif any(re.search(rf"(?<!\w){re.escape(concept)}(?!\w)", _folded(text)) for concept in concepts[1:]):
            reason = "paths whose question names what it leads to"
        elif set(one.evidence) & set(two.evidence):
            reason = "paths of which one memory says two facts"
        elif space.adjacent([*one.evidence, *two.evidence], neighbours)[: len(one.evidence), len(one.evidence) :].any():
            reason = f"paths whose memories are among each other's {neighbours} nearest"
        else:
            through.update(concepts)
            keys = [
                fact_key(Triple(memory, f.subject, f.relation, f.object)) for f in (one, two) for memory in f.evidence
            ]
            name = "hop-" + hashlib.sha256("".join(keys).encode()).hexdigest()[:12]
            about = {"type": "multi-hop", "hops": 2, "answer": two.object, "made": True, "facts": keys}
            data.add(Query(name, text, about), dict.fromkeys((*one.evidence, *two.evidence), 1))
            continue
        dropped[reason] += 1
    return data, dict(dropped.most_common())


def fact_key(triple: Triple) -> str:
    """Name a fact by what it says and where, in twelve hexadecimal digits; case and spaces do not count."""
    parts = (triple.doc_id, *(_folded(part) for part in (triple.subject, triple.relation, triple.object)))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _in_force(triples: Iterable[Triple], space: VectorSpace, now: datetime, dropped: Counter[str]) -> list[Fact]:
    """Give the facts that hold now, with all memories that say so."""
    said: defaultdict[tuple[str, ...], list[Triple]] = defaultdict(list)
    for fact in triples:
        if fact.is_fact and fact.doc_id in space.rows:
            said[tuple(map(_folded, (fact.subject, fact.relation, fact.object)))].append(fact)
    facts = []
    for group in said.values():
        times = [(moment(fact.valid_from), moment(fact.valid_to)) for fact in group]
        if any((begin is None or begin <= now) and (end is None or now < end) for begin, end in times):
            memories = tuple(dict.fromkeys(fact.doc_id for fact in group))
            facts.append(Fact(group[0].subject, group[0].relation, group[0].object, memories))
        else:
            dropped["facts no longer in force"] += 1
    return facts


def _steps(facts: Sequence[Fact], dropped: Counter[str]) -> dict[str, list[Fact]]:
    """Subject → the facts that are the only answer to their relation."""
    answers = Counter((_folded(fact.subject), _folded(fact.relation)) for fact in facts)
    outgoing = Counter(subject for subject, _ in answers)
    incoming = Counter(_folded(fact.object) for fact in facts)
    steps: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        subject = _folded(fact.subject)
        if not any(letter.isalpha() for letter in subject):
            dropped["facts about a number, which joins by accident"] += 1
        elif answers[subject, _folded(fact.relation)] > 1:
            dropped["facts with more than one answer"] += 1
        elif outgoing[subject] > MAX_OUTGOING or incoming[subject] > MAX_INCOMING:
            dropped["facts about a concept of too many facts"] += 1
        else:
            steps[subject].append(fact)
    return steps
