"""triples.jsonl: one reader for replay and evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Source
from hopgate.extract.replay import Replay
from hopgate.extract.triples import Triple, read_triples
from hopgate.memory import Cleared

FACT = {"doc_id": "m1", "subject": "Ada", "relation": "owns", "object": "NAS"}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_row_is_read_whole(tmp_path: Path) -> None:
    more = {"subject_type": "person", "object_type": "device", "valid_from": "2019-05-01T08:00:00Z", "valid_to": "2020"}
    path = written(
        tmp_path / "t.jsonl",
        {**FACT, **more, "confidence": 1},
        {"doc_id": "m2", "entity": " the  NAS ", "type": "device"},
    )
    assert read_triples(path, {"m1", "m2"}) == (
        Triple("m1", "Ada", "owns", "NAS", "person", "device", "2019-05-01", "2020", 1.0),
        Triple("m2", "the NAS", subject_type="device"),
    )


@pytest.mark.parametrize("row", [FACT, {**FACT, "confidence": None}])
def test_a_confidence_of_null_is_one_that_is_not_given(tmp_path: Path, row: dict[str, Any]) -> None:
    path = written(tmp_path / "t.jsonl", row)
    [triple] = read_triples(path)
    assert triple.confidence is None
    [extraction] = Replay(str(path)).extract([Source("m1", Cleared("x"))])
    assert extraction.facts == (Fact("Ada", "owns", "NAS", confidence=1.0),)


@pytest.mark.parametrize("confidence", [True, "0.5", -0.1, 1.5, [0.5]])
def test_a_confidence_that_is_none_is_refused(tmp_path: Path, confidence: object) -> None:
    path = written(tmp_path / "t.jsonl", FACT, {**FACT, "confidence": confidence})
    with pytest.raises(HopgateError, match="line 2: confidence must be a number between 0 and 1"):
        read_triples(path)


def test_a_row_that_is_a_fact_and_a_mention_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", {**FACT, "entity": "Turin"})
    with pytest.raises(HopgateError, match=r"line 1: both a fact .* and a mention"):
        read_triples(path)


def test_without_known_ids_every_id_will_do(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", FACT)
    assert len(read_triples(path)) == 1
    with pytest.raises(HopgateError, match="line 1: doc_id 'm1' is not in the corpus"):
        read_triples(path, {"m2"})
