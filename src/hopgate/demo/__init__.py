"""A synthetic corpus written for this project: a small homelab-and-team world, with its facts as ground truth.

Its queries are made from the facts that ``triples.jsonl`` holds. A graph replayed from that file is therefore fit for
a demo and for tests of the machinery; a gate's verdict on this corpus needs a graph extracted from the text.
"""

from __future__ import annotations

from hopgate.demo.make_corpus import corpus
from hopgate.demo.records import Corpus, Question

__all__ = ["Corpus", "Question", "corpus"]
