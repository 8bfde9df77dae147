"""Ray's processes may take longer to start than Ray waits for them: one more try, and then one sentence."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hopgate.errors import HopgateError
from hopgate.scale.engine import Engine
from hopgate.scale.ray_session import ray_session

# What Ray raises, which is of no narrower kind.
LATE = "The current node timed out during startup. This could happen because …\nand more"


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Exception | None]:
    """What comes of each start of a cluster, in turn."""
    turns: list[Exception | None] = []

    def init(**_: Any) -> None:
        if error := turns.pop(0):
            raise error

    stand_in = SimpleNamespace(init=init, is_initialized=lambda: False, shutdown=lambda: None)
    monkeypatch.setitem(sys.modules, "ray", cast("Any", stand_in))
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    return turns


def test_a_cluster_that_was_late_is_started_again(starts: list[Exception | None]) -> None:
    starts += [Exception(LATE), None]
    with ray_session(Engine("ray")):
        assert not starts


def test_a_cluster_that_does_not_start_is_one_sentence(starts: list[Exception | None]) -> None:
    starts += [Exception(LATE), Exception(LATE)]
    told = r"Ray did not start on this machine .*--engine local"
    with pytest.raises(HopgateError, match=told) as said, ray_session(Engine("ray")):
        pass
    assert "\n" not in str(said.value)
