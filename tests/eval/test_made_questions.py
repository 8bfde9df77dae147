"""Made multi-hop questions: in force, unambiguous, not given away, labelled, and what was left out is counted."""

from datetime import UTC, datetime

import numpy as np
import pytest

from hopgate.errors import HopgateError
from hopgate.eval.made_questions import MAX_QUESTIONS, made_dataset, make_questions
from hopgate.eval.slices import VectorSpace
from hopgate.extract.files import Triple
from hopgate.memory import Memory


def space(n):
    vectors = np.eye(n, dtype=np.float32) + np.random.default_rng(0).normal(0, 0.01, (n, n)).astype(np.float32)
    return VectorSpace({f"m{i}": i for i in range(n)}, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def chains(n):
    """`n` chains a_i → b_i → c_i, each fact in a memory of its own."""
    facts = []
    for i in range(n):
        facts += [
            Triple(f"m{2 * i}", f"a{i}", "owns", f"b{i}"),
            Triple(f"m{2 * i + 1}", f"B{i} ", "stands in", f"c{i}"),
        ]
    return facts


def test_paths_become_questions_with_gold_and_where_they_came_from():
    facts = chains(10)
    made, dropped = make_questions(facts, space(60), neighbours=3)
    assert len(made.queries) >= 8  # a few pairs are neighbours by chance
    for name, query in made.queries.items():
        start = query.text.partition("“")[2].partition("”")[0]
        (at,) = [place for place, fact in enumerate(facts) if fact.subject == start]
        assert made.gold[name] == {facts[at].doc_id: 1, facts[at + 1].doc_id: 1}
        assert query.metadata == {"made": True, "hops": 2, "type": "multi-hop", "answer": facts[at + 1].object}
    assert dropped == ({near(3): 10 - len(made.queries)} if len(made.queries) < 10 else {})
    # Adjacent hops are left out, and none with no neighbours.
    assert make_questions(facts, space(20), neighbours=20)[1] == {near(20): 10}
    assert len(make_questions(facts, space(20), neighbours=0)[0].queries) == 10


def near(neighbours):
    return f"paths whose memories are among each other's {neighbours} nearest"


FIRST, SECOND = Triple("m0", "a", "owns", "b"), Triple("m9", "b", "stands in", "c")
TWO_FACTS = "paths of which one memory says two facts"
ANSWERS = "facts with more than one answer"
GIVEN_AWAY = "paths whose question names what it leads to"
MANY = "facts about a concept of too many facts"


@pytest.mark.parametrize(
    ("facts", "questions", "left_out"),
    [
        ([FIRST, SECOND], 1, {}),
        ([FIRST, SECOND, Triple("m5", "A", "owns", "b")], 1, {}),  # two memories say so
        ([FIRST, SECOND, Triple("m5", "a", "owns", "z")], 0, {ANSWERS: 2}),
        ([FIRST, SECOND, Triple("m5", "a", "owns", "z", valid_to="2020")], 1, {"facts no longer in force": 1}),  # moved
        ([FIRST, SECOND, Triple("m5", "a", "owns", "z", valid_from="2090")], 1, {"facts no longer in force": 1}),
        ([FIRST, Triple("m0", "b", "stands in", "c")], 0, {TWO_FACTS: 1}),
        ([FIRST, SECOND, Triple("m0", "b", "stands in", "c")], 0, {TWO_FACTS: 1}),  # so do two memories, one says both
        ([FIRST, Triple("m9", "b", "belongs to", "a")], 0, {}),  # back at the start
        ([FIRST, Triple("m9", "b", "stands in b, near", "c")], 0, {GIVEN_AWAY: 1}),
        (
            [Triple("m0", "a", "made in", "1945"), Triple("m9", "1945", "saw", "c")],
            0,
            {"facts about a number, which joins by accident": 1},
        ),
        ([FIRST, SECOND, *(Triple(f"m{i}", f"x{i}", "is a", "b") for i in range(20, 26))], 0, {MANY: 1}),
        ([FIRST, Triple("elsewhere", "b", "stands in", "c")], 0, {}),  # no vector
    ],
)
def test_what_makes_a_question_and_what_does_not(facts, questions, left_out):
    made, dropped = make_questions(facts, space(60), now=datetime(2025, 1, 1, tzinfo=UTC))
    assert (len(made.queries), dropped) == (questions, left_out)
    if len(facts) == 3 and questions and not left_out:
        assert set(*made.gold.values()) == {"m0", "m5", "m9"}


def test_no_hub_dominates_and_questions_are_seeded_and_limited():
    facts = [Triple(f"m{i}", f"a{i}", "owns", "hub") for i in range(5)] + [Triple("m9", "hub", "stands in", "c")]
    made, dropped = make_questions(facts, space(60), neighbours=0)
    assert len(made.queries) == MAX_QUESTIONS and sum(dropped.values()) == 2
    facts = chains(20)
    first, dropped = make_questions(facts, space(60), limit=5, neighbours=2, seed=1)
    assert (first, dropped) == make_questions(facts, space(60), limit=5, neighbours=2, seed=1)
    assert len(first.queries) == 5 and dropped["paths beyond the limit"] > 0
    assert first.queries.keys() != make_questions(facts, space(60), limit=5, neighbours=2, seed=2)[0].queries.keys()


def test_where_nothing_is_known_that_may_be_shown_nothing_is_made(tmp_path):
    hidden = Memory("m0", "hidden", is_sensitive=True)
    for memories, facts in (([hidden], [FIRST]), ([Memory("m0", "A")], [Triple("m0", "a")])):
        with pytest.raises(HopgateError, match="no fact to make questions from"):
            made_dataset(memories, facts, tmp_path / "out")
    assert not (tmp_path / "out").exists()
