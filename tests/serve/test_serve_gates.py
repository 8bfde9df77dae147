"""A gate by HTTP: run in a process of its own, followed, looked at, applied; cancelled."""

from __future__ import annotations

import html
import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from serving import Running, serving

import hopgate
from hopgate.cli.demo import questions
from hopgate.demo import Corpus, corpus
from hopgate.kb import KnowledgeBase
from hopgate.serve.gate_process import RECORD


def few_questions() -> Corpus:
    """Few questions of the synthetic corpus, with the memories that answer them and some others."""
    made = corpus()
    splits = {name: dict(list(rows.items())[:48]) for name, rows in made.qrels.items()}
    gold = {memory for rows in splits.values() for judged in rows.values() for memory in judged}
    kept = [memory for at, memory in enumerate(made.memories) if memory.external_id in gold or at < 60]
    return replace(made, qrels=splits, memories=kept)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the questions."""
    return questions(tmp_path_factory.mktemp("few"), few_questions())


@pytest.fixture(scope="module")
def judged_kb(module_dsn: str) -> Iterator[KnowledgeBase]:
    """A store with these memories and their graph."""
    with hopgate.open(module_dsn) as kb:
        kb.add(*few_questions().memories)
        kb.embed()
        kb.build()
        yield kb


@pytest.fixture
def gated(judged_kb: KnowledgeBase, few: Path, tmp_path: Path) -> Iterator[Running]:
    with serving(judged_kb, questions=(few,), gates=tmp_path / "gates") as running:
        yield running
        running.app.state.service.gates.close()


def ended(running: Running, key: str) -> dict[str, object]:
    seen = set()
    for _ in range(2400):
        found = running.get(f"gates/{key}").json()
        seen.add(found["stage"] if found["state"] == "running" else found["state"])
        if found["state"] != "running":
            return {**found, "seen": seen}
        time.sleep(0.05)
    raise AssertionError(found)


def test_a_gate_is_run_followed_and_applied(gated: Running, judged_kb: KnowledgeBase, tmp_path: Path) -> None:
    assert gated.get("gates").json() == {"gates": [], "questions": ["synthetic-homelab"]}
    begun = gated.post("gates", {"shuffles": 19})
    assert begun.status_code == 202 and begun.json()["state"] == "running", begun.text
    key = begun.json()["id"]
    assert gated.post("gates", {}).status_code == 409
    assert gated.get(f"gates/{key}/report").status_code == 409
    found = ended(gated, key)
    assert found["state"] == "done" and len(found["seen"]) > 1, found
    kept = json.loads((tmp_path / "gates" / key / RECORD).read_text())
    assert kept["state"] == "done" and kept["stage"] != "starting"
    assert found["verdict"] in ("OPEN", "CLOSED", "INCONCLUSIVE", "INVALID") and found["report"]["arms"]
    page = gated.get(f"gates/{key}/report")
    assert "sandbox" in page.headers["content-security-policy"] and found["verdict"] in page.text
    # The page is kept as long as the store: no text of a memory that may turn sensitive stands in it.
    said = " ".join(memory.content for memory in judged_kb.export())
    assert not any(f">{html.escape(text)}" in page.text for text in said.split(". ") if len(text) > 30)
    if not any(claim["verdict"] == "OPEN" for claim in found["report"]["claims"]):
        assert gated.post(f"gates/{key}/apply", {}).status_code == 409
    applied = gated.post(f"gates/{key}/apply", {"force": True}).json()
    assert applied["gate"]["applied"] and repr(judged_kb.settings().fuser) == applied["applied"]["fuser"]
    assert oct((tmp_path / "gates").stat().st_mode & 0o777) == "0o700"


def test_a_gate_is_cancelled_and_one_that_cannot_run_says_why(gated: Running, tmp_path: Path) -> None:
    key = gated.post("gates", {}).json()["id"]
    # Ctrl-C in a terminal goes to all of the server's group: the server ends the gate, and nothing else does.
    assert os.getpgid(gated.app.state.service.gates._process.pid) != os.getpgid(0)
    assert gated.post(f"gates/{key}/cancel").json()["state"] == "cancelled"
    assert ended(gated, key)["state"] == "cancelled"
    assert gated.post(f"gates/{key}/cancel").status_code == 409
    for _ in range(2400):
        other = gated.post("gates", {"split": "nothing"})
        if other.status_code == 202:
            break
        time.sleep(0.05)
    failed = ended(gated, other.json()["id"])
    assert failed["state"] == "failed" and "nothing.tsv is missing" in str(failed["error"])
    assert "there are synthetic-homelab" in gated.post("gates", {"questions": "others"}).json()["detail"]
    # What was running when a server was killed is not running any more.
    record = tmp_path / "gates" / key / RECORD
    record.write_text(json.dumps({**json.loads(record.read_text()), "state": "running"}))
    assert gated.get(f"gates/{key}").json()["state"] == "failed"
