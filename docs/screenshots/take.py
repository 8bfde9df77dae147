"""The docs' pictures, taken anew: `make screenshots`.

Runs the gate on the synthetic corpus and every notebook, writes the notebooks with their outputs as pages of the site,
builds the site, and photographs the report, the notebooks' pages and the explorer's with a headless browser.
`python docs/screenshots/take.py explorer` takes those of the explorer alone.
"""

from __future__ import annotations

import base64
import html
import os
import re
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
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")


def main() -> None:
    """Take them all."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        photograph_explorer(place, IMAGES, browser())
        if sys.argv[1:] == ["explorer"]:
            return
        environment = {**os.environ, "HOPGATE_STORE": ""}
        hopgate = [sys.executable, "-m", "hopgate", "demo", "--folder", str(place / "demo")]
        subprocess.run(hopgate, check=True, env=environment)
        photograph(place / "demo" / "report" / "report.html", IMAGES / "report.png", (1100, 1480))
        for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
            page(path, place)
        # The formatter reads code blocks too, and has its own mind about a notebook's semicolons.
        subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(DOCS / "notebooks")], check=True)
        site = place / "site"
        build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
        subprocess.run(build, check=True, cwd=ROOT, env={**environment, "NO_MKDOCS_2_WARNING": "1"})
        for path in sorted((DOCS / "notebooks").glob("*.md")):
            shown = site / "notebooks" / path.stem / "index.html"
            photograph(shown, IMAGES / f"notebook-{path.stem}.png", (1240, 1400))


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


def page(path: Path, place: Path) -> None:
    """Run a notebook and write it, with its outputs, as a page of the site."""
    notebook = nbformat.read(path, as_version=4)
    # No store of the user's: these are pictures of the synthetic corpus.
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(place)}}).execute(
        env={**os.environ, "HOPGATE_STORE": "", "OMP_NUM_THREADS": "1"}
    )
    target = DOCS / "notebooks" / f"{path.stem}.md"
    target.parent.mkdir(exist_ok=True)
    parts: list[str] = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts += [text for output in cell.outputs if (text := _shown(output, f"{path.stem}-{number}"))]
    target.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _shown(output: Any, name: str) -> str:
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```" if output.name == "stdout" else ""
    data = output.get("data", {})
    if "image/png" in data:
        (IMAGES / "notebooks").mkdir(exist_ok=True)
        (IMAGES / "notebooks" / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![](../images/notebooks/{name}.png)"
    if "text/html" in data:
        return _framed(str(data["text/html"]), name)
    return f"```text\n{data['text/plain']}\n```" if "text/plain" in data else ""


def _framed(shown: str, name: str) -> str:
    """Put a page that is inside an output into a file of its own: a page of text stays one."""
    found = re.search(r'srcdoc="([^"]*)"', shown)
    if not found:
        return shown
    (IMAGES / "notebooks").mkdir(exist_ok=True)
    (IMAGES / "notebooks" / f"{name}.html").write_text(html.unescape(found[1]), encoding="utf-8")
    return shown.replace(found[0], f'src="../../images/notebooks/{name}.html"')


if __name__ == "__main__":
    main()
