"""Inputs that nobody would write, made from ones that somebody would: each must end in an answer or in one sentence.

Readers that texts of others reach: rules, models' answers, files of evaluations, settings, addresses, arguments.
`make soak` asks a million of them, and counts the tracebacks and the hangs.
"""

from __future__ import annotations

import contextlib
import logging
import random
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from hopgate.corpus import parse_memory, read_corpus
from hopgate.embed.embedder import embedder_from
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import read_queries
from hopgate.eval.data.questions import read_questions
from hopgate.eval.data.runs import read_qrels, read_run
from hopgate.eval.measures import parse_measure
from hopgate.exports.memories import escaped_markdown
from hopgate.extract.extraction import Source
from hopgate.extract.files import read_statements, read_triples
from hopgate.extract.model.answer import read_answers
from hopgate.extract.rules.dates import iso
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.spec import read_type_table
from hopgate.graph.names import name_words
from hopgate.graph.walk.config import walk_of
from hopgate.jsonl import parse_json
from hopgate.memory import Cleared
from hopgate.passages import passages
from hopgate.recall.fusers import parse
from hopgate.recall.query_time import asked_time
from hopgate.recall.settings import OPTIONS, Settings, resolve_settings
from hopgate.redact import redacted
from hopgate.sources.tables import parse_map
from hopgate.store.connect import check_address
from hopgate.times import moment

# Far more than any of these inputs needs: of the processor's time, and of anybody's.
HANG_CPU_S, HANG_S = 10.0, 300.0
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


class Target(NamedTuple):
    """What is asked, and what somebody would ask it."""

    name: str
    ask: Callable[[str], object]
    seeds: Sequence[str]
    # How many of the inputs, in parts.
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
VALUES = ("5", "0.5", "on", "none", "bm25", "relevance", "RRF(k=60, lexical=1, graph=1.2)", "fuse > rerank(30) > walk")
# A day like any other, and where the calendar ends.
DAYS = (datetime(2024, 9, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), None)
_RULES = Phrases()


def _source(text: str, **given: Any) -> Source:
    return Source("m", Cleared(text), **given)


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


# fmt: off
READERS = (
    Target("rules", lambda text: _RULES.extract([_source(text, created_at=DAYS[len(text) % 4])]), NOTES, 8),
    Target("turns before", lambda text: _RULES.extract([_source("She moved.", before=(Cleared(text),))]), NOTES, 4),
    Target("a query's time", asked_time, (*NOTES, "where was immich in May 2024", "before the move to birch"), 4),
    Target("an answer", lambda text: read_answers(text, [_source(NOTES[0])]), (ANSWER,), 4),
    Target("several answers", lambda text: read_answers(text, [_source(note) for note in NOTES[:2]]),
           ('{"memories": [' + ANSWER[:-1] + ', "id": "1"}]}',), 2),
    Target("JSON", _parsed, (MEMORY,), 4),
    Target("passages", passages, NOTES, 2),
    Target("names", name_words, NOTES, 2),
    Target("credentials", redacted, ("postgresql://me:hush@host/db?password=x", "key: Bearer abc", *NOTES), 2),
    Target("Markdown", escaped_markdown, NOTES),
    Target("dates", lambda text: [iso(text), moment(text)],
           ("2024-05-03", "2024", "2024-05-03T10:00:00+02:00", "May 2024"), 2),
    Target("settings", _each_setting, VALUES, 3),
    Target("fusers", parse, (VALUES[6], "TM2C2(lexical=.3, dense=.7)", "MinMax(lexical=0.3, graph=1)")),
    Target("walks", walk_of, ('{"damping": 0.8}', '{"dates": true, "damping": 0.5}')),
    Target("measures", parse_measure, ("recall@10", "nDCG@5", "MRR")),
    Target("addresses", check_address, ("postgresql://me:hush@host:5432/db?sslmode=require", "host=/tmp dbname=notes")),
    Target("embedders", embedder_from, ("bundled", "openai:m@http://127.0.0.1:9/v1?dimension=8", "hash:8")),
    Target("field maps", lambda text: parse_map([text]), ("text=body", "created_at=message.at", "_id=key")),
)
# What reads a file, by the file's name, and what is in it.
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "corpus.jsonl": (lambda path: list(read_corpus(path)), MEMORY + '\n{"_id": "m2", "text": "b"}\n'),
    "queries.jsonl": (read_queries, '{"_id": "q1", "text": "Who?", "metadata": {"hops": 1, "scope": "s"}}\n'),
    "triples.jsonl": (
        lambda path: read_triples(path, {"m1"}),
        '{"doc_id": "m1", "subject": "Ada", "relation": "keeps", "object": "key", "confidence": 0.5, '
        '"valid_from": "2024"}\n{"doc_id": "m1", "entity": "Ada", "type": "person"}\n'),
    "statements.jsonl": (
        lambda path: read_statements(path, {"m1"}),
        '{"doc_id": "m1", "statement": "Ada keeps it.", "subject": "Ada", "valid_to": "2025-01-01"}\n'),
    "qrels.tsv": (read_qrels, "query-id\tcorpus-id\tscore\nq1\tm1\t1\nq2\tm2\t0\n"),
    "run.txt": (read_run, "q1 Q0 m1 1 0.5 tag\nq1 Q0 m2 2 0.25 tag\n"),
    "judgements.txt": (read_qrels, "q1 0 m1 1\nq2 0 m2 0\n"),
    "questions.md": (read_questions, "# Mine\n\n## Where is the key?\n- [x] m1 · Ada keeps it.\n- [ ] m2 · b\n"),
    "types.toml": (
        read_type_table,
        '[kinds.host]\ndescription = "a machine"\nexamples = ["alder"]\n[relations."runs on"]\nsingle_valued = true\n'),
}
# fmt: on


def _through_a_file(path: Path, read: Callable[[Path], object]) -> Callable[[str], object]:
    def ask(text: str) -> object:
        # What is no character becomes a byte that is no UTF-8.
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return read(path)

    return ask


def fuzz_all(inputs: int, seed: int) -> dict[str, Fuzzed]:
    """Ask every target its share of the inputs."""
    logging.disable()
    try:
        with tempfile.TemporaryDirectory() as folder:
            files = (
                Target(name, _through_a_file(Path(folder, name), read), (text,)) for name, (read, text) in FILES.items()
            )
            targets = [*READERS, *files]
            parts = sum(target.parts for target in targets)
            return {target.name: fuzz(target, -(-inputs * target.parts // parts), seed) for target in targets}
    finally:
        # Tests of what is logged come after this one in the same process.
        logging.disable(logging.NOTSET)
