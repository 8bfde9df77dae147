"""Every notebook runs from top to bottom, and none carries outputs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import nbformat
import pytest

matplotlib.use("agg")

from matplotlib import pyplot
from nbclient import NotebookClient

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.plot.concepts import fill

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def example() -> Iterator[str]:
    """One store with the synthetic corpus for all notebooks; its server outlives none of them."""
    with tempfile.TemporaryDirectory() as folder, hopgate.open(Path(folder) / "store") as kb:
        fill(kb)
        yield kb.store.dsn


# A kernel takes half a minute: the last notebook's by default, and all in `make full`.
@pytest.mark.parametrize(
    "path",
    [*(pytest.param(path, marks=pytest.mark.full) for path in NOTEBOOKS[:-1]), NOTEBOOKS[-1]],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs(path: Path, example: str, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    variables = {**os.environ, "HOPGATE_STORE": example, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    client = NotebookClient(notebook, timeout=800, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=variables)


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if "gate" not in path.stem], ids=lambda path: path.stem)
def test_a_notebook_runs_on_a_store_without_typed_edges(
    path: Path, kb: KnowledgeBase, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, which is quicker than a kernel; the gate's notebook reads a data set and no store."""
    words = ["alder", "birch", "cedar", "dogwood", "elder", "fir", "gorse", "hazel", "ivy", "juniper", "kelp", "larch"]
    kb.add(*(hopgate.Memory(f"m{at}", f"note {at}", tags=(words[at % 12], words[at * 5 % 12])) for at in range(24)))
    kb.embed()
    kb.build()
    assert not [edge for edge in kb.graph.edges() if edge.evidence]
    monkeypatch.setenv("HOPGATE_STORE", dsn)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{path.name}: {cell.source.splitlines()[0]}", "exec"), namespace)
    pyplot.close("all")


def test_outputs_are_stripped() -> None:
    assert len(NOTEBOOKS) == 4
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            assert not cell.get("outputs"), f"{path.name} carries outputs: clear them before committing"
            assert cell.get("execution_count") is None
