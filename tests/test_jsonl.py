"""JSON lines: what is no line of JSON is refused alike in corpus, queries and triples, by file, line and reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hopgate.corpus import read_corpus
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_queries
from hopgate.extract.files import read_triples
from hopgate.jsonl import MAX_LINE_BYTES

ROWS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "corpus.jsonl": (
        lambda path: list(read_corpus(path)),
        '{"_id": "a", "text": "x", "metadata": {}, "extra": {"note": NOTE}}',
    ),
    "queries.jsonl": (read_queries, '{"_id": "a", "text": "x", "note": NOTE}'),
    "triples.jsonl": (read_triples, '{"doc_id": "a", "entity": "x", "note": NOTE}'),
}
BAD = {
    "NaN": (b"NaN", "NaN is not a number"),
    "infinity": (b"-Infinity", "-Infinity is not a number"),
    "hidden infinity": (b"1e999", "1e999 is too large a number"),
    "digits": (b"1" * 5000, "too many digits"),
    "half a pair": (b'"\\uD800"', "half of a surrogate pair"),
    "deep": (b"[" * 100_000, "nested too deeply"),
    "long": (b'"' + b"a" * MAX_LINE_BYTES + b'"', "the line is longer than 4,194,304 bytes"),
    "broken": (b"{", "not JSON"),
    "bytes": (b'"\xff"', "not UTF-8 at byte"),
}


@pytest.mark.parametrize("file", ROWS)
@pytest.mark.parametrize("case", BAD)
def test_what_is_no_json_is_refused_alike(tmp_path: Path, file: str, case: str) -> None:
    read, row = ROWS[file]
    note, reason = BAD[case]
    path = tmp_path / file
    path.write_bytes(b"\n" + row.encode().replace(b"NOTE", note) + b"\n")
    with pytest.raises(HopgateError, match=reason) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}, line 2: ")


@pytest.mark.parametrize("file", ROWS)
def test_a_byte_order_mark_blank_lines_and_dos_line_ends_are_allowed(tmp_path: Path, file: str) -> None:
    read, row = ROWS[file]
    path = tmp_path / file
    path.write_bytes(b"\xef\xbb\xbf" + row.replace("NOTE", "1").encode() + b"\r\n\r\n")
    assert len(read(path)) == 1
    path.write_bytes(b"\n\xef\xbb\xbf" + row.replace("NOTE", "1").encode())
    with pytest.raises(HopgateError, match="line 2: not JSON"):
        read(path)


@pytest.mark.parametrize("file", ROWS)
def test_a_file_that_is_not_there_and_a_line_that_is_no_object_are_refused(tmp_path: Path, file: str) -> None:
    read, _ = ROWS[file]
    path = tmp_path / file
    with pytest.raises(HopgateError, match="cannot be read: No such file"):
        read(path)
    path.write_text("[1]\n")
    with pytest.raises(HopgateError, match="line 1: not a JSON object"):
        read(path)
