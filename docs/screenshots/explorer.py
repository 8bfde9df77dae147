"""Pictures of the explorer's pages, at the width of a desk and of a phone, on the demo's store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path += [str(Path(__file__).parents[2] / "tests" / folder) for folder in ("", "serve")]
import browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

QUESTION = "Which room do I have to visit to touch the machine behind Immich?"
SIZES = {"desk": (1280, 900), "phone": (390, 844)}
# No picture of a page is worth more of a clone than this.
MOST_BYTES = 300_000


def photograph_explorer(place: Path, images: Path) -> None:
    """Serve the demo's store and take every page twice."""
    browser.fill(place / "store")
    with browser.served(place / "store") as address, browser.chromium() as chromium:
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
            for title, path in _pages(page, base).items():
                page.goto(base + path)
                _ready(page)
                target = images / f"explorer-{title}-{name}.png"
                # The history of a concept is below what was true on a date.
                page.screenshot(path=str(target), full_page=(title, name) == ("time", "desk"))
                _compress(target)
            context.close()


def _pages(page: Page, base: str) -> dict[str, str]:
    """The pages to take, each with something to be seen."""
    found = page.request.get(f"{base}/api/v1/concepts?search=Lukas%20Meier&limit=1").json()[0]["id"]
    return {
        "start": "/recall",
        "recall": f"/recall?q={QUESTION}",
        "context": f"/recall?q={QUESTION}&tab=context",
        "graph": "/graph",
        "time": f"/time?as_of=2024-08-20&concept={found}",
    }


def _ready(page: Page) -> None:
    """Wait until nothing is loaded and nothing moves any more."""
    _until(page, "document.querySelector('.page h1') && !document.querySelector('[aria-busy]')")
    _until(page, "!document.querySelector('.stage') || document.querySelector('.stage').canvas.settled()")


def _until(page: Page, expression: str) -> None:
    """Wait for an expression to hold; the page's own policy lets it evaluate nothing by itself."""
    for _ in range(2400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise TimeoutError(expression)


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
