"""Memories become mentions and typed facts: with no model at all, a local one, a hosted one, or from a file."""

from hopgate.extract.extraction import Extraction, Fact, Mention, Source, State, sources
from hopgate.extract.extractor import Extractor, ExtractorIdentity
from hopgate.extract.rules.phrases import Phrases

__all__ = [
    "Extraction",
    "Extractor",
    "ExtractorIdentity",
    "Fact",
    "Mention",
    "Phrases",
    "Source",
    "State",
    "sources",
]
