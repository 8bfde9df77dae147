"""statements.jsonl: what is read, what is refused, and what an extractor makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Source
from hopgate.extract.replay import Replay
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.statements import Statement, WithStatements, read_statements
from hopgate.memory import Cleared

ROW = {"doc_id": "m1", "subject": "Ada", "statement": "Ada  keeps the\nspare key."}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "statements.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_row_is_read_with_its_dates_and_confidence(tmp_path: Path) -> None:
    row = {**ROW, "valid_from": "2024-05", "valid_to": "2024-06-01", "confidence": 0.5}
    [read] = read_statements(written(tmp_path, row), {"m1"})
    assert read == Statement("m1", "Ada keeps the spare key.", "Ada", "2024-05", "2024-06-01", 0.5)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"doc_id": "m9"}, "is not in the corpus"),
        ({"statement": " "}, "statement must be a text that is not empty"),
        ({"statement": "x" * 3000}, "at most 2,000 characters"),
        ({"subject": 3}, "subject must be a text"),
        ({"subject": "a\0b"}, "NUL"),
        ({"valid_from": "soon"}, "valid_from must be an ISO date"),
        ({"valid_from": "2025", "valid_to": "2024"}, "is before valid_from"),
        ({"confidence": 2}, "confidence must be a number"),
    ],
)
def test_a_bad_row_is_refused_with_file_line_and_reason(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    path = written(tmp_path, ROW, {**ROW, **change})
    with pytest.raises(HopgateError, match=reason) as refused:
        read_statements(path, {"m1"})
    assert f"{path}, line 2" in str(refused.value)


def test_names_in_a_statement_are_the_memorys() -> None:
    stated = WithStatements(
        Phrases(), [Statement("m1", "Ada Lovelace keeps the spare key in Norwich.", "Ada Lovelace")]
    )
    first, second = stated.extract([Source("m1", Cleared("She has it.")), Source("m2", Cleared("Bob Marsh is out."))])
    assert {"Ada Lovelace", "Norwich"} <= {mention.name for mention in first.mentions}
    assert "Ada Lovelace" not in {mention.name for mention in second.mentions}
    assert stated.identity.by_id
    assert stated.identity.hash != WithStatements(Phrases(), []).identity.hash


def test_a_replay_adds_the_subject_alone(tmp_path: Path) -> None:
    triples = tmp_path / "triples.jsonl"
    triples.write_text(json.dumps({"doc_id": "m1", "subject": "key", "relation": "hangs in", "object": "hall"}))
    stated = WithStatements(Replay(str(triples)), [Statement("m1", "Ada keeps it.", "Ada")])
    [extraction] = stated.extract([Source("m1", Cleared("It hangs there."))])
    assert {mention.name for mention in extraction.mentions} == {"key", "hall", "Ada"}
    assert len(extraction.facts) == 1
