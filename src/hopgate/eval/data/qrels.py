"""`qrels/<split>.tsv`: which memories answer which query."""

from __future__ import annotations

from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.eval.data.runs import Qrels
from hopgate.jsonl import refuse, text_lines

HEADER = "query-id\tcorpus-id\tscore"


def read_tsv(path: Path) -> tuple[dict[str, dict[str, int]], dict[tuple[str, str], int]]:
    """Read one split's judgements, and the line of each.

    Raises
    ------
    HopgateError
        For a missing header, a wrong number of columns, a grade that is not a whole number, or a pair judged twice.
    """
    qrels: dict[str, dict[str, int]] = {}
    lines: dict[tuple[str, str], int] = {}
    for number, line in text_lines(path):
        columns = line.split("\t")
        if len(columns) != 3:
            refuse(
                path,
                number,
                f"three columns parted by tabs are expected (query, memory, grade); here are {len(columns)}",
            )
        query, memory, grade = (column.strip() for column in columns)
        if number == 1:
            if _integer(grade) is not None:
                refuse(path, number, f"the header line is missing: {HEADER!r}")
            continue
        value = _integer(grade)
        if value is None:
            refuse(path, number, f"the grade must be a whole number, not {grade!r}")
        if (query, memory) in lines:
            refuse(path, number, f"{query!r} and {memory!r} are judged already on line {lines[query, memory]}")
        lines[query, memory] = number
        qrels.setdefault(query, {})[memory] = value
    if not qrels:
        raise HopgateError(f"{path} is empty: the split {path.stem!r} has no judgements")
    return qrels, lines


def write_tsv(path: Path, qrels: Qrels) -> None:
    """Write one split's judgements with the header line."""
    rows = [f"{query}\t{memory}\t{grade}" for query, gold in qrels.items() for memory, grade in gold.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
