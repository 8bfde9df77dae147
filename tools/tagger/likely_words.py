"""Train the linear model of words that says which notes are worth tagging: writes `weights/likely_words.json`.

python tools/tagger/likely_words.py; then raise RULES in `extract/rules/phrases.py`, so that caches know.
"""

from __future__ import annotations

import json
from pathlib import Path

from marked_notes import all_notes
from marked_pairs import notes_of_pairs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

TARGET = Path(__file__).parents[2] / "src/hopgate/extract/changes/weights/likely_words.json"
# As `likely_words.py` of the package cuts words.
WORD = r"[^\W\d_]+|->|→|=>"

notes = [*all_notes(), *notes_of_pairs()]
words = CountVectorizer(ngram_range=(1, 2), min_df=3, binary=True, token_pattern=WORD)
model = LogisticRegression(C=0.5, max_iter=300, class_weight="balanced")
model.fit(words.fit_transform(note.text for note in notes), [note.kind == "change" for note in notes])
weights = {word: round(float(model.coef_[0][at]), 2) for word, at in sorted(words.vocabulary_.items())}
stored = {
    "base": round(float(model.intercept_[0]), 3),
    "by_words": {word: weight for word, weight in weights.items() if abs(weight) >= 0.05},
}
TARGET.write_text(json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
