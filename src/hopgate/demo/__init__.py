"""A synthetic corpus written for this project: a small homelab-and-team world and its talk, with its facts.

`tools/demo_corpus/make.py` drew it, and `data` holds what was drawn. Its queries are made from the facts that
`triples.jsonl` holds. A graph replayed from that file is therefore fit for tests of the machinery and for nothing else:
`hopgate demo` and the gate have theirs read out of the texts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.corpus import parse_memory, to_record
from hopgate.errors import HopgateError
from hopgate.jsonl import json_lines
from hopgate.memory import Memory

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase

DATA = Path(__file__).parent / "data"
LAST_DAY = date(2025, 12, 19)
Qrels = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class WorldFact:
    """One true statement of the world, with when it held and when it was recorded."""

    subject: str
    relation: str
    object: str
    subject_type: str
    object_type: str
    valid_from: date | None  # it holds from this day on; None is ever since
    valid_to: date | None  # and not any more on this one
    recorded_at: date  # when it became known: the day of the earliest memory that states it
    end_recorded_at: date | None = None  # when its end became known: the day its successor was recorded
    before: str | None = None  # the object that this one follows
    late: bool = False  # whether it was learned of some days after it began
    scope: str | None = None
    evidence: tuple[str, ...] = ()  # the memories that state it, the earliest first
    dated: bool = False  # whether a memory's text names the day it began

    def holds(self, as_of: date, known_at: date | None = None) -> bool:
        """Whether it holds as of a day, by what was known at the end of another (by default: by all there is).

        Examples
        --------
        >>> moved, recorded = date(2025, 3, 1), date(2025, 3, 9)
        >>> fact = WorldFact("Gitea", "runs on", "birch", "service", "host", None, moved, date(2025, 1, 1), recorded)
        >>> fact.holds(date(2025, 3, 5)), fact.holds(date(2025, 3, 5), known_at=date(2025, 3, 8))
        (False, True)
        """
        if known_at is not None and known_at < self.recorded_at:
            return False
        began = self.valid_from is None or self.valid_from <= as_of
        end_is_known = known_at is None or (self.end_recorded_at is not None and self.end_recorded_at <= known_at)
        over = self.valid_to is not None and end_is_known and self.valid_to <= as_of
        return began and not over


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with its stratum and what answers it."""

    id: str
    text: str
    # `type` and `stratum` (the same word), `hops`, `answer`; `as_of` and `known_at` where asked.
    metadata: dict[str, Any] = field(hash=False)
    evidence: tuple[tuple[str, ...], ...] = ()  # for each hop, in order, the memories that state it


@dataclass(frozen=True, slots=True)
class Corpus:
    """The whole synthetic corpus."""

    memories: list[Memory]
    queries: list[Question]
    qrels: dict[str, Qrels]  # split (dev, test) -> query id -> memory id -> 1
    triples: list[dict[str, Any]]  # facts and mentions as a perfect extractor would give them, none sensitive
    facts: list[WorldFact]  # the timeline: every fact that was ever true
    canaries: dict[str, tuple[str, ...]]  # sensitive memory's id -> the words that occur in it and nowhere else
    single_valued: frozenset[str]  # relations of which a subject has one object at a time: a newer one supersedes


@cache
def corpus() -> Corpus:
    """Read the synthetic corpus, which callers share: do not change it.

    Examples
    --------
    >>> world = corpus()
    >>> len(world.memories), sorted(world.qrels)
    (501, ['dev', 'test'])
    """
    more = json.loads((DATA / "world.json").read_text(encoding="utf-8"))
    hops = {key: tuple(map(tuple, found)) for key, found in more["evidence"].items()}
    return Corpus(
        # As if a program had made them, and not as lines that are written back as they came in.
        memories=[replace(parse_memory(row), source=None) for row in _rows("corpus.jsonl")],
        queries=[
            Question(row["_id"], row["text"], row["metadata"], hops[row["_id"]]) for row in _rows("queries.jsonl")
        ],
        qrels={split: _qrels(DATA / "qrels" / f"{split}.tsv") for split in ("dev", "test")},
        triples=_rows("triples.jsonl"),
        facts=[_fact(row) for row in _rows("facts.jsonl")],
        canaries={key: tuple(words) for key, words in more["canaries"].items()},
        single_valued=frozenset(more["single_valued"]),
    )


def _rows(name: str) -> list[dict[str, Any]]:
    return [row for _, row in json_lines(DATA / name)]


def _fact(row: dict[str, Any]) -> WorldFact:
    days = ("valid_from", "valid_to", "recorded_at", "end_recorded_at")
    dates = {name: date.fromisoformat(row[name]) if row[name] else None for name in days}
    return WorldFact(**{**row, **dates, "evidence": tuple(row["evidence"])})


def _qrels(path: Path) -> Qrels:
    found: Qrels = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, key, score = line.split("\t")
        found.setdefault(query, {})[key] = int(score)
    return found


def write(folder: Path, made: Corpus | None = None, *, leave_out: Collection[str] = ()) -> Path:
    """Write a corpus, by default the whole one, as a folder in the BEIR layout, which is made where it is missing.

    Parameters
    ----------
    leave_out : collection of str
        Names of files that are not written.
    """
    made = made or corpus()
    texts = {
        "corpus.jsonl": _lines(map(to_record, made.memories)),
        "queries.jsonl": _lines({"_id": q.id, "text": q.text, "metadata": q.metadata} for q in made.queries),
        "triples.jsonl": _lines(made.triples),
        "facts.jsonl": _lines(map(asdict, made.facts)),
        **{f"qrels/{split}.tsv": _table(qrels) for split, qrels in made.qrels.items()},
    }
    try:
        (folder / "qrels").mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if name not in leave_out:
                (folder / name).write_bytes(text.encode())
    except OSError as error:
        raise HopgateError(f"cannot write the corpus into {folder}: {error.strerror}") from error
    return folder


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, default=date.isoformat) + "\n" for row in rows)


def _table(qrels: Qrels) -> str:
    rows = (f"{query}\t{key}\t{score}\n" for query, keys in qrels.items() for key, score in sorted(keys.items()))
    return "query-id\tcorpus-id\tscore\n" + "".join(rows)


def fill(kb: KnowledgeBase) -> None:
    """Put the synthetic corpus into a store: memories, vectors, and the graph read by rules."""
    # One person's memory.
    kb.store_settings.set({"scopes": "shared"})
    kb.add(*corpus().memories)
    kb.embed()
    kb.build()
