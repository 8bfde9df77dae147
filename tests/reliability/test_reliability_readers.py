"""Every reader of texts that come from others answers or refuses in one sentence, in time in proportion to the text.

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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hopgate.corpus import nearest, parse_memory
from hopgate.embed.embedder import embedder_from
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_queries
from hopgate.eval.data.questions import read_questions
from hopgate.eval.data.runs import read_qrels, read_run
from hopgate.eval.measures import parse_measure
from hopgate.exports.memories import escaped_markdown
from hopgate.extract.extraction import Source
from hopgate.extract.files import read_statements, read_triples
from hopgate.extract.model.answer import first_json, read_answers, without_thoughts
from hopgate.extract.rules.dates import iso
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.links import without_addition
from hopgate.graph.names import name_words
from hopgate.graph.walk.config import walk_of
from hopgate.jsonl import parse_json
from hopgate.memory import Cleared
from hopgate.passages import passages
from hopgate.recall.fusers import parse
from hopgate.recall.query_time import asked_time
from hopgate.recall.settings import OPTIONS, Settings, resolve_settings
from hopgate.redact import redacted
from hopgate.serve.middleware import _cookies
from hopgate.sources import chats, mail, tables
from hopgate.sources.notes import _CODE, _HEADING, _LINK, _TAG, split_front_matter
from hopgate.sources.read import read_source
from hopgate.sources.source import ReadOptions
from hopgate.store.connect import check_address
from hopgate.times import moment


class Reader(NamedTuple):
    """What reads, and what it is given; its share of the odd texts, in parts; whether it is given long ones too."""

    read: Callable[[str], object]
    seeds: Sequence[str]
    parts: int = 1
    long: bool = False


NOTES = (
    "Moved immich from alder to birch on 3 May 2024, because alder's fan died.",
    "Ada: I used to live in Leeds until September; she now works at Kestrel Labs, not at Finch.",
    "Caroline called. Her sister's landlord is Mr. Okafor, who bought the flat from Bea for £1,200.50.",
    "[[NAS]] sits in the attic #homelab `docker compose up` https://wiki.example.org/x v2.4.1 /etc/hosts",
    "Meine Mutter wohnt seit 2019 in Köln und arbeitet bei der Post. 王小明住在上海。",
    "Not on alder any more: paperless was replaced by papermerge yesterday, owned by Raj, port 3000, see INC-238.",
)
FACT = '{"subject": "Ada", "relation": "lives in", "object": "Leeds", "valid_from": "2024-05", "valid_to": null}'
ANSWER = f'{{"mentions": [{{"name": "Ada", "kind": "person"}}], "facts": [{FACT}]}}'
MEMORY = (
    '{"_id": "m1", "title": "", "text": "Ada keeps the key.", "metadata": {"tags": ["home"], "category": "x", '
    '"importance": 0.5, "is_sensitive": false, "scope": "s", "created_at": "2024-05-03"}}'
)
FRONT = '---\ntags: [home, "a b"]\n# mine\nwhere:\n  - attic\nis_sensitive: false\n---\n# NAS\n[[attic|loft]] #home\n'
VALUES = ("5", "0.5", "on", "none", "bm25", "relevance", "RRF(k=60, lexical=1, graph=1.2)", "fuse > rerank(30) > walk")
# A day like any other, and where the calendar ends.
DAYS = (datetime(2024, 9, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), None)
_RULES = Phrases()


def _source(text: str, **given: Any) -> Source:
    return Source("m", Cleared(text), **given)


def _rules(text: str) -> object:
    return _RULES.extract([_source(text, created_at=DAYS[len(text) % 4], known=(("immich", "service"),))])


def _parsed(text: str) -> object:
    try:
        record = parse_json(text)
    except ValueError as error:
        # What every caller does, with the file and the line.
        raise HopgateError(str(error)) from None
    return parse_memory(record)


def _each_setting(text: str) -> None:
    resolve_settings(environ={"HOPGATE_" + text[:8].upper(): text})
    for name, option in OPTIONS.items():
        with contextlib.suppress(HopgateError):
            Settings().replaced({name: option.read(text)})


FOLDER = tempfile.TemporaryDirectory()


def through_file(read: Callable[[Path], object], name: str, text: str) -> object:
    path = Path(FOLDER.name, name)
    # What is no character becomes a byte that is no UTF-8.
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return read(path)


def file_reader(read: Callable[[Path], object], name: str, text: str) -> Reader:
    return Reader(functools.partial(through_file, read, name), (text,))


# fmt: off
READERS = {
    "rules": Reader(_rules, NOTES, 8, long=True),
    "turns before": Reader(lambda text: _RULES.extract([_source("She ran.", before=(Cleared(text),))]), NOTES, 4, True),
    "a query's time": Reader(asked_time, (*NOTES, "where was immich in May 2024", "before the move to birch"), 4),
    "thoughts": Reader(without_thoughts, ("<think>Ada?</think>" + ANSWER, ANSWER), long=True),
    "JSON of an answer": Reader(first_json, (ANSWER, f"Here:\n```json\n{ANSWER}\n```"), long=True),
    "an answer": Reader(lambda text: read_answers(text, [_source(NOTES[0])]), (ANSWER,), 4, True),
    "several answers": Reader(lambda text: read_answers(text, [_source(note) for note in NOTES[:2]]),
                              ('{"memories": [' + ANSWER[:-1] + ', "id": "1"}]}',), 2),
    "grounding": Reader(lambda text: read_answers(ANSWER, [_source(text)]), NOTES, long=True),
    "JSON": Reader(_parsed, (MEMORY,), 4),
    "passages": Reader(passages, NOTES, 2, True),
    "names": Reader(name_words, NOTES, 2, True),
    "titles": Reader(without_addition, (*NOTES, "Mercury (planet)"), long=True),
    "credentials": Reader(redacted, ("postgresql://me:hush@host/db?password=x", "key: Bearer abc", *NOTES), 2, True),
    "Markdown": Reader(escaped_markdown, NOTES),
    "front matter": Reader(split_front_matter, (FRONT, FRONT.replace("\n", "\r\n")), 4, True),
    "notes": Reader(lambda text: [_LINK.sub("", text), _TAG.findall(text), _CODE.sub("", text), _HEADING.match(text)],
                    (FRONT, *NOTES), long=True),
    "WhatsApp": Reader(lambda text: [chats.WHATSAPP_AUTHOR.fullmatch(text), chats.WHATSAPP_LINE.match(text)],
                       ("1/1/24, 10:00 - Ada: a", "[01.02.24, 10:00:05] Bea: b"), long=True),
    "Slack": Reader(lambda text: chats.SLACK_MARK.sub("", text), ("<@U1|ada> see <http://a.example|here>",), long=True),
    "mail": Reader(mail._ID.findall, ("<a@b.example> <c@d.example>",), long=True),
    "dates": Reader(lambda text: [iso(text), moment(text)],
                    ("2024-05-03", "2024", "2024-05-03T10:00:00+02:00", "May 2024"), 2),
    "settings": Reader(_each_setting, VALUES, 3),
    "fusers": Reader(parse, (VALUES[6], "TM2C2(lexical=.3, dense=.7)", "MinMax(lexical=0.3, graph=1)")),
    "walks": Reader(walk_of, ('{"damping": 0.8}', '{"dates": true, "damping": 0.5}')),
    "measures": Reader(parse_measure, ("recall@10", "nDCG@5", "MRR")),
    "addresses": Reader(check_address, ("postgresql://me:hush@host:5432/db?sslmode=require", "host=/tmp dbname=notes")),
    "embedders": Reader(embedder_from, ("bundled", "openai:m@http://127.0.0.1:9/v1?dimension=8", "hash:8")),
    "field maps": Reader(lambda text: tables.parse_map([text]), ("text=body", "created_at=message.at", "_id=key")),
    # What reads a file.
    "corpus.jsonl": file_reader(lambda path: list(read_source(path, "jsonl").memories), "corpus.jsonl",
                                MEMORY + '\n{"_id": "m2", "text": "b"}\n'),
    "queries.jsonl": file_reader(read_queries, "queries.jsonl",
                                 '{"_id": "q1", "text": "Who?", "metadata": {"hops": 1, "scope": "s"}}\n'),
    "triples.jsonl": file_reader(
        lambda path: read_triples(path, {"m1"}), "triples.jsonl",
        '{"doc_id": "m1", "subject": "Ada", "relation": "keeps", "object": "key", "confidence": 0.5, '
        '"valid_from": "2024"}\n{"doc_id": "m1", "entity": "Ada", "type": "person"}\n'),
    "statements.jsonl": file_reader(
        lambda path: read_statements(path, {"m1"}), "statements.jsonl",
        '{"doc_id": "m1", "statement": "Ada keeps it.", "subject": "Ada", "valid_to": "2025-01-01"}\n'),
    "qrels.tsv": file_reader(read_qrels, "qrels.tsv", "query-id\tcorpus-id\tscore\nq1\tm1\t1\nq2\tm2\t0\n"),
    "run.txt": file_reader(read_run, "run.txt", "q1 Q0 m1 1 0.5 tag\nq1 Q0 m2 2 0.25 tag\n"),
    "judgements.txt": file_reader(read_qrels, "judgements.txt", "q1 0 m1 1\nq2 0 m2 0\n"),
    "questions.md": file_reader(read_questions, "questions.md",
                                "# Mine\n\n## Where is the key?\n- [x] m1 · Ada keeps it.\n- [ ] m2 · b\n"),
}
# fmt: on


# Odd texts.

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
@pytest.mark.parametrize("name", READERS)
def test_no_text_ends_in_a_traceback_or_never(name, monkeypatch):
    reader = READERS[name]
    count = -(-ODD_TEXTS * reader.parts // sum(other.parts for other in READERS.values()))
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)
    draw, refused = random.Random(name), 0
    before = signal.signal(signal.SIGPROF, _hangs)
    try:
        for _ in range(count):
            text = mutated(draw, reader.seeds)
            signal.setitimer(signal.ITIMER_PROF, HANG_S)
            try:
                reader.read(text)
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
def test_a_reader_is_linear(name):
    for text in TEXTS[: SHORT if name in ("rules", "turns before") and not SOAK else None]:
        assert_linear(READERS[name].read, functools.partial(made, text), (SIZE, 4 * SIZE))


def names(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


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
        functools.partial(through_file, lambda path: next(tables.csv_rows(path, ReadOptions()), None), "large.csv"),
        lambda n: "text," + ",".join(names(n)) + "\n",
    ),
    "a mail's sender": (
        functools.partial(through_file, lambda path: list(mail.records(path, ReadOptions())), "large.mbox"),
        lambda n: "From: " + '"' * (n // 8) + "\nSubject: s\n\nx",
    ),
    "a field's name": (nearest, lambda n: "is_sensitive" * (n // 4)),
    "a cookie": (lambda text: _cookies(text, "a"), lambda n: 'a="' + "\\1" * (n // 4) + '"'),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_reader_of_much_is_linear(name):
    assert_linear(*LARGE[name], (16_000, 16_000))
