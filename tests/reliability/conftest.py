from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import ModelServer, model_server


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("HOPGATE_CACHE", str(folder))
    return folder


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running
