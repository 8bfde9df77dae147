"""What a model is asked beside extraction: used, recorded, taken back, ignored when it is none."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Source
from hopgate.extract.model.chat import Reply
from hopgate.extract.model.judge import Ended, Judge
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared, Memory


class Answering:
    """A chat model that answers as it is told to."""

    def __init__(self, say: Callable[[dict[str, Any]], str]) -> None:
        self.say = say
        self.questions: list[dict[str, Any]] = []

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        question = json.loads(chat[-1]["content"])
        self.questions.append(question)
        return Reply(self.say(question))


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ('{"answer": "same"}', True),
        ('Sure: {"answer": "different"}', False),
        *((said, None) for said in ('{"answer": "unknown"}', '{"answer": "perhaps"}', "", '{"answer": "sa', "[1]")),
    ],
)
def test_whether_two_names_are_one(said, same):
    opinion = Judge(Answering(lambda _: said))
    assert opinion.same("nas2", "host", ("nas-2", "the NAS")) is same
    assert (opinion.asked, opinion.answered) == (1, 0 if same is None else 1)


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ('{"memories": [{"id": "1", "ended": [1], "since": "2024-03-01"}]}', Ended((0,), "2024-03-01")),
        ('{"id": "1", "ended": [2, 1, 1, 7, 0, -1, true, "1", 1.0], "since": "soon"}', Ended((0, 1))),
        ('{"memories": [{"id": "1", "ended": [], "since": "2024"}]}', Ended()),
        ('{"memories": [{"id": "1", "ended": "all"}]}', None),
        ("none of them", None),
        ("", None),
    ],
)
def test_which_open_facts_a_memory_ends(said, ended):
    model = Answering(lambda _: said)
    judge, written = Judge(model), datetime(2024, 3, 2, tzinfo=UTC)
    facts = [Fact("Ada", "lives in", "Pune"), Fact("Ada", "works at", "BMW")]
    assert judge.ends([Source("m1", Cleared("I moved to Dublin"), owner="Ada", created_at=written)], [facts]) == [ended]
    open_facts = {"1": "Ada: lives in: Pune", "2": "Ada: works at: BMW"}
    row = {"id": "1", "text": "I moved to Dublin", "written": "2024-03-02", "says_I": "Ada", "open": open_facts}
    assert model.questions == [[row]]
    assert (judge.asked, judge.answered) == (1, int(ended is not None))


def test_an_undecided_pair_is_merged_with_who_decided_and_split_again_or_decided_the_other_way(kb):
    with pytest.raises(HopgateError, match="give --extractor llama or openai"):
        Judge(Phrases())
    kb.add(Memory("m1", "Ada Lovelace met Adda Lovelace in London."))
    kb.build()
    undecided = (
        "UPDATE concept_names SET ambiguous_with = (SELECT id FROM concept_names WHERE name = 'Ada Lovelace'), "
        "ambiguous_score = 0.6 WHERE name = 'Adda Lovelace'"
    )
    kb.store.run(lambda connection: connection.execute(undecided))
    before = sorted(concept.name for concept in kb.graph.concepts())
    assert kb.graph.tie_break(Judge(Answering(lambda _: ""))) == (0, 0) and len(kb.graph.ambiguous()) == 1
    model = Answering(lambda _: '{"answer": "same"}')
    assert kb.graph.tie_break(Judge(model)) == (1, 0)
    assert model.questions == [{"first": "Adda Lovelace", "kind": "unknown", "second": ["Ada Lovelace"]}]
    (merge,) = kb.graph.concept("Ada Lovelace").merges
    assert merge.method == "a model, asked"
    kb.graph.split("Ada Lovelace")
    assert sorted(concept.name for concept in kb.graph.concepts()) == before
    kb.store.run(lambda connection: connection.execute(undecided))
    assert kb.graph.tie_break(Judge(Answering(lambda _: '{"answer": "different"}'))) == (0, 1)
    assert kb.graph.ambiguous() == []
