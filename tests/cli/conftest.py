import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_run import Runner

Writer = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dsn: str) -> Runner:
    """Commands on a fresh database."""
    return Runner(capsys, "--dsn", dsn)


@pytest.fixture
def bare(capsys: pytest.CaptureFixture[str]) -> Runner:
    """Commands without a store."""
    return Runner(capsys)


@pytest.fixture
def corpus(tmp_path: Path) -> Writer:
    """Write records, or raw lines, as a corpus.jsonl."""

    def write(*records: dict[str, Any] | str, name: str = "corpus.jsonl") -> str:
        lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
        path = tmp_path / name
        path.write_text("".join(line + "\n" for line in lines))
        return str(path)

    return write
