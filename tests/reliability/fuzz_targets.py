"""The readers that texts of others reach: files of every kind, rules, models' answers, settings, arguments."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import logging
import shlex
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import samples
from fuzz import Fuzzed, Target, counted

import hopgate.cli
from hopgate.corpus import parse_memory, read_corpus
from hopgate.embed.embedder import embedder_from
from hopgate.errors import HopgateError
from hopgate.eval.data import trec
from hopgate.eval.data.qrels import read_tsv
from hopgate.eval.data.queries import read_queries
from hopgate.eval.data.questions_file import read_questions
from hopgate.eval.measures.parse import parse_measure
from hopgate.exports.memories import escaped_markdown
from hopgate.extract.dates import iso
from hopgate.extract.extraction import Source
from hopgate.extract.model.answer import read_answer
from hopgate.extract.model.several import read_several
from hopgate.extract.model.type_table import read_type_table
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.statements import read_statements
from hopgate.extract.triples import read_triples
from hopgate.graph.names import name_words
from hopgate.graph.walk.config import walk_of
from hopgate.jsonl import parse_json
from hopgate.memory import Cleared, Memory
from hopgate.passages import passages
from hopgate.recall.fuse.parse import parse
from hopgate.recall.legs.query_time import asked_time
from hopgate.recall.settings import OPTIONS, Settings, resolve_settings
from hopgate.redact import redacted
from hopgate.sources.field_map import parse_map
from hopgate.sources.read import read_source
from hopgate.sources.source import ReadOptions
from hopgate.store import schema
from hopgate.store.connect import check_address
from hopgate.times import moment

NOTES = (
    "Moved immich from alder to birch on 3 May 2024, because alder's fan died.",
    "Gitea -> cedar since last March (was: elm). Port 3000, see INC-238 and ops@example.org.",
    "Ada: I used to live in Leeds until September; she now works at Kestrel Labs, not at Finch.",
    "Caroline called. Her sister's landlord is Mr. Okafor, who bought the flat from Bea for £1,200.50.",
    "[[NAS]] sits in the attic #homelab `docker compose up` https://wiki.example.org/x v2.4.1 /etc/hosts",
    "Meine Mutter wohnt seit 2019 in Köln und arbeitet bei der Post. 王小明住在上海。",
    "TODO: renew passport (due 2024-11-30); Tom is allergic to peanuts; rent costs 940 €.",
    "Not on alder any more: paperless was replaced by papermerge yesterday, owned by Raj, part of Atlas.",
)
ANSWER = json.dumps(
    {
        "mentions": [{"name": "Ada", "kind": "person"}],
        "facts": [
            {"subject": "Ada", "relation": "lives in", "object": "Leeds", "valid_from": "2024-05", "valid_to": None}
        ],
    }
)
LINES = {
    "corpus": '{"_id": "m1", "title": "", "text": "Ada keeps the key.", "metadata": {"tags": ["home"], '
    '"category": "x", "importance": 0.5, "is_sensitive": false, "scope": "s", "created_at": "2024-05-03"}}\n'
    '{"_id": "m2", "text": "b"}\n',
    "queries": '{"_id": "q1", "text": "Who keeps the key?", "metadata": {"type": "exact", "hops": 1, "scope": "s"}}\n',
    "triples": '{"doc_id": "m1", "subject": "Ada", "relation": "keeps", "object": "key", "confidence": 0.5, '
    '"valid_from": "2024"}\n{"doc_id": "m1", "entity": "Ada", "type": "person"}\n',
    "statements": '{"doc_id": "m1", "statement": "Ada keeps the spare key.", "subject": "Ada", '
    '"valid_to": "2025-01-01"}\n',
    "qrels": "query-id\tcorpus-id\tscore\nq1\tm1\t1\nq2\tm2\t0\n",
    "run": "q1 Q0 m1 1 0.5 tag\nq1 Q0 m2 2 0.25 tag\n",
    "judgements": "q1 0 m1 1\nq2 0 m2 0\n",
    "questions": "# Mine\n\n## Where is the key?\n- [x] m1 · Ada keeps it.\n- [ ] m2 · b\n",
    "types": '[kinds.host]\ndescription = "a machine"\nexamples = ["alder"]\n'
    '[relations."runs on"]\nsingle_valued = true\n',
}
VALUES = (
    "5",
    "0.5",
    "on",
    "none",
    "bm25",
    "relevance",
    "RRF(k=60, lexical=1, dense=1, graph=1.2)",
    "fuse > rerank(30) > walk",
)
# Commands with what a person types; `{file}` is one of theirs. None that serves, waits for hours or asks a model.
COMMANDS = (
    "recall 'where is the key' --k 5 --explain --json --scope s --as-of 2024-05-03 --legs lexical",
    "recall key --sort-by recency --min-score 0.1 --exclude m1 --lexical 1 --known-at 2024",
    "add 'Ada keeps the key.' --id m1 --scope s --tags home --importance 0.5 --created-at 2024-05-03 --title T",
    "ingest {file} --as jsonl --dry-run --map text=body --scope s --keep-unknown",
    "ingest {file} --later --json",
    "show m1 --json",
    "edges Ada --as-of 2024-05-03 --json --scope s",
    "concepts list --limit 5 --json",
    "concepts show Ada --json",
    "settings set graph 2",
    "settings show --json",
    "sensitive m1 --undo --yes",
    "delete m1 --yes --json",
    "graph export --format graphml --memories",
    "graph stats --json",
    "export --format csv",
    "dataset check {file}",
    "audit --json",
    "status --json",
    "cache --json",
    "report {file}",
    "db status --json",
    "embed --embedder openai:m@http://127.0.0.1:9/v1 --limit 1",
)


def _through_a_file(path: Path, read: Callable[[Path], object]) -> Callable[[str], object]:
    def ask(text: str) -> object:
        # What is no character becomes a byte that is no UTF-8.
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return read(path)

    return ask


def _memories(path: Path, form: str, options: ReadOptions) -> list[Memory]:
    return [memory for one in (form, None) for memory in read_source(path, one, options).memories]


def _parsed(text: str) -> object:
    try:
        record = parse_json(text)
    except ValueError as error:
        # What every caller does, with the file and the line.
        raise HopgateError(str(error)) from None
    return parse_memory(record)


def _each_setting(text: str) -> None:
    for name, option in OPTIONS.items():
        with contextlib.suppress(HopgateError):
            Settings().replaced({name: option.read(text)})


def sources(folder: Path) -> list[Target]:
    """A target a file of each source, from the samples of its tests."""
    found = []
    for form, make, fields in (
        *(("text", samples.text, ()), ("csv", samples.csv, samples.CSV_MAP)),
        *(("json", samples.records, samples.RECORDS_MAP), ("chatgpt", samples.chatgpt, ())),
        *(("claude", samples.claude, ()), ("whatsapp", samples.whatsapp, ()), ("telegram", samples.telegram, ())),
        *(("mbox", samples.mbox, ()), ("slack", samples.slack, ()), ("obsidian", samples.vault, ())),
    ):
        place = folder / form
        place.mkdir()
        made = make(place)
        if made.suffix == ".zip":
            with zipfile.ZipFile(made) as archive:
                archive.extractall(place / "unpacked")
            made = place / "unpacked"
        options = ReadOptions(fields=parse_map(fields))
        for path in [made] if made.is_file() else sorted(path for path in made.rglob("*.*") if path.is_file()):
            ask = functools.partial(_memories, made, form, options)
            found.append(Target(f"{form}: {path.name}", _instead(path, ask), (path.read_text(encoding="utf-8"),)))
    return found


def _instead(path: Path, ask: Callable[[], object]) -> Callable[[str], object]:
    """Ask with another text in one of the files; the others of its folder are as they were."""
    was = path.read_bytes()

    def asked(text: str) -> object:
        try:
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            return ask()
        finally:
            path.write_bytes(was)

    return asked


def readers(folder: Path) -> list[Target]:
    """What reads text, files of evaluations, settings and addresses."""
    rules = Phrases()
    # A day like any other, and where the calendar ends.
    days = (datetime(2024, 9, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), None)
    known = (("immich", "service"), ("alder", "host"))

    def file(name: str, read: Callable[[Path], object]) -> Target:
        return Target(name, _through_a_file(folder / f"{name}.txt", read), (LINES[name],))

    return [
        Target(
            "rules",
            lambda text: rules.extract([Source("m", Cleared(text), created_at=days[len(text) % 4], known=known)]),
            NOTES,
            8,
        ),
        Target(
            "turns before",
            lambda text: rules.extract([Source("m", Cleared("She moved to it."), before=(Cleared(text),))]),
            NOTES,
            4,
        ),
        Target("a query's time", asked_time, (*NOTES, "where was immich in May 2024", "before the move to birch"), 4),
        Target("an answer", lambda text: read_answer(text, Source("m", Cleared(NOTES[0]))), (ANSWER,), 4),
        Target(
            "several answers",
            lambda text: read_several(text, [Source("m", Cleared(NOTES[0]))]),
            ('{"memories": [' + ANSWER[:-1] + ', "id": "1"}]}',),
            2,
        ),
        Target("JSON", _parsed, (LINES["corpus"].splitlines()[0],), 4),
        Target("passages", passages, NOTES, 2),
        Target("names", name_words, NOTES, 2),
        Target(
            "credentials", redacted, ("postgresql://me:hush@host/db?password=x", "Authorization: Bearer abc", *NOTES), 2
        ),
        Target("Markdown", escaped_markdown, NOTES),
        Target(
            "dates",
            lambda text: [iso(text), moment(text)],
            ("2024-05-03", "2024", "2024-05-03T10:00:00+02:00", "May 2024"),
            2,
        ),
        Target("settings", _each_setting, VALUES, 2),
        Target(
            "variables",
            lambda text: resolve_settings(environ={"HOPGATE_" + text[:8].upper(): text, "HOPGATE_GRAPH": text}),
            VALUES,
        ),
        Target(
            "fusers", parse, (VALUES[6], "TM2C2(lexical=.3, dense=.7)", "MinMax(lexical=0.015, dense=0.035, graph=5)")
        ),
        Target("walks", walk_of, ('{"damping": 0.8}', '{"seeding": {"dates": true}, "damping": 0.5}')),
        Target("measures", parse_measure, ("recall@10", "nDCG@5", "MRR")),
        Target(
            "addresses",
            check_address,
            ("postgresql://me:hush@host:5432/db?sslmode=require", "host=/tmp dbname=notes user=me"),
        ),
        Target(
            "embedders", embedder_from, ("bundled", "openai:text-embedding@http://127.0.0.1:9/v1?dimension=8", "hash:8")
        ),
        Target("field maps", lambda text: parse_map([text]), ("text=body", "created_at=message.at", "_id=key")),
        file("corpus", lambda path: list(read_corpus(path))),
        file("queries", read_queries),
        file("triples", lambda path: read_triples(path, {"m1"})),
        file("statements", lambda path: read_statements(path, {"m1"})),
        file("qrels", read_tsv),
        file("run", trec.read_run),
        file("judgements", trec.read_qrels),
        file("questions", read_questions),
        file("types", read_type_table),
    ]


def command_line(folder: Path, dsn: str) -> Target:
    """Commands with wrong words, in this process, against a store that may be harmed."""
    theirs = folder / "corpus.jsonl"
    theirs.write_text(LINES["corpus"])

    def ask(line: str) -> object:
        try:
            arguments = shlex.split(line.replace("{file}", str(theirs)))
        except ValueError:
            arguments = line.split(" ")
        # A path of the machine's, or another store than this one, is not for a fuzzer that may write.
        safe = [
            word
            for word in arguments
            if word == str(theirs) or not (word.startswith(("/", "~", "-d", "--d")) or ".." in word)
        ]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            try:
                hopgate.cli.main([*safe, "--dsn", dsn])
            except SystemExit as end:
                if end.code not in (0, 1, 2, None):
                    raise AssertionError(f"status {end.code}: {err.getvalue()}") from None
        said = err.getvalue()
        assert "Traceback" not in said, said
        assert "\x1b" not in out.getvalue() + said, "an escape reached the terminal"
        return said

    return Target("command line", ask, COMMANDS)


# A command takes a hundred times as long as a reader.
COMMANDS_SHARE = 100


def fuzz_all(inputs: int, seed: int, dsn: str) -> dict[str, Fuzzed]:
    """Ask every target its share of the inputs; the store at this address is made for it."""
    logging.disable()
    try:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "sources").mkdir()
            schema.upgrade(dsn)
            read = [*readers(folder), *sources(folder / "sources")]
            return {
                **counted(read, inputs - inputs // COMMANDS_SHARE, seed),
                **counted([command_line(folder, dsn)], -(-inputs // COMMANDS_SHARE), seed),
            }
    finally:
        # Tests of what is logged come after this one in the same process.
        logging.disable(logging.NOTSET)
