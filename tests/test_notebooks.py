"""Every notebook runs from top to bottom, and none carries outputs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import hopgate
from hopgate.plot.example import fill

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def example() -> Iterator[str]:
    """One store with the synthetic corpus for all notebooks; its server outlives none of them."""
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        fill(kb)
        yield kb.store.dsn


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, example: str, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    variables = {**os.environ, "HOPGATE_STORE": example, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    client = NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=variables)


def test_outputs_are_stripped() -> None:
    assert len(NOTEBOOKS) == 4
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            assert not cell.get("outputs"), f"{path.name} carries outputs: clear them before committing"
            assert cell.get("execution_count") is None
