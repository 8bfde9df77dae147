"""Memories become mentions and typed facts: with no model at all, a local one, a hosted one, or from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hopgate.extract.extraction import (
    Extraction,
    Extractor,
    ExtractorIdentity,
    Fact,
    Mention,
    Source,
    State,
    sources,
)

if TYPE_CHECKING:
    from hopgate.extract.rules.phrases import Phrases

__all__ = ["Extraction", "Extractor", "ExtractorIdentity", "Fact", "Mention", "Phrases", "Source", "State", "sources"]

# Hidden from type checkers, which would take every misspelt name for one that is imported late.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The rules bring large tables along, which recall does without: they are imported when they are first used."""
        if name != "Phrases":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from hopgate.extract.rules.phrases import Phrases

        return Phrases
