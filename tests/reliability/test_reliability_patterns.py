"""No pattern of ours takes twice as long for each character more, whatever is repeated in what it reads.

A repeat within a repeat whose pieces can be cut anywhere does (one hung on a number of forty digits): texts of 48
characters are answered at once or never. With `HOPGATE_SOAK` more texts are tried.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import pkgutil
import re
import signal
import sys
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

import pytest

import hopgate
from hopgate.extract.extraction import Source
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared

LONG = bool(os.environ.get("HOPGATE_SOAK"))
SIZE = 48
SECONDS = 20.0
# What is repeated: what patterns have in their classes, alone and beside a letter or a digit.
MARKS = " -.,_'’\n\t/@:#[]()<>`\"=|\\{}%&?!+~*"
PIECES = (
    *"1aA0é王",
    *MARKS,
    *(f"{side}{mark}" for side in "1a" for mark in MARKS),
    "1a",
    "the ",
    "Aa ",
    "⟨1⟩ ",
    "⟨1⟩ a ",
)
STARTS, ENDS = (("", "a", "1"), ("", "!", "\0", "T2x/c", " ", "@")) if LONG else (("",), ("!", "T2x/c"))


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(hopgate.__path__, "hopgate."):
        if not {"__main__", "integrations"} & set(found.name.split(".")):
            yield importlib.import_module(found.name)


def _patterns(value: Any, seen: set[int], depth: int = 6) -> Iterator[re.Pattern[str]]:
    """Patterns in a value, in what it holds and in what its functions enclose."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and id(value) not in seen and not isinstance(value, ModuleType | type | str | int | float | bytes):
        seen.add(id(value))
        holds = isinstance(value, list | tuple | dict | set | frozenset)
        if holds or (type(value).__module__ or "").startswith("hopgate"):
            for held in gc.get_referents(value):
                yield from _patterns(held, seen, depth - 1)


@pytest.fixture(scope="module")
def patterns() -> list[re.Pattern[str]]:
    rules = Phrases()
    rules.extract([Source("m", Cleared("Ada moved from Leeds to York in May 2024. Meine Mutter wohnt in Köln."))])
    seen: set[int] = set()
    found = {pattern for module in _modules() for value in vars(module).values() for pattern in _patterns(value, seen)}
    return sorted({*found, *_patterns(rules, seen)}, key=lambda pattern: pattern.pattern)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no timer to end a search by")
def test_a_repeated_piece_does_not_double_the_time(patterns: list[re.Pattern[str]]) -> None:
    assert len(patterns) > 100
    now: list[object] = []

    def ring(_: int, __: FrameType | None) -> None:
        raise AssertionError(f"{now} takes longer than anybody waits")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for pattern, piece in itertools.product(patterns, PIECES):
            for start, end in itertools.product(STARTS, ENDS):
                text = start + (piece * SIZE)[:SIZE] + end
                now[:] = pattern.pattern, text
                signal.setitimer(signal.ITIMER_REAL, SECONDS)
                pattern.fullmatch(text)
                pattern.search(text)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
