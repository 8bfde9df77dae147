"""Memories become mentions and typed facts: with no model at all, a local one, a hosted one, or from a file."""

from hopgate.extract.association import Associate, Association, Pruning
from hopgate.extract.cache import CacheKey, DiskCache, ExtractionCache, MemoryCache, cache_key, forget_key, text_key
from hopgate.extract.extraction import MENTIONS_TOGETHER, Extraction, Fact, Mention, Source, State, sources
from hopgate.extract.extractor import Extractor, ExtractorIdentity
from hopgate.extract.model.llama import Llama
from hopgate.extract.model.openai import OpenAI
from hopgate.extract.progress import Progress
from hopgate.extract.replay import Replay
from hopgate.extract.rules.phrases import Phrases
from hopgate.extract.runner import Extracted, Run, Sink

__all__ = [
    "MENTIONS_TOGETHER",
    "Associate",
    "Association",
    "CacheKey",
    "DiskCache",
    "Extracted",
    "Extraction",
    "ExtractionCache",
    "Extractor",
    "ExtractorIdentity",
    "Fact",
    "Llama",
    "MemoryCache",
    "Mention",
    "OpenAI",
    "Phrases",
    "Progress",
    "Pruning",
    "Replay",
    "Run",
    "Sink",
    "Source",
    "State",
    "cache_key",
    "forget_key",
    "sources",
    "text_key",
]
