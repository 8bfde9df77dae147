"""Memories become mentions and typed facts: with no model at all, a local one, a hosted one, or from a file.

The names below are imported when they are first used: the rules bring large tables along, which recall does without.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    **dict.fromkeys(("Extraction", "Fact", "Mention", "Source", "State", "sources"), "hopgate.extract.extraction"),
    **dict.fromkeys(("Extractor", "ExtractorIdentity"), "hopgate.extract.extraction"),
    "Phrases": "hopgate.extract.rules.phrases",
}


# Hidden from type checkers, which would take every misspelt name for one that is imported late.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_MODULES[name]), name)
