"""Every reader and the command line, with inputs that nobody would write: an answer or one sentence."""

from __future__ import annotations

import pytest
from fuzz_targets import COMMANDS_SHARE, fuzz_all


@pytest.mark.full
def test_no_input_ends_in_a_traceback_or_never(empty_dsn: str) -> None:
    found = fuzz_all(10 * COMMANDS_SHARE, 0, empty_dsn)
    assert sum(one.inputs for one in found.values()) >= 10 * COMMANDS_SHARE
    assert {
        name: one.tracebacks[:1] + one.hangs[:1] for name, one in found.items() if one.tracebacks or one.hangs
    } == {}
