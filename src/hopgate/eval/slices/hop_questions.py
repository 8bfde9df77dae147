"""Multi-hop questions from one's own corpus: paths of typed facts whose evidence lies in memories far apart."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Query, fact_key, fingerprint, folded_name
from hopgate.eval.data.runs import Qrels
from hopgate.eval.slices.adjacency import VectorSpace, adjacent
from hopgate.extract.files import Triple

# A concept that is the subject of more facts than this makes questions with many right answers.
MAX_OUTGOING = 20
# A concept that is the object of more facts than this is a class or a date ("album", "Japan"): of the first questions
# made from musique's triples most that went through such a concept were nonsense.
MAX_INCOMING = 5

Ask = Callable[[Sequence[Triple]], str]
"""Writes the question for a path of facts; an empty text drops the path."""


@dataclass(frozen=True)
class HopSlice:
    """Made questions, their gold, and where they came from.

    Parameters
    ----------
    queries, qrels
        In the shape of a data set; each query's metadata holds the `graph` it came from, the keys of its `facts` and
        the `path` of memories.
    graph : str
        Fingerprint of the graph whose facts were used: the circularity check compares it with the graph under test.
    held_out : tuple of Triple
        The facts used. `without` gives the triples less these.
    """

    queries: dict[str, Query]
    qrels: Qrels
    graph: str
    held_out: tuple[Triple, ...]

    def without(self, triples: Iterable[Triple]) -> tuple[Triple, ...]:
        """Give the triples that no question was made from: build the graph under test from these."""
        used = {fact_key(triple) for triple in self.held_out}
        return tuple(triple for triple in triples if fact_key(triple) not in used)


def template(path: Sequence[Triple]) -> str:
    """Write a question that names the start and the relations, and neither what lies between nor the answer.

    Examples
    --------
    >>> template([Triple("a", "Immich", "runs on", "nas-2"), Triple("b", "nas-2", "stands in", "the cellar")])
    'Begin at “Immich”, follow “runs on”, then “stands in”: where does that lead?'
    """
    relations = ", then ".join(f"“{hop.relation}”" for hop in path)
    return f"Begin at “{path[0].subject}”, follow {relations}: where does that lead?"


def build_hop_slice(
    triples: Sequence[Triple],
    space: VectorSpace,
    *,
    hops: int = 2,
    neighbours: int = 10,
    limit: int = 200,
    seed: int = 0,
    ask: Ask = template,
) -> HopSlice:
    """Make multi-hop questions that similarity alone does not answer.

    A path is kept when each fact has one object only and one memory only, no two facts have the same memory, no two
    memories one after the other are adjacent in `space` (see `NonAdjacent`; use an embedder other than the one under
    test), and the question names no concept on the path but the first. A concept is on the path of at most one
    question, so that no hub dominates.

    Parameters
    ----------
    triples : sequence of Triple
        The facts; mentions are passed over.
    space : VectorSpace
        Vectors of the memories; facts of memories it lacks are not used.
    hops, limit : int
        How many facts a path has, and how many questions to make at most.
    neighbours : int
        Two memories are adjacent when either is among the other's nearest so many.
    seed : int
        Decides which of the paths come first.
    ask : callable
        Writes the question; it may ask a language model.
    """
    if hops < 2:
        raise HopgateError("a multi-hop question needs at least 2 hops")
    steps = _steps(triple for triple in triples if triple.is_fact and triple.doc_id in space.rows)
    starts = sorted(steps)
    random.Random(seed).shuffle(starts)
    source = fingerprint(triples)
    used: set[str] = set()
    queries: dict[str, Query] = {}
    qrels: dict[str, dict[str, int]] = {}
    facts: list[Triple] = []
    for start in starts:
        if len(queries) == limit:
            break
        for path in _paths(start, hops, steps, space, neighbours):
            question = "" if _names(path) & used else ask(path).strip()
            if not question or _gives_away(question, path):
                continue
            used |= _names(path)
            keys = [fact_key(triple) for triple in path]
            name = "hop-" + hashlib.sha256("".join(keys).encode()).hexdigest()[:12]
            memories = [triple.doc_id for triple in path]
            made = {"graph": source, "facts": keys, "path": memories, "made_by": getattr(ask, "__name__", repr(ask))}
            about = {"type": "multi-hop", "stratum": "multi-hop", "hops": hops, "answer": path[-1].object}
            queries[name] = Query(name, question, {**about, **made})
            qrels[name] = dict.fromkeys(memories, 1)
            facts.extend(path)
            break
    return HopSlice(queries, qrels, source, tuple(facts))


def _steps(facts: Iterable[Triple]) -> dict[str, list[Triple]]:
    """Subject → the facts that have one object and one memory each."""
    answers: defaultdict[tuple[str, str], dict[tuple[str, str], Triple]] = defaultdict(dict)
    for fact in facts:
        answers[folded_name(fact.subject), folded_name(fact.relation)][folded_name(fact.object), fact.doc_id] = fact
    outgoing = Counter(subject for subject, _ in answers)
    incoming = Counter(name for found in answers.values() for name, _ in found)
    steps: defaultdict[str, list[Triple]] = defaultdict(list)
    for (subject, _), found in answers.items():
        has_letters = any(letter.isalpha() for letter in subject)  # a bare number or year joins facts by accident
        if has_letters and len(found) == 1 and outgoing[subject] <= MAX_OUTGOING and incoming[subject] <= MAX_INCOMING:
            steps[subject].extend(found.values())
    return steps


def _paths(
    start: str, hops: int, steps: dict[str, list[Triple]], space: VectorSpace, neighbours: int
) -> Iterator[tuple[Triple, ...]]:
    """Give the paths from a concept that go through distinct concepts and memories, no two of them adjacent."""
    pending: list[tuple[Triple, ...]] = [(fact,) for fact in steps[start]]
    while pending:
        path = pending.pop()
        if len(path) == hops:
            yield path
            continue
        visited = {start, *(folded_name(fact.object) for fact in path[:-1])}
        here = folded_name(path[-1].object)
        if here in visited:
            continue
        for fact in steps.get(here, ()):
            if fact.doc_id in {hop.doc_id for hop in path} or folded_name(fact.object) in visited | {here}:
                continue
            pair = [space.rows[path[-1].doc_id], space.rows[fact.doc_id]]
            if not adjacent(space.vectors, pair, neighbours)[0, 1]:
                pending.append((*path, fact))


def _gives_away(question: str, path: Sequence[Triple]) -> bool:
    """Whether a question names a concept that it should lead to."""
    text = folded_name(question)
    return any(re.search(rf"(?<!\w){re.escape(folded_name(fact.object))}(?!\w)", text) for fact in path)


def _names(path: Sequence[Triple]) -> set[str]:
    return {folded_name(path[0].subject), *(folded_name(fact.object) for fact in path)}
