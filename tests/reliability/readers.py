"""Every reader that texts of others reach, and what somebody would give it."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from hopgate.corpus import parse_memory
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
from hopgate.extract.spec import read_type_table
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
from hopgate.sources import chats, mail
from hopgate.sources.notes import _CODE, _HEADING, _LINK, _TAG, split_front_matter
from hopgate.sources.read import read_source
from hopgate.sources.tables import parse_map
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
    "field maps": Reader(lambda text: parse_map([text]), ("text=body", "created_at=message.at", "_id=key")),
}
# What reads a file, by the file's name, and what is in it.
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "corpus.jsonl": (lambda path: list(read_source(path, "jsonl").memories), MEMORY + '\n{"_id": "m2", "text": "b"}\n'),
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


def _through(path: Path, read: Callable[[Path], object], text: str) -> object:
    # What is no character becomes a byte that is no UTF-8.
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return read(path)


def readers(folder: Path) -> dict[str, Reader]:
    """All of them; those of files read them from the folder."""

    def of(name: str) -> Reader:
        read, text = FILES[name]
        return Reader(lambda given: _through(folder / name, read, given), (text,))

    return {**READERS, **{name: of(name) for name in FILES}}
