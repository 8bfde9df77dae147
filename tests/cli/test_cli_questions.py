"""`hopgate questions`: what it tells to run next can be run."""

from __future__ import annotations

from pathlib import Path

from cli_run import Runner

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory


def test_without_questions_to_tune_on_the_gate_is_told_not_to(run: Runner, kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.add(Memory("m1", "Gitea runs on birch."), Memory("Haus/Keller neu.md", "birch steht im Keller."))
    asked = tmp_path / "questions.md"
    asked.write_text("## Where?\n- [x] m1 · Gitea\n## What?\n- [x] Haus/Keller neu.md · birch\n")
    told = run("questions", str(asked), "--out", str(tmp_path / "all"), "--dev", "0").out
    assert told.endswith("--store --tune none\n")
    told = run("questions", str(asked), "--out", str(tmp_path / "halves"), "--dev", "0.5").out
    assert told.endswith("--store\n")
