"""A synthetic corpus written for this project: a small homelab-and-team world and its talk, with its facts.

Its queries are made from the facts that ``triples.jsonl`` holds. A graph replayed from that file is therefore fit for
tests of the machinery and for nothing else: `hopgate demo` and the gate have theirs read out of the texts.
"""

from __future__ import annotations

from hopgate.demo.make_corpus import Corpus, corpus
from hopgate.demo.questions import Question

__all__ = ["Corpus", "Question", "corpus"]
