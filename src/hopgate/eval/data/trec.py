"""Runs and qrels in TREC's column formats."""

from __future__ import annotations

import math
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import Qrels, Run, ordered
from hopgate.jsonl import refuse, text_lines


def read_run(path: str | Path) -> dict[str, list[tuple[str, float]]]:
    """Read `query Q0 memory rank score tag` lines; as in trec_eval the score decides, not the rank."""
    path = Path(path)
    run: dict[str, dict[str, float]] = {}
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != 6:
            refuse(path, number, f"six columns are expected (query Q0 memory rank score tag), not {len(columns)}")
        query, _, memory, _, text, _ = columns
        try:
            score = float(text)
        except ValueError:
            refuse(path, number, f"the score must be a number, not {text!r}")
        if math.isnan(score):
            refuse(path, number, "the score is not a number")
        if memory in run.setdefault(query, {}):
            refuse(path, number, f"{memory!r} stands twice in the ranking of {query!r}")
        run[query][memory] = score
    return {query: sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])) for query, scores in run.items()}


def write_run(path: str | Path, run: Run, tag: str = "hopgate") -> None:
    """Write a run; scores are written in full, so that reading it back gives the same run."""
    lines = []
    for query, ranking in run.items():
        scores = dict(ranking)
        _plain(path, query, tag, *scores)
        lines += [
            f"{query} Q0 {memory} {rank} {scores[memory]!r} {tag}" for rank, memory in enumerate(ordered(ranking), 1)
        ]
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Read `query 0 memory grade` lines."""
    path = Path(path)
    qrels: dict[str, dict[str, int]] = {}
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != 4:
            refuse(path, number, f"four columns are expected (query 0 memory grade), not {len(columns)}")
        query, _, memory, grade = columns
        if memory in qrels.setdefault(query, {}):
            refuse(path, number, f"{query!r} and {memory!r} are judged twice")
        try:
            qrels[query][memory] = int(grade)
        except ValueError:
            refuse(path, number, f"the grade must be a whole number, not {grade!r}")
    return qrels


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Write judgements."""
    for query, gold in qrels.items():
        _plain(path, query, *gold)
    lines = [f"{query} 0 {memory} {grade}\n" for query, gold in qrels.items() for memory, grade in gold.items()]
    Path(path).write_text("".join(lines), encoding="utf-8")


def _plain(path: str | Path, *names: str) -> None:
    """Refuse an id that the format, whose columns are parted by white space, cannot hold."""
    for name in names:
        if name.split() != [name]:
            raise HopgateError(f"{path}: TREC columns are parted by white space, so the id {name!r} cannot be written")
