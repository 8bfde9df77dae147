"""Made multi-hop questions: far apart, unambiguous, not given away, and traceable."""

from __future__ import annotations

import numpy as np
import pytest

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import fact_key, fingerprint
from hopgate.eval.slices.adjacency import VectorSpace
from hopgate.eval.slices.hop_questions import build_hop_slice
from hopgate.extract.files import Triple


def space(n):
    vectors = np.eye(n, dtype=np.float32) + np.random.default_rng(0).normal(0, 0.01, (n, n)).astype(np.float32)
    return VectorSpace("other", [f"m{i}" for i in range(n)], vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def chains(n):
    """`n` chains a_i → b_i → c_i, each fact in a memory of its own."""
    facts = []
    for i in range(n):
        facts += [
            Triple(f"m{2 * i}", f"a{i}", "owns", f"b{i}"),
            Triple(f"m{2 * i + 1}", f"B{i} ", "stands in", f"c{i}"),
        ]
    return facts


def test_paths_become_questions_with_gold_and_provenance():
    facts = chains(10)
    made = build_hop_slice(facts, space(60), neighbours=3)
    assert len(made.queries) >= 8  # a few pairs are neighbours by chance
    for name, query in made.queries.items():
        path = query.metadata["path"]
        assert set(made.qrels[name]) == set(path)
        assert query.metadata["graph"] == made.graph == fingerprint(facts)
        assert query.hops == 2
        assert query.text.startswith("Begin at “a")
        assert "b" + path[0][1:] not in query.text
        assert query.metadata["answer"] not in query.text
    used = {key for query in made.queries.values() for key in query.metadata["facts"]}
    assert used == {fact_key(fact) for fact in made.held_out}
    assert used.isdisjoint(fact_key(fact) for fact in made.without(facts))


def test_adjacent_hops_are_left_out():
    assert len(build_hop_slice(chains(10), space(20), neighbours=20).queries) == 0


def test_ambiguous_facts_same_memories_and_loops_are_left_out():
    def count(*facts):
        return len(build_hop_slice(facts, space(60), neighbours=1).queries)

    first, second = Triple("m0", "a", "owns", "b"), Triple("m9", "b", "stands in", "c")
    assert count(first, second) == 1
    assert count(first, second, Triple("m5", "a", "owns", "z")) == 0  # two answers
    assert count(first, second, Triple("m5", "A", "owns", "b")) == 0  # two memories say so
    assert count(first, Triple("m0", "b", "stands in", "c")) == 0  # one memory says both
    assert count(first, Triple("m9", "b", "belongs to", "a")) == 0  # back at the start
    assert count(first, Triple("m9", "b", "stands in b, near", "c")) == 0  # the relation gives the bridge away
    assert count(Triple("m0", "a", "made in", "1945"), Triple("m9", "1945", "saw", "c")) == 0  # a year is no bridge
    hub = [Triple(f"m{i}", f"x{i}", "is a", "b") for i in range(20, 26)]
    assert count(first, second, *hub) == 0  # a class is no bridge
    assert count(first, Triple("elsewhere", "b", "stands in", "c")) == 0  # no vector


def test_a_model_may_word_the_questions_and_refuse():
    asked = []

    def model(path):
        asked.append(path)
        return "" if len(asked) == 1 else f"Where is what {path[0].subject} has?"

    made = build_hop_slice(chains(6), space(40), neighbours=2, ask=model)
    assert len(made.queries) == len(asked) - 1
    assert {query.metadata["made_by"] for query in made.queries.values()} == {"model"}


def test_seeded_and_limited():
    facts = chains(20)
    first = build_hop_slice(facts, space(60), limit=5, neighbours=2, seed=1)
    assert first == build_hop_slice(facts, space(60), limit=5, neighbours=2, seed=1)
    assert len(first.queries) == 5
    assert first.queries.keys() != build_hop_slice(facts, space(60), limit=5, neighbours=2, seed=2).queries.keys()


def test_three_hops():
    facts = [Triple(f"m{i}", f"n{i}", "leads to", f"n{i + 1}") for i in range(6)]
    made = build_hop_slice(facts, space(40), hops=3, neighbours=1)
    assert all(len(query.metadata["path"]) == 3 for query in made.queries.values())
    assert len(made.queries) == 1  # a concept carries one question
    with pytest.raises(HopgateError, match="at least 2 hops"):
        build_hop_slice(facts, space(40), hops=1)
