"""`hopgate sensitive --undo` is the one way back, and says first what it means."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_run import Runner

from hopgate import Memory
from hopgate.kb import KnowledgeBase
from hopgate.sensitivity import SensitivityRules


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dsn: str) -> Runner:
    return Runner(capsys, "--dsn", dsn)


def test_the_mark_goes_only_when_it_is_said(kb: KnowledgeBase, run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "s", "text": "The code is 17."}\n')
    run("ingest", str(path), "--later")
    run("sensitive", "s")
    assert "stay sensitive" in run("ingest", str(path), "--later").out
    refused = run("sensitive", "--undo", "s", status=2).refused()
    assert "the next embed sends" in refused and "--yes" in refused
    assert run("sensitive", "--undo", "--yes", "--json", "s").json == {"unmarked": 1}
    found = kb.get("s")
    assert found is not None and not found.is_sensitive


def test_a_rule_of_the_store_is_not_undone(kb: KnowledgeBase, run: Runner) -> None:
    kb.add_sensitivity(SensitivityRules(tags=("private",)))
    kb.add(Memory("s", "The code is 17.", tags=("private",)))
    assert "a rule of this store" in run("sensitive", "--undo", "--yes", "s", status=2).refused()
