"""Inputs that nobody would write, made from ones that somebody would: each must end in an answer or in one sentence.

`make soak` asks a million of them, and counts the tracebacks and the hangs.
"""

from __future__ import annotations

import contextlib
import random
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType

from hopgate.errors import HopgateError

# Far more than any of these inputs needs: of the processor's time, and of anybody's.
HANG_CPU_S, HANG_S = 10.0, 300.0
# What parsers have stumbled over: ends, quotes, escapes, numbers at their limits, other scripts, what is no character.
PIECES = (
    *(
        "",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\0",
        "\x1b[2J",
        "\ufeff",
        "\u2028",
        "\u200b",
        "\ud800",
        "\udcff",
        "\u0301",
        "é",
        "王",
        "🦉",
        "²",
        "①",
        "٣",
        "½",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        '"',
        "'",
        "`",
        "\\",
        "/",
        "|",
        "=",
        ":",
        ";",
        ",",
        ".",
        "-",
        "#",
        "@",
        "&",
    ),
    *(
        "null",
        "true",
        "NaN",
        "Infinity",
        "-0",
        "1e999",
        "9" * 40,
        "-1",
        "0",
        "0.5",
        "1970-01-01",
        "9999-12-31",
        "0000-00-00",
    ),
    *("2024-02-30", "2024-05-03T25:61:00Z", "yesterday", "until", "since", "from", "to", "it", "she", "I", "my", "not"),
    *("<think>", "</think>", "```", "---\n", "[[", "]]", "%s", "{0}", "$1", "../", "\\u0000", "\\ud800", "_id", "text"),
    *(
        "' OR 1=1 --",
        "; DROP TABLE memories",
        "<script>",
        "(?P<a>",
        "*" * 20,
        "a" * 300,
        "(" * 60,
        "[" * 200,
        '{"a":' * 60,
    ),
)


@dataclass(frozen=True)
class Target:
    """What is asked, and what somebody would ask it."""

    name: str
    ask: Callable[[str], object]
    seeds: Sequence[str]
    # How many of the inputs, in parts: what costs more gets fewer.
    parts: int = 1


@dataclass
class Fuzzed:
    """What came of a target's inputs."""

    inputs: int = 0
    refused: int = 0
    tracebacks: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)


class _HangError(BaseException):
    pass


def mutated(draw: random.Random, seeds: Sequence[str]) -> str:
    """One of the seeds with some of it gone, doubled, swapped, or replaced by what does not belong there."""
    text = draw.choice(seeds)
    for _ in range(draw.choice((0, 1, 1, 2, 3, 5, 8))):
        at, end = sorted((draw.randint(0, len(text)), draw.randint(0, len(text))))
        match draw.randrange(6):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:end] + text[at:end] + text[end:]
            case 2:
                text = text[:at] + draw.choice(PIECES) + text[at:]
            case 3:
                text = text[:at] + draw.choice(PIECES) + text[at + 1 :]
            case 4:
                text = text[:at] + text[at:end][::-1] + text[end:]
            case _:
                other = draw.choice(seeds)
                text = text[:at] + other[draw.randint(0, len(other)) :]
    return text[:4000]


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """End what takes longer, wherever it is; a machine that others use as well is no hang."""

    def ring(_: int, __: FrameType | None) -> None:
        raise _HangError

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, HANG_CPU_S), (signal.SIGALRM, signal.ITIMER_REAL, HANG_S))
    before = [signal.signal(number, ring) for number, _, _ in timers]
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def fuzz(target: Target, inputs: int, seed: int) -> Fuzzed:
    """Ask a target so many mutated inputs."""
    draw, found = random.Random(f"{target.name} {seed}"), Fuzzed()
    for _ in range(inputs):
        text = mutated(draw, target.seeds)
        found.inputs += 1
        try:
            with limited():
                target.ask(text)
        except HopgateError as error:
            found.refused += 1
            if not str(error).strip():
                found.tracebacks.append(f"{text!r}: refused without a word")
        except _HangError:
            found.hangs.append(repr(text))
        except Exception:
            found.tracebacks.append(f"{text!r}: {traceback.format_exc(limit=-3)}")
    return found


def counted(targets: Sequence[Target], inputs: int, seed: int) -> dict[str, Fuzzed]:
    """Share so many inputs among targets, by their parts."""
    parts = sum(target.parts for target in targets)
    return {target.name: fuzz(target, -(-inputs * target.parts // parts), seed) for target in targets}
