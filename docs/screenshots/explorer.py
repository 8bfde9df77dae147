"""Pictures of the explorer's pages, at the width of a desk and of a phone, on the demo's store."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import hopgate
from hopgate.demo import corpus

if TYPE_CHECKING:
    from playwright.sync_api import Page

FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
QUESTION = "Which room do I have to visit to touch the machine behind Immich?"
SIZES = {"desk": (1280, 900), "phone": (390, 844)}
# Every eighth question of each half, as the demo's gate asks them.
SAMPLED = 8
# No picture of a page is worth more of a clone than this.
MOST_BYTES = 300_000


def photograph_explorer(place: Path, images: Path, browser: str) -> None:
    """Serve the demo's store and take every page twice."""
    from playwright.sync_api import sync_playwright

    store, questions = _store(place / "explorer"), _questions(place / "homelab")
    with _served(store, questions) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        base = address.split("/?", 1)[0]
        for name, (width, height) in SIZES.items():
            context = chromium.new_context(
                viewport={"width": width, "height": height},
                device_scale_factor=1 if name == "desk" else 2,
                color_scheme="light" if name == "desk" else "dark",
                reduced_motion="reduce",
            )
            context.set_default_timeout(120_000)
            page = context.new_page()
            page.goto(address)
            if name == "desk":
                _run_gate(page, base)
            for title, path in _pages(page, base).items():
                page.goto(base + path)
                _ready(page)
                target = images / f"explorer-{title}-{name}.png"
                # The history of a concept is below what was true on a date.
                page.screenshot(path=str(target), full_page=(title, name) == ("time", "desk"))
                _compress(target)
            context.close()
        chromium.close()


def _pages(page: Page, base: str) -> dict[str, str]:
    """The pages to take, each with something to be seen."""
    found = page.request.get(f"{base}/api/v1/concepts?search=Lukas%20Meier&limit=1").json()["concepts"][0]["id"]
    gate = page.request.get(f"{base}/api/v1/gates").json()["gates"][0]["id"]
    return {
        "recall": f"/recall?q={QUESTION}",
        "graph": "/graph",
        "time": f"/time?as_of=2024-08-20&concept={found}",
        "mend": "/mend?tab=curation",
        "gate": f"/gate?gate={gate}",
    }


def _ready(page: Page) -> None:
    """Wait until nothing is loaded and nothing moves any more."""
    _until(page, "document.querySelector('.page h1') && !document.querySelector('[aria-busy]')")
    _until(page, "!document.querySelector('.stage') || document.querySelector('.stage').canvas.settled()")
    if page.locator("iframe.report").count():
        page.frame_locator("iframe.report").locator("h1, h2").first.wait_for()


def _until(page: Page, expression: str) -> None:
    """Wait for an expression to hold; the page's own policy lets it evaluate nothing by itself."""
    for _ in range(2400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise TimeoutError(expression)


def _run_gate(page: Page, base: str) -> None:
    page.goto(f"{base}/gate")
    page.get_by_label("Configurations").select_option("quick")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector("#shown .tag", timeout=600_000)


def _store(folder: Path) -> Path:
    made = corpus()
    with hopgate.open(folder) as kb:
        kb.add(*made.memories)
        kb.embed()
        kb.build()
    return folder


def _questions(folder: Path) -> Path:
    """The questions that the demo's gate asks, with their judgements."""
    made = corpus()
    (folder / "qrels").mkdir(parents=True)
    kept = {split: dict(list(qrels.items())[::SAMPLED]) for split, qrels in made.qrels.items()}
    for split, qrels in kept.items():
        rows = [f"{query}\t{key}\t{grade}" for query, graded in qrels.items() for key, grade in graded.items()]
        (folder / "qrels" / f"{split}.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n")
    judged = {query for qrels in kept.values() for query in qrels}
    lines = [json.dumps({"_id": one.id, "text": one.text}) for one in made.queries if one.id in judged]
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@contextmanager
def _served(store: Path, questions: Path) -> Iterator[str]:
    options = ["--data", str(store), "--port", "0", "--questions", str(questions)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "400"}
    command = [sys.executable, "-m", "hopgate", "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            found = (re.search(r"https?://\S+token=\S+", line) for line in process.stdout)
            yield next(one.group() for one in found if one)
        finally:
            process.terminate()


def _compress(path: Path) -> None:
    """Keep the 256 colours that most of it has: a page has few, and a clone is smaller for it.

    Those that Pillow would choose are mixed: a legend's dots get each other's colour, or cards that of their ground.
    """
    from PIL import Image

    with Image.open(path) as picture:
        flat = picture.convert("RGB")
    found = sorted(flat.getcolors(flat.width * flat.height), reverse=True)[:256]
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for _, colour in found for value in colour])
    small = flat.quantize(palette=palette, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    assert path.stat().st_size < MOST_BYTES, f"{path.name} has {path.stat().st_size:,} bytes"
