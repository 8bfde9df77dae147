"""What an assistant is given, and what a model answers from it."""

import json
from typing import Any

import pytest

from hopgate.embed.bundled import token_count
from hopgate.errors import HopgateError
from hopgate.extract.model.chat import Reply
from hopgate.guard import SensitivityRules
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.times import moment


@pytest.fixture(scope="module")
def life(module_kb: KnowledgeBase) -> KnowledgeBase:
    module_kb.store_settings.set({"late": "bundled"})
    module_kb.add(
        Memory("atlas", "The NAS runs on atlas.", created_at=moment("2022-01-02")),
        Memory("europa", "Moved the NAS from atlas to europa.", created_at=moment("2024-02-02")),
        Memory("t1", "Bea: What did the vet say about Miso?", thread="c", created_at=moment("2024-03-01")),
        Memory("t2", "Ada: Two tablets a day, for a week.", thread="c", created_at=moment("2024-03-02")),
        Memory("pin", "The PIN of the NAS is 4711.", is_sensitive=True, created_at=moment("2024-03-03")),
        Memory("long", "The garden. " + "The hedge wants cutting in June. " * 200, created_at=moment("2023-01-01")),
    )
    module_kb.embed()
    module_kb.build()
    return module_kb


class Model:
    """Answers as it is told, and notes what it was asked."""

    def __init__(self, *sentences: tuple[str, list[Any]]) -> None:
        self.reply = json.dumps({"sentences": [{"text": text, "memories": cites} for text, cites in sentences]})
        self.asked: list[str] = []

    def ask(self, chat: list[dict[str, str]], schema: dict[str, Any], room: int) -> Reply:
        self.asked.append(chat[-1]["content"])
        return Reply(self.reply)


def test_a_context_has_dates_numbers_what_holds_and_what_is_over(life):
    made = life.context("Where does the NAS run?")
    first, second = made.citations[:2]
    assert (first.number, first.external_id, second.external_id) == (1, "europa", "atlas")
    assert "What holds:\n- NAS runs on europa since 2024-02-02 [1]" in made.text
    assert "[1] 2024-02-02: Moved the NAS from atlas to europa." in made.text
    assert "[2] 2022-01-02 (over: NAS runs on atlas, over since 2024-02-02 by europa): The NAS" in made.text
    assert "4711" not in made.text and made.tokens == token_count(str(made)) <= 2000
    assert json.loads(json.dumps(made.to_dict()))["citations"][0]["external_id"] == "europa"


def test_a_turn_has_the_turn_beside_it_where_the_question_needs_that(life):
    made = life.context("How many tablets does Miso get?", k=1)
    assert "Ada: Two tablets a day, for a week.\n    just before: Bea: What did the vet say about Miso?" in made.text


@pytest.mark.parametrize("tokens", [1, 15, 40, 120, 400])
def test_it_keeps_to_its_budget(life, tokens):
    made = life.context("the hedge in the garden and the NAS on atlas", tokens=tokens)
    assert token_count(made.text) <= tokens
    assert len(made.citations) == sum(line.startswith("[") for line in made.text.splitlines())
    with pytest.raises(HopgateError, match="tokens must be"):
        life.context("x", tokens=0)


def test_what_a_rule_calls_sensitive_is_not_in_it_before_it_is_marked(kb):
    kb.add_sensitivity(SensitivityRules(tags=("secret",)))
    with kb.store.transaction() as connection:
        connection.execute("INSERT INTO memories (content, tags) VALUES ('The alarm code is 0815.', '{secret}')")
    assert kb.recall("alarm code") and "0815" not in kb.context("alarm code").text


def test_an_answer_cites_and_what_cites_nothing_is_left_out(life):
    model = Model(("It runs on europa.", [1]), ("It is fast.", []), ("It hums.", [99]), ("For long.", [1, "2", 1]))
    answer = life.ask("Where does the NAS run?", model)
    assert answer.to_dict()["answer"] == str(answer) == "It runs on europa. [1] For long. [1]"
    assert answer.sentences[0].memories == ("europa",) and "4711" not in model.asked[0]
    # Where nothing is near it is not known, and no model is asked.
    model = Model(("It is a gauge theory.", [1]))
    assert str(life.ask("quantum chromodynamics on a lattice", model)) == "I do not know." and not model.asked
    assert str(life.ask("Where does the NAS run?", Model())) == "I do not know."
    with pytest.raises(HopgateError, match="only a model answers"):
        life.ask("Where does the NAS run?", object())
