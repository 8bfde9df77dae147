"""The docs' pictures and the notebooks' outputs, made anew: `make screenshots`.

Runs the gate on the synthetic corpus, photographs its report and the explorer's pages with a headless browser, and runs
every notebook and stores it with its outputs. `take.py explorer` or `take.py notebooks` does one of these alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from explorer import photograph_explorer
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
# In characters; a table of results is shorter, a page with its drawing library longer.
LONGEST_HTML = 50_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")


def main() -> None:
    """Take them all, or the kind that is named."""
    kinds = sys.argv[1:] or ["explorer", "report", "notebooks"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if "explorer" in kinds:
            photograph_explorer(place, IMAGES)
        if "report" in kinds:
            hopgate = [sys.executable, "-m", "hopgate", "demo", "--folder", str(place / "demo")]
            subprocess.run(hopgate, check=True, env={**os.environ, "HOPGATE_STORE": ""})
            photograph(place / "demo" / "report" / "page.html", IMAGES / "report.png", (1100, 1480))
        if "notebooks" in kinds:
            for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
                run(path, place)


def browser() -> str:
    """Where the browser is; without one there are no pictures."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        sys.exit("no chromium is installed: apt-get install chromium")
    return found


def photograph(page: Path, target: Path, size: tuple[int, int]) -> None:
    """Let a headless browser draw a page into a file."""
    with tempfile.TemporaryDirectory() as profile:
        options = [f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", f"--screenshot={target}"]
        subprocess.run([browser(), *FLAGS, *options, page.as_uri()], check=True, stderr=subprocess.DEVNULL)


def run(path: Path, place: Path) -> None:
    """Run a notebook on the synthetic corpus, and store it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(place)}}).execute(
        env={**os.environ, "HOPGATE_STORE": "", "OMP_NUM_THREADS": "1"}
    )
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_noise(output)]
    nbformat.write(notebook, path)


def _is_noise(output: Any) -> bool:
    """Progress, and pages with a library in them, which no viewer of stored notebooks shows."""
    return output.get("name") == "stderr" or len(output.get("data", {}).get("text/html", "")) > LONGEST_HTML


if __name__ == "__main__":
    main()
