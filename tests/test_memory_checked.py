"""A memory that is seen to be plain at a glance is one that nothing can be said against."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.memory import MAX_KEY_BYTES, Memory, _is_plain, _reasons_to_refuse
from hopgate.sensitivity import SensitivityRules

_TEXT = st.one_of(
    st.text(max_size=8), st.sampled_from(["", "note", "\0", "\ud800", "é" * 600, "x" * MAX_KEY_BYTES, "y" * 2000])
)


@given(
    st.fixed_dictionaries(
        {"external_id": _TEXT, "text": _TEXT},
        optional={
            "title": _TEXT,
            "tags": st.lists(_TEXT, max_size=2).map(tuple),
            "expanded_keywords": st.lists(_TEXT, max_size=2).map(tuple),
            "importance": st.floats(allow_nan=True),
            "scope": _TEXT,
            "thread": _TEXT,
            "superseded_by": _TEXT,
            "created_at": st.sampled_from([datetime(1, 1, 1), datetime(2024, 5, 1), datetime(9999, 1, 1)]),
            "source": st.sampled_from([{}, {"a": float("nan")}]),
        },
    )
)
def test_what_is_plain_at_a_glance_has_nothing_against_it(fields: dict[str, object]) -> None:
    try:
        memory = Memory(**fields)  # type: ignore[arg-type]
    except HopgateError:
        # What is refused must not have looked plain: the same again without the check.
        memory = object.__new__(Memory)
        for name, value in {**_DEFAULTS, **fields}.items():
            object.__setattr__(memory, name, value)
        assert not _is_plain(memory)
        return
    assert list(_reasons_to_refuse(memory)) == []


_DEFAULTS = {name: getattr(Memory("m", "x"), name) for name in Memory.__dataclass_fields__}


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
