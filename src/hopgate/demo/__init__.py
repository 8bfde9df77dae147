"""A synthetic corpus written for this project: a small homelab-and-team world, with its facts as ground truth."""

from __future__ import annotations

from hopgate.demo.build import corpus
from hopgate.demo.records import Corpus, Fact, Query, held

__all__ = ["Corpus", "Fact", "Query", "corpus", "held"]
