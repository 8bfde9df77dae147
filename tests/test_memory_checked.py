"""What a memory and its lists may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory


def test_one_text_where_several_belong_is_refused_and_not_taken_letter_by_letter(kb: KnowledgeBase) -> None:
    text: Any = "nas"
    kb.add(*(Memory(letter, "It hums.") for letter in text))
    calls: dict[str, Callable[[], object]] = {
        "tags": lambda: Memory("m", "x", tags=text),
        "expanded_keywords": lambda: Memory("m", "x", expanded_keywords=text),
        "patterns": lambda: SensitivityRules(patterns=text),
        "external_ids": lambda: kb.delete(text),
        "legs": lambda: kb.recall("x", legs=text),
    }
    for name, call in calls.items():
        with pytest.raises(HopgateError, match=rf"^{name} is a list of texts, not one text: write \['nas'\]$"):
            call()
    with pytest.raises(HopgateError, match=r"^tags is a list"):
        SensitivityRules(tags=text)
    for refused in (lambda: kb.mark_sensitive(text), lambda: kb.recall("x", exclude=text)):
        with pytest.raises(HopgateError, match=r"^external_ids is a list"):
            refused()
    assert len(kb) == 3
