from __future__ import annotations

from collections.abc import Iterator

import pytest
from reliability.model_server import ModelServer, model_server


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running
