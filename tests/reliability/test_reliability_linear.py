"""Readers take time in proportion to what they read, however it was written: four times the text, about four times.

A reader that is quadratic takes sixteen times as long; what takes less than a tenth of a second on the longer text is
not asked. With `HOPGATE_SOAK` every reader meets every text, four times as long.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hopgate.corpus import nearest
from hopgate.errors import HopgateError
from hopgate.extract.extraction import Source
from hopgate.extract.model.answer import first_json, read_answers, without_thoughts
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.links import without_addition
from hopgate.graph.names import name_words
from hopgate.jsonl import parse_json
from hopgate.memory import Cleared
from hopgate.passages import passages
from hopgate.redact import redacted
from hopgate.serve.middleware import _cookies
from hopgate.sources import chats, mail, tables
from hopgate.sources.notes import _CODE, _HEADING, _LINK, _TAG, split_front_matter
from hopgate.sources.source import ReadOptions

LONG = bool(os.environ.get("HOPGATE_SOAK"))
SIZE = 8192 if LONG else 2048
ENOUGH = 0.1
MOST = 9.0

# Piece to repeat, and what stands before and after. The rules are the slowest to read by far: in the short form they
# meet the first SHORT, which once took them too long, and their like.
SHORT = 8
# fmt: off
TEXTS = (
    (" ", "a", "b"), ("it ", "Immich runs. ", ""), ("he and she ", "Ada met Bea. ", ""), ("I ", "Ada: ", ""),
    ("1,", "", "x"), ("1.", "", "x"), ("the ", "", ""), ("Ada runs on ", "", ""), (" ", "", ""),
    ("\n", "a", "b"), (" \n", "a", "b"), ("<think>", "", ""), ("<think></think>", "", ""),
    ("<think><reasoning>", "", "</think>"),
    ("{", "", ""), ("[", "", ""), (",", "{", ""), (" ", "{,", ""), ("\"", "", ""), ("\"a ", "", ""), ("\\", "\"", ""),
    ("a an the ", "", ""), ("1", "", ""), ("1", "", "T2x/c"), ("£1,", "", ""), ("a. ", "", "?"), ("a.", "", "bb"),
    ("a9", "", ""), ("-", "", ""), ("a-", "", "9"), ("/", "", ""), ("/a", "", "/"), ("a@", "", ""), ("a.", "a@", ""),
    ("http://", "", ""), (":", "http://a", "@"), ("a: ", "", ""), ("[[", "", ""), ("[[a|", "", ""),
    ("[[a]] ", "", ""), ("a (", "", ""), ("`", "", ""), ("```\n", "", ""), ("```a\n~~~b\n", "", ""), ("#", "", ""),
    ("#a ", "", ""), (" ", "# a", "b"), ("a #", "# ", "b"), ("<", "", ""), ("<a ", "", ""),
    ("moved immich from a to ", "", ""), ("Word ", "", ""), ("x", "", ""), ("王", "", ""), ("́", "a", ""),
    ("a: b\n", "---\n", ""), (" ", "---\na", "b\n---\n"), (" #", "---\na: b", "\n---\n"),
    (" ", "---\na: b", "c\n---\n"), ("password=", "", ""), ("bearer ", "", ""), (" ", "1/1/24, 10:00", "x"),
)
# fmt: on
_PHRASES = Phrases()
READERS: dict[str, Callable[[str], object]] = {
    "rules": lambda text: _PHRASES.extract([Source("m", Cleared(text), title="", known=(("immich", "service"),))]),
    "turns before": lambda text: _PHRASES.extract(
        [Source("m", Cleared("She moved to Leeds."), title="", before=(Cleared(text),))]
    ),
    "thoughts": without_thoughts,
    "JSON": first_json,
    "an answer": lambda text: read_answers(text, [Source("m", Cleared("a b c"))]),
    "grounding": lambda text: read_answers('{"mentions": [{"name": "a"}], "facts": []}', [Source("m", Cleared(text))]),
    "passages": passages,
    "names": name_words,
    "titles": without_addition,
    "credentials": redacted,
    "front matter": split_front_matter,
    "notes": lambda text: [_LINK.sub("", text), _TAG.findall(text), _CODE.sub("", text), _HEADING.match(text)],
    "WhatsApp": lambda text: [chats.WHATSAPP_AUTHOR.fullmatch(text), chats.WHATSAPP_LINE.match(text)],
    "Slack": lambda text: chats.SLACK_MARK.sub("", text),
    "mail": mail._ID.findall,
}


def made(text: tuple[str, str, str], size: int) -> str:
    piece, before, after = text
    return before + piece * (size // len(piece)) + after


def seconds(read: Callable[..., object], *text: str) -> float:
    # Collecting garbage costs by what the whole process holds, and comes when it will: it is not the reader's time.
    gc.disable()
    began = time.process_time()
    try:
        # A refusal is an answer.
        with contextlib.suppress(HopgateError):
            read(*text)
        return time.process_time() - began
    finally:
        gc.enable()


def afresh(read: Callable[[str], object], text: str) -> float:
    for one in gc.get_objects():
        if type(one) is functools._lru_cache_wrapper and (one.__module__ or "").startswith("hopgate"):
            one.cache_clear()
    return seconds(read, text)


@pytest.mark.timeout(0 if LONG else 900)
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_is_linear(reader: str) -> None:
    read = READERS[reader]
    for text in TEXTS[: SHORT if reader in ("rules", "turns before") and not LONG else None]:
        sizes = (SIZE, 4 * SIZE)
        once, four = (seconds(read, made(text, size)) for size in sizes)
        if four >= ENOUGH and four >= MOST * max(once, 0.001):
            # Once more, four times as long each, the best of three: what is loaded at first use, what was remembered
            # and other jobs count less there, and what is quadratic still takes sixteen times as long.
            sizes = (4 * SIZE, 16 * SIZE)
            once, four = (min(afresh(read, made(text, size)) for _ in range(3)) for size in sizes)
        assert four < ENOUGH or four < MOST * max(once, 0.001), f"{text}: {once:.3f} s, and {four:.3f} s for four times"


def table_of(text: str) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_text(text)
        return next(tables.csv_rows(path, ReadOptions()), None)


def mail_of(header: str) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.eml")
        path.write_text(f"{header}\nSubject: s\n\nx")
        return list(mail.records(path, ReadOptions()))


def named(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


# What reads quickly, and shows only in a large text of which each piece copies or counts all before it.
LARGE: dict[str, Callable[[int], Callable[[], object]]] = {
    "a list in front matter": lambda n: lambda: split_front_matter("---\nk:\n" + "- a\n" * n + "---\n"),
    "a message of many lines": lambda n: lambda: list(chats._whatsapp_lines("1/1/24, 10:00 - Ada: a\n" + "b\n" * n)),
    "names of an object": lambda n: (
        lambda: parse_json("{" + ",".join(f'"{name}":1' for name in [*named(n), f"n{n - 1}"]) + "}")
    ),
    "columns of a table": lambda n: lambda: table_of("text," + ",".join(named(n)) + "\n"),
    "a mail's sender": lambda n: lambda: mail_of("From: " + '"' * (n // 8)),
    "a field's name": lambda n: lambda: nearest("is_sensitive" * (n // 4)),
    "a cookie": lambda n: lambda: _cookies('a="' + "\\1" * (n // 4) + '"', "a"),
}


@pytest.mark.parametrize("reader", LARGE)
def test_a_reader_of_much_is_linear(reader: str) -> None:
    sizes = (16_000, 64_000)
    for _ in range(3):
        once, four = (seconds(LARGE[reader](size)) for size in sizes)
        if four < ENOUGH or four < MOST * max(once, 0.001):
            return
    pytest.fail(f"{once:.3f} s, and {four:.3f} s for four times")
