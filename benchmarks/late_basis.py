"""Make the basis that token vectors are kept in, of texts of our own: `python benchmarks/late_basis.py [DIMENSION]`.

The directions are those of the second moment of the tokens of the demo's memories and of notes of benchmarks/notes.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hopgate.demo import corpus
from hopgate.embed import late
from hopgate.embed.bundled import Bundled
from hopgate.memory import Memory, cleared

NOTES = Path(__file__).parent / "notes"
BASIS = Path(late.__file__).parent / "data" / late.BASIS
SAMPLED = 3000


def texts() -> list[str]:
    rows = [json.loads(line) for path in sorted(NOTES.glob("*.jsonl")) for line in path.open(encoding="utf-8")]
    notes = [Memory(row["_id"], row["text"]) for row in rows if "text" in row]
    sample = [*random.Random(7).sample(notes, SAMPLED), *corpus().memories]
    return [text for _, text in cleared(enumerate(sample))]


def rows_of(read: list[str]) -> Iterator[np.ndarray]:
    model = Bundled(*late.LATE)
    for output in model.run(model.encode(read), lambda output: output[0], mark=late.TEXT_MARK):
        yield output / np.linalg.norm(output, axis=1, keepdims=True)


def main() -> None:
    dimension = int(sys.argv[1]) if sys.argv[1:] else 128
    moment = sum(rows.T.astype(np.float64) @ rows for rows in rows_of(texts()))
    _, directions = np.linalg.eigh(moment)
    basis = directions[:, ::-1][:, :dimension]
    # A direction's sign is chance: its largest number is positive.
    signs = np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(dimension)])
    np.save(BASIS, (basis * signs).astype(np.float16))


if __name__ == "__main__":
    main()
