"""Every reader, with inputs that nobody would write: an answer or one sentence."""

from __future__ import annotations

import pytest
from fuzz import fuzz_all


@pytest.mark.full
def test_no_input_ends_in_a_traceback_or_never() -> None:
    found = fuzz_all(1000, 0)
    assert sum(one.inputs for one in found.values()) >= 1000
    wrong = {name: one.tracebacks[:1] + one.hangs[:1] for name, one in found.items() if one.tracebacks or one.hangs}
    assert wrong == {}
