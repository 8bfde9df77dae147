"""Every reader answers or refuses in one sentence, whatever it is given, in time that is in proportion to it.

`make full` gives them a thousand odd texts, `make soak` (`HOPGATE_SOAK`) a million, and longer texts.
"""

import contextlib
import functools
import gc
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reliability.readers import FILES, READERS, readers

from hopgate.corpus import nearest
from hopgate.errors import HopgateError
from hopgate.jsonl import parse_json
from hopgate.serve.middleware import _cookies
from hopgate.sources import chats, mail, tables
from hopgate.sources.notes import split_front_matter
from hopgate.sources.source import ReadOptions

SOAK = "HOPGATE_SOAK" in os.environ
ODD_TEXTS = 1_000_000 if SOAK else 1000
# Of the processor's time, and far more than any of these texts needs.
HANG_S = 10.0
# What parsers have stumbled over: ends, quotes, escapes, numbers at their limits, other scripts, what is no character.
_PLAIN = r"""
{ } [ ] ( ) < > ' ` \ / | = : ; , . - # @ & null true NaN Infinity -0 1e999 -1 0 0.5 1970-01-01 9999-12-31
0000-00-00 2024-02-30 2024-05-03T25:61:00Z yesterday until since from to it she I my not <think> </think>
``` [[ ]] %s {0} $1 ../ \u0000 \ud800 _id text <script> (?P<a>
"""
_ODD = (
    "| |\n|\r\n|\t|\0|\x1b[2J|\ufeff|\u2028|\u200b|\ud800|\udcff|"
    "\u0301|é|王|🦉|²|①|٣|½|\"|---\n|' OR 1=1 --|; DROP TABLE x"
)
PIECES = (*_PLAIN.split(), *_ODD.split("|"), "9" * 40, "*" * 20, "a" * 300, "(" * 60, "[" * 200, '{"a":' * 60)


def mutated(draw: random.Random, seeds: Sequence[str]) -> str:
    """One of the seeds with some of it gone, doubled, swapped, or replaced by what does not belong there."""
    text = draw.choice(seeds)
    for _ in range(draw.choice((0, 1, 1, 2, 3, 5, 8))):
        at, end = sorted((draw.randint(0, len(text)), draw.randint(0, len(text))))
        other = draw.choice(seeds)
        text = draw.choice(
            (
                text[:at] + text[end:],
                text[:end] + text[at:],
                text[:at] + draw.choice(PIECES) + text[at:],
                text[:at] + draw.choice(PIECES) + text[at + 1 :],
                text[:at] + text[at:end][::-1] + text[end:],
                text[:at] + other[draw.randint(0, len(other)) :],
            )
        )
    return text[:4000]


def _hangs(*_: object) -> None:
    pytest.fail("it takes for ever")


@pytest.mark.full
@pytest.mark.timeout(0 if SOAK else 900)
@pytest.mark.parametrize("name", [*READERS, *FILES])
def test_no_text_ends_in_a_traceback_or_never(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = readers(tmp_path)
    count = -(-ODD_TEXTS * every[name].parts // sum(reader.parts for reader in every.values()))
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)
    draw, refused = random.Random(name), 0
    before = signal.signal(signal.SIGPROF, _hangs)
    try:
        for _ in range(count):
            text = mutated(draw, every[name].seeds)
            signal.setitimer(signal.ITIMER_PROF, HANG_S)
            try:
                every[name].read(text)
            except HopgateError as error:
                refused += 1
                assert str(error).strip(), f"{text!r}: refused without a word"
            except BaseException as error:
                error.add_note(repr(text))
                raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    sys.stdout.write(f"{name}: {count:,} texts, {refused:,} refused\n")


SIZE = 8192 if SOAK else 2048
# Four times the text takes about four times as long; a reader that is quadratic takes sixteen times. What takes less
# than a tenth of a second on the longer text is not asked.
ENOUGH, MOST = 0.1, 9.0
# The rules are the slowest to read by far: in the short form they meet the first SHORT of the texts, which once took
# them too long, and their like.
SHORT = 8
# Piece to repeat, and what stands before and after.
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


def made(text: tuple[str, str, str], size: int) -> str:
    piece, before, after = text
    return before + piece * (size // len(piece)) + after


def seconds(read: Callable[[], object]) -> float:
    # Collecting garbage costs by what the whole process holds, and comes when it will: it is not the reader's time.
    gc.disable()
    began = time.process_time()
    # A refusal is an answer.
    with contextlib.suppress(HopgateError):
        read()
    took = time.process_time() - began
    gc.enable()
    return took


def afresh(read: Callable[[], object]) -> float:
    for one in gc.get_objects():
        if type(one) is functools._lru_cache_wrapper and (one.__module__ or "").startswith("hopgate"):
            one.cache_clear()
    return seconds(read)


def assert_linear(read: Callable[[str], object], text: Callable[[int], str], sizes: tuple[int, int]) -> None:
    """Once; where that took too long, three times on the second size, of which the best counts.

    What is loaded at first use, what was remembered and other jobs count less there.
    """
    for size, clock, tries in ((sizes[0], seconds, 1), (sizes[1], afresh, 3)):
        once, four = (
            min(clock(functools.partial(read, text(length))) for _ in range(tries)) for length in (size, 4 * size)
        )
        if four < ENOUGH or four < MOST * max(once, 0.001):
            return
    pytest.fail(f"{text(10)}: {once:.3f} s, and {four:.3f} s for four times")


@pytest.mark.timeout(0 if SOAK else 900)
@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if reader.long])
def test_a_reader_is_linear(name: str) -> None:
    for text in TEXTS[: SHORT if name in ("rules", "turns before") and not SOAK else None]:
        assert_linear(READERS[name].read, functools.partial(made, text), (SIZE, 4 * SIZE))


def read_file(read: Callable[[Path], object], text: str) -> object:
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(text)
        file.flush()
        return read(Path(file.name))


def names(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


OPTIONS = ReadOptions()
# What reads quickly, and shows only in a large text of which each piece copies or counts all before it.
LARGE: dict[str, tuple[Callable[[str], object], Callable[[int], str]]] = {
    "a list in front matter": (split_front_matter, lambda n: "---\nk:\n" + "- a\n" * n + "---\n"),
    "a message of many lines": (
        lambda text: list(chats._whatsapp_lines(text)),
        lambda n: "1/1/24, 10:00 - Ada: a\n" + "b\n" * n,
    ),
    "names of an object": (
        parse_json,
        lambda n: "{" + ",".join(f'"{name}":1' for name in [*names(n), f"n{n - 1}"]) + "}",
    ),
    "columns of a table": (
        lambda text: read_file(lambda path: next(tables.csv_rows(path, OPTIONS), None), text),
        lambda n: "text," + ",".join(names(n)) + "\n",
    ),
    "a mail's sender": (
        lambda text: read_file(lambda path: list(mail.records(path, OPTIONS)), text),
        lambda n: "From: " + '"' * (n // 8) + "\nSubject: s\n\nx",
    ),
    "a field's name": (nearest, lambda n: "is_sensitive" * (n // 4)),
    "a cookie": (lambda text: _cookies(text, "a"), lambda n: 'a="' + "\\1" * (n // 4) + '"'),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_reader_of_much_is_linear(name: str) -> None:
    assert_linear(*LARGE[name], (16_000, 16_000))
