"""Replaying triples.jsonl: what is wrong is refused with file, line and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Fact, Source
from hopgate.extract.replay import Replay
from hopgate.memory import Cleared


def replay(path: Path, *lines: str, known: set[str] | None = None) -> Extraction:
    path.write_text("\n".join(lines))
    return Replay(str(path), known=known).extract([Source("m1", Cleared("x"))])[0]


GOOD = '{"doc_id": "m1", "subject": "Ada", "relation": "owns", "object": "NAS"}'


def test_facts_and_mentions_come_back_with_types_dates_and_confidence(tmp_path: Path) -> None:
    extraction = replay(
        tmp_path / "t.jsonl",
        '{"doc_id": "m1", "subject": "Ada", "relation": "owns", "object": "NAS", "subject_type": "person", '
        '"valid_from": "2019-05-01", "valid_to": "2020", "confidence": 0.5}',
        "",
        '{"doc_id": "m1", "entity": "Turin", "type": "city"}',
        '{"doc_id": "m1", "entity": "ada"}',
        '{"doc_id": "m2", "entity": "Bob"}',
    )
    assert extraction.facts == (Fact("Ada", "owns", "NAS", "2019-05-01", "2020", 0.5),)
    assert [(mention.name, mention.kind) for mention in extraction.mentions] == [
        ("Ada", "person"),
        ("NAS", ""),
        ("Turin", "city"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"doc_id": "m1"}', "neither a fact"),
        ('{"entity": "x"}', "the field 'doc_id' is missing"),
        ('{"doc_id": 7, "entity": "x"}', "doc_id must be a text"),
        ('{"doc_id": "m1", "entity": " "}', "entity must be a text that is not empty"),
        ('{"doc_id": "m1", "entity": "x", "type": 3}', "type must be a text"),
        (GOOD.replace("}", ', "confidence": NaN}'), "NaN"),
        (GOOD.replace("}", ', "confidence": 1.5}'), "between 0 and 1"),
        (GOOD.replace("}", ', "confidence": "high"}'), "must be a number"),
        (GOOD.replace("}", ', "valid_from": "yesterday"}'), "ISO date"),
        (GOOD.replace("}", ', "valid_from": "2020", "valid_to": "2019"}'), "before"),
        (GOOD.replace("Ada", "A\\u0000da"), "NUL"),
        (GOOD.replace("m1", "m9"), "doc_id 'm9' is not in the corpus"),
    ],
)
def test_a_bad_line_is_refused_with_file_line_and_reason(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(HopgateError) as refusal:
        replay(tmp_path / "t.jsonl", GOOD, line, known={"m1"})
    assert "t.jsonl, line 2: " in str(refusal.value)
    assert reason in str(refusal.value)


def test_bytes_that_are_no_text_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"doc_id": "m1", "entity": "\xff"}')
    with pytest.raises(HopgateError, match="line 1: not UTF-8"):
        Replay(str(path)).extract([Source("m1", Cleared("x"))])
    with pytest.raises(HopgateError, match="cannot be read"):
        _ = Replay(str(tmp_path / "none")).identity


def test_another_file_is_another_identity(tmp_path: Path) -> None:
    one, two = tmp_path / "a", tmp_path / "b"
    one.write_text(GOOD)
    two.write_text(GOOD + "\n" + GOOD)
    assert Replay(str(one)).identity.hash != Replay(str(two)).identity.hash
