"""What a model is asked beside extraction: used, recorded, taken back, ignored when it is none; statements written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from answering import answering
from cli_run import Ran, Runner
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Source
from hopgate.extract.files import read_statements
from hopgate.extract.model.chat import Reply
from hopgate.extract.model.judge import Ended, Judge, read_statements_answer
from hopgate.extract.rules.phrases import Phrases
from hopgate.kb import KnowledgeBase
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
def test_whether_two_names_are_one(said: str, same: bool | None) -> None:
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
def test_which_open_facts_a_memory_ends(said: str, ended: Ended | None) -> None:
    model = Answering(lambda _: said)
    judge, written = Judge(model), datetime(2024, 3, 2, tzinfo=UTC)
    facts = [Fact("Ada", "lives in", "Pune"), Fact("Ada", "works at", "BMW")]
    assert judge.ends([Source("m1", Cleared("I moved to Dublin"), owner="Ada", created_at=written)], [facts]) == [ended]
    open_facts = {"1": "Ada: lives in: Pune", "2": "Ada: works at: BMW"}
    row = {"id": "1", "text": "I moved to Dublin", "written": "2024-03-02", "says_I": "Ada", "open": open_facts}
    assert model.questions == [[row]]
    assert (judge.asked, judge.answered) == (1, int(ended is not None))


def test_an_undecided_pair_is_merged_with_who_decided_and_split_again_or_decided_the_other_way(
    kb: KnowledgeBase,
) -> None:
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


# ---- Statements: read, grounded, written into a file, and gone on with; against a real server ------------------------

SECRET = "the safe opens with 4711"
SOURCE = Source("m1", Cleared("She owns the kiln."), owner="Ada", before=(Cleared("Bob: Does Cleo pot?"),))


class Stating:
    """States, of every memory that it is asked about, the memory itself; with `silent` it answers prose."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[list[dict[str, Any]]] = []
        self.silent = False
        self.meanwhile: Callable[[], object] = bool

    def answer(self, _: BaseHTTPRequestHandler, body: str) -> tuple[int, Any]:
        rows = json.loads(json.loads(body)["messages"][-1]["content"])
        self.asked.append(rows)
        self.meanwhile()
        said = [(row["id"], row.get("says_I", "I"), row["text"]) for row in rows]
        entries = [
            {"id": key, "statements": [{"subject": owner, "statement": f"{owner}: {text}"}]}
            for key, owner, text in said
        ]
        text = "I would rather not." if self.silent else json.dumps({"memories": entries})
        return 200, {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


@pytest.fixture
def stating() -> Iterator[Stating]:
    running = Stating()
    with answering(running.answer) as running.url:
        yield running


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dsn: str) -> Runner:
    return Runner(capsys, "--dsn", dsn)


def state(run: Runner, stating: Stating, out: Path, *more: str, status: int = 0) -> Ran:
    model = ("--extractor", "openai", "--model", "m", "--url", stating.url, "--together", "2")
    return run("extract", *model, "--statements", str(out), *more, status=status)


def test_the_command_writes_a_file_that_build_takes_and_goes_on(
    kb: KnowledgeBase, run: Runner, stating: Stating, tmp_path: Path
) -> None:
    turns = ["Kit: I keep bees now.", "Ada: Since when?", "Kit: They came in May."]
    for at, turn in enumerate(turns):
        kb.add(Memory(f"m{at}", turn, scope="chat", thread="t", created_at=datetime(2024, 6, 1, 9, at, tzinfo=UTC)))
    kb.add(Memory("secret", SECRET, is_sensitive=True))
    out = tmp_path / "statements.jsonl"
    stating.silent = True
    assert state(run, stating, out, "--json", status=1).json["unanswered"] == 3 and out.read_text() == ""
    stating.silent = False
    state(run, stating, out, "--limit", "2")
    assert [one.doc_id for one in read_statements(out)] == ["m0", "m1"]
    assert out.stat().st_mode & 0o077 == 0
    told = state(run, stating, out).out
    assert [one.doc_id for one in read_statements(out)] == ["m0", "m1", "m2"]
    assert "1 statements about 1 memories, 2 were done before" in told and "hopgate build --statements" in told
    # The turns before it tell a model whom "they" may mean; nothing sensitive is ever told.
    assert stating.asked[-1][0]["before"] == turns[:2]
    assert SECRET not in json.dumps(stating.asked)
    kb.build(statements=out)
    assert len(kb.graph.statements()) == 3
    said = run("extract", "--statements", str(tmp_path / "x"), status=2).refused()
    assert "only a model writes statements: give --extractor llama or openai" in said


def test_what_turns_sensitive_meanwhile_is_not_sent_and_not_written(
    kb: KnowledgeBase, run: Runner, stating: Stating, tmp_path: Path
) -> None:
    kb.add(*(Memory(f"m{number}", f"Kit keeps hive {number} in the garden.") for number in range(6)))
    stating.meanwhile = lambda: kb.mark_sensitive(["m1", "m2"])
    state(run, stating, tmp_path / "out.jsonl")
    assert not any("hive 2" in row["text"] for rows in stating.asked for row in rows)
    assert {one.doc_id for one in read_statements(tmp_path / "out.jsonl")} == {"m0", "m3", "m4", "m5"}


names = st.sampled_from(["memories", "id", "statements", "statement", "subject", "valid_from"])
json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=20) | st.sampled_from(["Cleo owns the kiln.", "1", "statements"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, max_examples=100)
@given(json_values.map(json.dumps) | st.text(max_size=60))
def test_whatever_it_answers_is_read_or_left(answer: str) -> None:
    found, answered = read_statements_answer(answer, [SOURCE], Counter())
    assert answered in (0, 1)
    assert all(one.doc_id == "m1" and one.statement for one in found)


def test_a_statement_is_about_the_memory() -> None:
    said = ["Cleo owns the kiln.", "Ada says that she owns the kiln.", "The Titanic sank in the cold Atlantic.", ""]
    items = [{"subject": "Cleo", "statement": one, "valid_from": "May 2024"} for one in (*said, "kiln " * 1000)]
    answer = json.dumps({"memories": [{"id": "1", "statements": items}]})
    found, _ = read_statements_answer(answer, [SOURCE], Counter())
    assert [(one.statement, one.subject, one.valid_from) for one in found] == [
        (sentence, "Cleo", "2024-05") for sentence in said[:2]
    ]
