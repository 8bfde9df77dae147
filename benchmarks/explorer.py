"""How fluent the explorer is with 5,000 nodes: the time to the first painting, and frames a second while dragging.

The real server serves a synthetic store, and a headless Chromium draws it. Without a graphics card it draws by software
(SwiftShader), which is the worst case: the figures of a desktop are better.

    python benchmarks/explorer.py --json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthetic_store import fill

import hopgate

if TYPE_CHECKING:
    from playwright.sync_api import Page

NODES = 5000
MEMORIES = 10_000
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
PAINTED_S, FRAMES = 2.0, 30.0

# Frames that the browser gave and pictures that were drawn, from now until it is asked.
COUNT = """() => {
  const { sigma } = document.querySelector('.stage').canvas;
  const seen = { frames: 0, drawn: 0, begun: performance.now(), over: false };
  sigma.on('afterRender', () => { seen.drawn += 1; });
  const tick = () => { seen.frames += 1; if (!seen.over) requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  window.seen = seen;
}"""
COUNTED = """() => {
  window.seen.over = true;
  const seconds = (performance.now() - window.seen.begun) / 1000;
  return { seconds, frames: window.seen.frames / seconds, drawn: window.seen.drawn / seconds };
}"""
HEAVIEST = """() => {
  const { graph, sigma, settle } = document.querySelector('.stage').canvas;
  settle();
  const box = document.querySelector('.stage').getBoundingClientRect();
  const near = graph.nodes().map((node) => [node, sigma.graphToViewport(graph.getNodeAttributes(node))])
    .filter(([, at]) => at.x > 150 && at.x < box.width - 150 && at.y > 150 && at.y < box.height - 150)
    .sort((a, b) => graph.getNodeAttribute(b[0], 'size') - graph.getNodeAttribute(a[0], 'size'));
  return [box.x + near[0][1].x, box.y + near[0][1].y, box.x + box.width - 6, box.y + 6];
}"""


@contextmanager
def served(store: Path) -> Iterator[str]:
    """The real command, on a free port."""
    command = [sys.executable, "-m", "hopgate", "serve", "--data", str(store), "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "400"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            found = (re.search(r"https?://\S+token=\S+", line) for line in process.stdout)
            yield next(one.group() for one in found if one)
        finally:
            process.terminate()


def dragged(page: Page, start: tuple[float, float], seconds: float) -> dict[str, float]:
    """Hold the button and move to and fro for a while."""
    x, y = start
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(COUNT)
    begun, step = page.evaluate("performance.now()"), 0
    while page.evaluate("performance.now()") - begun < 1000 * seconds:
        step += 1
        page.mouse.move(x + 80 * ((step % 40) / 20 - 1), y + 60 * ((step % 24) / 12 - 1))
    figures: dict[str, float] = page.evaluate(COUNTED)
    page.mouse.up()
    return figures


def measured(address: str, browser: str, *, hardware: bool, runs: int, seconds: float) -> dict[str, Any]:
    """Open the page some times, and drag a node and the whole picture once."""
    from playwright.sync_api import sync_playwright

    base, token = address.split("/?", 1)
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", *(() if hardware else SOFTWARE)]
        chromium = playwright.chromium.launch(executable_path=browser, args=flags)
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(f"{base}/?{token}")
        painted, answered = [], []
        for _ in range(runs):
            page.goto(f"{base}/graph?concept=1&depth=4&limit={NODES}")
            page.locator(".stage[data-drawn]").wait_for()
            painted.append(page.evaluate("performance.getEntriesByName('hopgate:drawn')[0].startTime") / 1000)
            entry = "performance.getEntriesByType('resource').find((one) => one.name.includes('/graph/view')).duration"
            answered.append(page.evaluate(entry) / 1000)
        stage = page.locator(".stage")
        nodes, edges = (int(stage.get_attribute(f"data-{name}") or 0) for name in ("nodes", "edges"))
        x, y, corner_x, corner_y = page.evaluate(HEAVIEST)
        node = dragged(page, (x, y), seconds)
        whole = dragged(page, (corner_x - 100, corner_y + 80), seconds)
        version = chromium.version
        chromium.close()
    return {
        "browser": version,
        "gl": "hardware" if hardware else "software (SwiftShader)",
        "cpu": f"{os.cpu_count()} × {platform.machine()}",
        "nodes": nodes,
        "edges": edges,
        "first_paint_s": sorted(painted)[len(painted) // 2],
        "of_that_the_server_s": sorted(answered)[len(answered) // 2],
        "drag_a_node": node,
        "drag_the_picture": whole,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    parser.add_argument("--hardware", action="store_true", help="draw with the machine's graphics card")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long is dragged")
    given = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((path for name in names if (path := shutil.which(name))), None)
    if browser is None:
        sys.exit("no chromium is installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        with hopgate.open(folder) as kb:
            fill(kb, MEMORIES, dimension=8)
        with served(Path(folder)) as address:
            found = measured(address, browser, hardware=given.hardware, runs=given.runs, seconds=given.seconds)
    if given.json:
        print(json.dumps(found))
        return
    print(f"{found['nodes']:,} nodes, {found['edges']:,} edges, {found['gl']}, {found['cpu']}, {found['browser']}")
    server = found["of_that_the_server_s"]
    print(f"first paint {found['first_paint_s']:.2f} s (≤ {PAINTED_S} asked), of that the server {server:.2f} s")
    for name in ("drag_a_node", "drag_the_picture"):
        frames = found[name]
        print(f"{name.replace('_', ' ')}: {frames['drawn']:.0f} pictures a second (≥ {FRAMES:.0f} asked)")


if __name__ == "__main__":
    main()
