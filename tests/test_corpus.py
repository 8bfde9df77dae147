"""What is given is checked and nothing of it is ignored: lines of JSON, fields, lists, rules of sensitivity."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hopgate.corpus import parse_memory, to_record
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_queries
from hopgate.extract.files import read_triples
from hopgate.guard import SensitivityRules
from hopgate.jsonl import MAX_LINE_BYTES
from hopgate.memory import Memory
from hopgate.sources.read import read_source
from hopgate.sources.source import ReadOptions

WRONG: list[tuple[dict[str, Any], str, str]] = [
    # Sensitivity, misplaced or misspelt.
    ({"isSensitive": True}, "isSensitive", "is_sensitive"),
    ({"sensitive": True}, "sensitive", "is_sensitive"),
    ({"private": True}, "private", "is_sensitive"),
    ({"metadata": {"is_sensitve": True}}, "is_sensitve", "is_sensitive"),
    ({"metadata": {"IS_SENSITIVE": True}}, "IS_SENSITIVE", "is_sensitive"),
    ({"metadata": {"flags": {"is_sensitive": True}}}, "flags", "extra"),
    ({"is_sensitive": "true"}, "is_sensitive", "true or false"),
    ({"metadata": {"is_sensitive": 1}}, "is_sensitive", "true or false"),
    ({"is_sensitive": True, "metadata": {"is_sensitive": False}}, "is_sensitive", "twice"),
    ({"metadata": {"is_sensitive": None}}, "is_sensitive", "empty"),
    ({"extra": {"a": [{"b": {"Private": 1}}]}}, "Private", "top level"),
    ({"metadata": {"extra": {"secret": True}}}, "secret", "top level"),
    # Dates.
    ({"createdAt": "2024-05-01"}, "createdAt", "created_at"),
    ({"metadata": {"date": "2024-05-01"}}, "date", "created_at"),
    ({"created_at": "yesterday"}, "created_at", "ISO 8601"),
    ({"metadata": {"created_at": 1714550400}}, "created_at", "a number"),
    # Importance.
    ({"importnace": 0.3}, "importnace", "importance"),
    ({"importance": "high"}, "importance", "a string"),
    ({"metadata": {"importance": 7}}, "importance", "between 0 and 1"),
    # Ids.
    ({"_id": None, "id": "m2"}, "id", "_id"),
    ({"_id": 17}, "_id", "a number"),
    ({"_id": ""}, "id", "empty"),
    # Texts in the wrong place, or of the wrong kind.
    ({"metadata": {"title": "NAS"}}, "title", "top level"),
    ({"tags": [1]}, "tags", "list of strings"),
    ({"tags": [["secret"]]}, "tags", "list of strings"),
    ({"tags": {"secret": True}}, "secret", "top level"),
    ({"extra": "x"}, "extra", "an object"),
]


@pytest.mark.parametrize(("fields", "named", "advice"), WRONG, ids=lambda value: json.dumps(value)[:40])
def test_what_is_misplaced_or_misspelt_is_refused_and_nothing_is_stored(kb, tmp_path, fields, named, advice):
    path = tmp_path / "notes.jsonl"
    path.write_text(
        '{"_id": "m1", "text": "Fine."}\n' + json.dumps({"_id": "m2", "text": "The code is 0000."} | fields)
    )
    for keep_unknown in (False, True):
        if keep_unknown and (named == "flags" or fields.get("metadata") == {"date": "2024-05-01"}):
            continue
        with pytest.raises(HopgateError) as refused:
            kb.ingest(path, options=ReadOptions(keep_unknown=keep_unknown and named != "id"))
        assert "notes.jsonl, line 2: " in str(refused.value)
        assert named in str(refused.value) and advice in str(refused.value)
    assert len(kb) == 0 and kb.pending_vectors() == 0


def test_well_known_fields_count_at_the_top_level_too():
    memory = parse_memory(
        {"_id": "a", "text": "t", "is_sensitive": True, "tags": ["x"], "created_at": "2024-05-01", "thread": "c1"}
        | {"reply_to": "b", "language": "german", "importance": 1}
    )
    assert memory.is_sensitive and memory.tags == ("x",) and memory.importance == 1
    assert (memory.thread, memory.reply_to, memory.language) == ("c1", "b", "german")
    assert to_record(memory)["metadata"]["is_sensitive"] is True


def test_unknown_fields_are_kept_when_asked_for_and_come_back_as_extra():
    record = {"_id": "a", "text": "t", "url": "u", "metadata": {"page": 3, "extra": {"mine": 1}}}
    memory = parse_memory(record, keep_unknown=True)
    again = to_record(memory)
    assert again == {"_id": "a", "text": "t", "metadata": {"extra": {"mine": 1, "page": 3, "url": "u"}}}
    assert to_record(parse_memory(again)) == again


def test_a_rule_makes_memories_sensitive_and_is_kept(kb):
    kb.add(Memory("old", "IBAN DE02 1234"), Memory("open", "The cat sleeps."))
    assert kb.add_sensitivity(SensitivityRules(tags=("#Private",), patterns=(r"IBAN\s+[A-Z]{2}",))) == 1
    kb.add(Memory("a", "Hello.", tags=("private",)), Memory("b", "IBAN GB33"), Memory("c", "IBAN is a word."))
    flags = {memory.external_id: memory.is_sensitive for memory in kb.export()}
    assert flags == {"old": True, "open": False, "a": True, "b": True, "c": False}
    assert kb.add_sensitivity(SensitivityRules(patterns=("cat",))) == 1
    assert kb.sensitivity() == SensitivityRules(("#Private",), (r"IBAN\s+[A-Z]{2}", "cat"))
    with pytest.raises(HopgateError, match="not a regular expression"):
        SensitivityRules(patterns=("(",))


def test_what_supersedes_a_memory_is_there(kb):
    with pytest.raises(HopgateError, match="superseded by 'gone', which is not there"):
        kb.add(Memory("x", "y", superseded_by="gone"))
    assert kb.get("x") is None


def test_one_text_where_several_belong_is_refused_and_not_taken_letter_by_letter(kb):
    text: Any = "nas"
    kb.add(*(Memory(letter, "It hums.") for letter in text))
    calls: list[tuple[str, Callable[[], object]]] = [
        ("tags", lambda: Memory("m", "x", tags=text)),
        ("tags", lambda: SensitivityRules(tags=text)),
        ("expanded_keywords", lambda: Memory("m", "x", expanded_keywords=text)),
        ("patterns", lambda: SensitivityRules(patterns=text)),
        ("external_ids", lambda: kb.delete(text)),
        ("external_ids", lambda: kb.mark_sensitive(text)),
        ("external_ids", lambda: kb.recall("x", exclude=text)),
        ("legs", lambda: kb.recall("x", legs=text)),
    ]
    for name, call in calls:
        with pytest.raises(HopgateError, match=rf"^{name} is a list of texts, not one text: write \['nas'\]$"):
            call()
    assert len(kb) == 3


# Lines of JSON: what is none is refused alike in corpus, queries and triples, by file, line and reason.

FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "corpus.jsonl": (
        lambda path: list(read_source(path, "jsonl").memories),
        '{"_id": "a", "text": "x", "metadata": {}, "extra": {"note": NOTE}}',
    ),
    "queries.jsonl": (read_queries, '{"_id": "a", "text": "x", "note": NOTE}'),
    "triples.jsonl": (read_triples, '{"doc_id": "a", "entity": "x", "note": NOTE}'),
}
NO_JSON = (
    (b"NaN", "NaN is not a number"),
    (b"-Infinity", "-Infinity is not a number"),
    (b"1e999", "1e999 is too large a number"),
    (b"1" * 5000, "too many digits"),
    (b'"\\uD800"', "half of a surrogate pair"),
    (b"[" * 100_000, "nested too deeply"),
    (b'"' + b"a" * MAX_LINE_BYTES + b'"', "the line is longer than 4,194,304 bytes"),
    (b"{", "not JSON"),
    (b'"\xff"', "not UTF-8 at byte"),
    (b'{"is_sensitive": true, "is_sensitive": false}', "'is_sensitive' is given twice"),
)


@pytest.mark.parametrize("file", FILES)
def test_what_is_no_json_is_refused_alike(tmp_path, file):
    read, row = FILES[file]
    path, good = tmp_path / file, row.replace("NOTE", "1").encode()
    with pytest.raises(HopgateError, match="cannot be read: No such file"):
        read(path)
    for note, reason in NO_JSON:
        path.write_bytes(b"\n" + row.encode().replace(b"NOTE", note) + b"\n")
        with pytest.raises(HopgateError, match=reason) as refused:
            read(path)
        assert str(refused.value).startswith(f"{path}, line 2: ")
    path.write_text("[1]\n")
    with pytest.raises(HopgateError, match="line 1: not a JSON object"):
        read(path)
    # A byte order mark at the beginning, blank lines and DOS line ends are allowed.
    path.write_bytes(b"\xef\xbb\xbf" + good + b"\r\n\r\n")
    assert len(read(path)) == 1
    path.write_bytes(b"\n\xef\xbb\xbf" + good)
    with pytest.raises(HopgateError, match="line 2: not JSON"):
        read(path)
