"""A model's word on ambiguous names: used, recorded, taken back, ignored when it is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.model.judge import Judge
from hopgate.extract.rules.phrases import Phrases
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory


class Answering:
    """A chat model that answers as it is told to."""

    def __init__(self, say: Callable[[dict[str, Any]], str]) -> None:
        self.say = say
        self.questions: list[dict[str, Any]] = []

    def answer(self, asked: list[dict[str, str]], schema: dict[str, Any], room: int) -> str:
        question = json.loads(asked[-1]["content"])
        self.questions.append(question)
        return self.say(question)


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ('{"answer": "same"}', True),
        ('Sure: {"answer": "different"}', False),
        ('{"answer": "unknown"}', None),
        ('{"answer": "perhaps"}', None),
        ("", None),
        ('{"answer": "sa', None),
        ("[1]", None),
    ],
)
def test_whether_two_names_are_one(said: str, same: bool | None) -> None:
    opinion = Judge(Answering(lambda _: said))
    assert opinion.same("nas2", "host", ("nas-2", "the NAS")) is same
    assert (opinion.asked, opinion.answered) == (1, 0 if same is None else 1)


def test_only_a_model_has_one() -> None:
    with pytest.raises(HopgateError, match="give --extractor llama or openai"):
        Judge(Phrases())


def undecided(kb: KnowledgeBase) -> None:
    kb.add(Memory("m1", "Ada Lovelace met Adda Lovelace in London."))
    kb.build()
    with kb.store.transaction() as connection:
        connection.execute(
            "UPDATE concept_names SET ambiguous_with = (SELECT id FROM concept_names WHERE name = 'Ada Lovelace'), "
            "ambiguous_score = 0.6 WHERE name = 'Adda Lovelace'"
        )
    assert len(kb.graph.ambiguous()) == 1


def test_an_undecided_pair_is_merged_with_who_decided_and_split_again(kb: KnowledgeBase) -> None:
    undecided(kb)
    before = sorted(concept.name for concept in kb.graph.concepts())
    model = Answering(lambda _: '{"answer": "same"}')
    assert kb.graph.tie_break(Judge(model)) == (1, 0)
    assert model.questions == [{"first": "Adda Lovelace", "kind": "unknown", "second": ["Ada Lovelace"]}]
    (merge,) = kb.graph.concept("Ada Lovelace").merges
    assert merge.method == "a model, asked"
    kb.graph.split("Ada Lovelace")
    assert sorted(concept.name for concept in kb.graph.concepts()) == before


def test_a_pair_that_is_two_is_no_longer_undecided_and_one_it_does_not_know_is(kb: KnowledgeBase) -> None:
    undecided(kb)
    assert kb.graph.tie_break(Judge(Answering(lambda _: ""))) == (0, 0)
    assert len(kb.graph.ambiguous()) == 1
    assert kb.graph.tie_break(Judge(Answering(lambda _: '{"answer": "different"}'))) == (0, 1)
    assert kb.graph.ambiguous() == []
