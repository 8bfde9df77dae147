"""Runs and judgements: the two shapes every figure is computed from, and their files."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from hopgate.errors import HopgateError
from hopgate.jsonl import refuse, text_lines

Run: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
"""Query id → memory ids with their scores, best first."""

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Query id → memory id → grade."""

HEADER = "query-id\tcorpus-id\tscore"


def relevant(gold: Mapping[str, int], least: int = 1) -> set[str]:
    """Ids whose grade is at least this."""
    return {name for name, grade in gold.items() if grade >= least}


def read_run(path: str | Path) -> dict[str, list[tuple[str, float]]]:
    """Read `query Q0 memory rank score tag` lines; as in trec_eval the score decides, not the rank, and then the id."""
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
            score = math.nan
        if math.isnan(score):
            refuse(path, number, f"the score must be a number, not {text!r}")
        if memory in run.setdefault(query, {}):
            refuse(path, number, f"{memory!r} stands twice in the ranking of {query!r}")
        run[query][memory] = score
    return {query: sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])) for query, scores in run.items()}


def ranks_against_scores(path: Path) -> bool:
    """Say whether a run's ranks mostly rise with its scores, as where distances stand in the column of scores."""
    rows = [line.split() for _, line in text_lines(path)]
    ranked = [(row[0], int(row[3]), float(row[4])) for row in rows if len(row) == 6 and row[3].isdecimal()]
    both = Counter(
        math.copysign(1, (rank - last) * (score - before))
        for (asked, last, before), (query, rank, score) in pairwise(ranked)
        if query == asked and rank != last and score != before
    )
    return both[1] > both[-1]


def write_run(path: str | Path, run: Mapping[str, Sequence[str]], tag: str = "hopgate") -> None:
    """Write ids, best first, without white space and none twice; their scores fall from how many there are."""
    lines = [
        f"{query} Q0 {memory} {rank} {float(1 + len(ids) - rank)} {tag}\n"
        for query, ids in run.items()
        for rank, memory in enumerate(ids, 1)
    ]
    Path(path).write_text("".join(lines), encoding="utf-8")


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Read judgements: in a `.tsv` BEIR's three columns below a header, in any other file TREC's four."""
    return numbered_qrels(Path(path))[0]


def numbered_qrels(path: Path) -> tuple[dict[str, dict[str, int]], dict[tuple[str, str], int]]:
    """Read judgements as `read_qrels` does, with the line of each."""
    qrels: dict[str, dict[str, int]] = {}
    lines: dict[tuple[str, str], int] = {}
    beir = path.suffix == ".tsv"
    for number, line in text_lines(path):
        columns = [column.strip() for column in line.split("\t")] if beir else line.split()
        if beir and len(columns) != 3:
            refuse(path, number, f"three columns parted by tabs are expected (query, memory, grade): {len(columns)}")
        if not beir and len(columns) != 4:
            refuse(path, number, f"four columns are expected (query 0 memory grade), not {len(columns)}")
        query, memory, text = columns[0], columns[-2], columns[-1]
        try:
            grade = int(text)
        except ValueError:
            if beir and number == 1:
                continue
            refuse(path, number, f"the grade must be a whole number, not {text!r}")
        if beir and number == 1:
            refuse(path, number, f"the header line is missing: {HEADER!r}")
        if (query, memory) in lines:
            refuse(path, number, f"{query!r} and {memory!r} are judged already on line {lines[query, memory]}")
        lines[query, memory] = number
        qrels.setdefault(query, {})[memory] = grade
    if not qrels:
        raise HopgateError(f"{path} holds no judgements")
    return qrels, lines


def write_qrels(path: Path, qrels: Qrels) -> None:
    """Write judgements in BEIR's columns."""
    lines = [f"{query}\t{memory}\t{grade}" for query, gold in qrels.items() for memory, grade in gold.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")
