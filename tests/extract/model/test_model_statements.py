"""Statements that a model writes: read, grounded, written into a file, and gone on with; against a real server."""

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

from hopgate.extract.extraction import Source
from hopgate.extract.files import read_statements
from hopgate.extract.model.judge import read_statements_answer
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared, Memory

SECRET = "the safe opens with 4711"


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
        entries = [
            {
                "id": row["id"],
                "statements": [
                    {"subject": row.get("says_I", "I"), "statement": f"{row.get('says_I', 'I')}: {row['text']}"}
                ],
            }
            for row in rows
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


def test_a_model_that_states_nothing_ends_with_1(
    kb: KnowledgeBase, run: Runner, stating: Stating, tmp_path: Path
) -> None:
    kb.add(Memory("m1", "Ada keeps the key."))
    stating.silent = True
    out = tmp_path / "statements.jsonl"
    assert state(run, stating, out, "--json", status=1).json["unanswered"] == 1
    assert out.read_text() == ""
    said = run("extract", "--statements", str(tmp_path / "x"), status=2).refused()
    assert "only a model writes statements: give --extractor llama or openai" in said


SOURCE = Source("m1", Cleared("She owns the kiln."), owner="Ada", before=(Cleared("Bob: Does Cleo pot?"),))
json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=20) | st.sampled_from(["Cleo owns the kiln.", "1", "statements"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["memories", "id", "statements", "statement", "subject", "valid_from"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


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


def test_what_turns_sensitive_meanwhile_is_not_sent_and_not_written(
    kb: KnowledgeBase, run: Runner, stating: Stating, tmp_path: Path
) -> None:
    kb.add(*(Memory(f"m{number}", f"Kit keeps hive {number} in the garden.") for number in range(6)))
    stating.meanwhile = lambda: kb.mark_sensitive(["m1", "m2"])
    state(run, stating, tmp_path / "out.jsonl")
    sent = [row["text"] for rows in stating.asked for row in rows]
    assert not any("hive 2" in text for text in sent)
    assert {one.doc_id for one in read_statements(tmp_path / "out.jsonl")} == {"m0", "m3", "m4", "m5"}
