"""Make the basis that token vectors are kept in, of texts of our own: `python benchmarks/late_basis.py [DIMENSION]`.

The directions are those of the second moment of the tokens of the demo's memories and of notes of benchmarks/notes, in
which each kind of token counts alike: else those of marks, points and small words take the room of names. Fused with
all legs, recall@5 / @10 on dev with all 384 | so | with each token counting alike: 2wiki .964 / .990 | .954 / .985 |
.939 / .985, musique .830 / .888 | .836 / .895 | .827 / .895.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from hopgate.demo import corpus
from hopgate.embed import late
from hopgate.embed.bundled import MAX_TOKENS
from hopgate.memory import Memory, cleared

NOTES = Path(__file__).parent / "notes"
BASIS = Path(late.__file__).parent / "data" / late.BASIS
SAMPLED = 3000


def texts() -> list[str]:
    rows = [json.loads(line) for path in sorted(NOTES.glob("*.jsonl")) for line in path.open(encoding="utf-8")]
    notes = [Memory(row["_id"], row["text"]) for row in rows if "text" in row]
    sample = [*random.Random(7).sample(notes, SAMPLED), *corpus().memories]
    return [text for _, text in cleared(enumerate(sample))]


def main() -> None:
    dimension = int(sys.argv[1]) if sys.argv[1:] else 128
    model = late.LATE
    encodings = model.encode(texts())
    kinds = [[late.TEXT_MARK, *encoding.ids][:MAX_TOKENS] for encoding in encodings]
    often = Counter(kind for row in kinds for kind in row)
    moment = np.zeros((384, 384))
    for row, output in zip(kinds, model.run(encodings, lambda output: output[0], mark=late.TEXT_MARK), strict=True):
        unit = output / np.linalg.norm(output, axis=1, keepdims=True)
        # Every text has its marks; which of the first two is which does not matter to a count.
        moment += (unit / np.array([[often[kind]] for kind in row[: len(unit)]])).T @ unit
    _, directions = np.linalg.eigh(moment)
    basis = directions[:, ::-1][:, :dimension]
    # A direction's sign is chance: its largest number is positive.
    signs = np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(dimension)])
    np.save(BASIS, (basis * signs).astype(np.float16))


if __name__ == "__main__":
    main()
