"""triples.jsonl and statements.jsonl: what is read, what is refused, and what comes of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Source
from hopgate.extract.files import Replay, Statement, Triple, WithStatements, read_statements, read_triples
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared

FACT = {"doc_id": "m1", "subject": "Ada", "relation": "owns", "object": "NAS"}
STATED = {"doc_id": "m1", "subject": "Ada", "statement": "Ada  keeps the\nspare key."}


def written(folder: Path, *rows: dict[str, Any] | str) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


def source(key: str = "m1", text: str = "x") -> Source:
    return Source(key, Cleared(text))


def test_rows_are_read_whole(tmp_path):
    more = {"subject_type": "person", "object_type": "device", "valid_from": "2019-05-01T08:00:00Z", "valid_to": "2020"}
    mention = {"doc_id": "m2", "entity": " the  NAS ", "type": "device"}
    path = written(tmp_path, {**FACT, **more, "confidence": 1}, "", mention, {**FACT, "confidence": None})
    assert read_triples(path, {"m1", "m2"}) == (
        Triple("m1", "Ada", "owns", "NAS", "person", "device", "2019-05-01", "2020", 1.0),
        Triple("m2", "the NAS", subject_type="device"),
        Triple("m1", "Ada", "owns", "NAS"),
    )
    row = {**STATED, "valid_from": "2024-05", "valid_to": "2024-06-01", "confidence": 0.5}
    [statement] = read_statements(written(tmp_path, row), {"m1"})
    assert statement == Statement("m1", "Ada keeps the spare key.", "Ada", "2024-05", "2024-06-01", 0.5)


def test_a_replay_gives_each_name_and_fact_once_by_id(tmp_path):
    rows = [
        FACT,
        FACT,
        {"doc_id": "m1", "entity": "ada", "type": "person"},
        {"doc_id": "m1", "entity": "Turin", "type": "city"},
        {"doc_id": "m2", "entity": "Bob"},
    ]
    replay = Replay(str(written(tmp_path, *rows)))
    first, third = replay.extract([source(), source("m3")])
    assert first.facts == (Fact("Ada", "owns", "NAS", confidence=1.0),)
    assert [(mention.name, mention.kind) for mention in first.mentions] == [
        *(("ada", "person"), ("NAS", ""), ("Turin", "city"))
    ]
    assert third.state.value == "empty" and third.reason == "the file has no row for this memory"
    assert replay.identity.hash != Replay(str(written(tmp_path, FACT))).identity.hash


@pytest.mark.parametrize(
    ("read", "row", "reason"),
    [
        (read_triples, "{", "not JSON"),
        (read_triples, "[1]", "not a JSON object"),
        (read_triples, {"doc_id": "m1"}, "neither a fact"),
        (read_triples, {**FACT, "entity": "Turin"}, "both a fact (subject, relation, object) and a mention"),
        (read_triples, {"entity": "x"}, "the field 'doc_id' is missing"),
        (read_triples, {"doc_id": 7, "entity": "x"}, "doc_id must be a text"),
        (read_triples, {"doc_id": "m1", "entity": " "}, "entity must be a text that is not empty"),
        (read_triples, {"doc_id": "m1", "entity": "x", "type": 3}, "type must be a text"),
        *((read_triples, {**FACT, "confidence": value}, "confidence must be a number between 0 and 1")
          for value in (True, "0.5", -0.1, 1.5, [0.5])),
        (read_triples, json.dumps(FACT).replace("}", ', "confidence": NaN}'), "NaN"),
        (read_triples, {**FACT, "valid_from": "yesterday"}, "valid_from must be an ISO date"),
        (read_triples, {**FACT, "valid_from": "2020", "valid_to": "2019"}, "is before valid_from"),
        (read_triples, {**FACT, "subject": "A\0da"}, "NUL"),
        (read_triples, {**FACT, "doc_id": "m9"}, "doc_id 'm9' is not in the corpus"),
        (read_statements, {**STATED, "statement": " "}, "statement must be a text that is not empty"),
        (read_statements, {**STATED, "statement": "x" * 3000}, "at most 2,000 characters"),
        (read_statements, {**STATED, "subject": 3}, "subject must be a text"),
    ],
)  # fmt: skip
def test_a_bad_row_is_refused_with_file_line_and_reason(tmp_path, read, row, reason):
    path = written(tmp_path, FACT if read is read_triples else STATED, row)
    with pytest.raises(HopgateError) as refused:
        read(path, {"m1"})
    assert f"{path}, line 2: " in str(refused.value) and reason in str(refused.value)


def test_bytes_that_are_no_text_and_a_missing_file_are_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"doc_id": "m1", "entity": "\xff"}')
    with pytest.raises(HopgateError, match="line 1: not UTF-8"):
        Replay(str(path)).extract([source()])
    with pytest.raises(HopgateError, match="cannot be read"):
        _ = Replay(str(tmp_path / "none")).identity


def test_names_in_a_statement_are_the_memorys(tmp_path):
    stated = [Statement("m1", "Ada Lovelace keeps the spare key in Norwich.", "Bea")]
    read, replayed = Phrases(), Replay(str(written(tmp_path, FACT)))
    by_rules, by_file = WithStatements(read, stated), WithStatements(replayed, stated)
    first, second = by_rules.extract([source("m1", "She has it."), source("m2", "Bob Marsh is out.")])
    assert {"Ada Lovelace", "Norwich", "Bea"} <= {mention.name for mention in first.mentions}
    assert "Ada Lovelace" not in {mention.name for mention in second.mentions}
    assert by_rules.identity.by_id and by_rules.identity.hash != WithStatements(read, []).identity.hash
    # A file knows names and facts by ids: of a statement its subject alone is added.
    [extraction] = by_file.extract([source("m1", "It hangs there.")])
    assert [mention.name for mention in extraction.mentions] == ["Ada", "NAS", "Bea"] and len(extraction.facts) == 1
