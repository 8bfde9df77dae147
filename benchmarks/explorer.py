"""How fluent the explorer is with 5,000 nodes: the time to the first painting, and frames a second while dragging.

The real server serves a synthetic store, and a headless Chromium draws it. By default it does as on a machine without a
graphics card: pages are put together by the processor and WebGL is drawn by SwiftShader, which is the worst case. The
pointer moves 60 times a second, as a mouse does, whether the page keeps up or not.

Printed beside the pictures a second are what the page's own thread was busy with each of them, what all of Chromium's
processes computed for it, and the machine's load: whoever draws by software shares the cores with everybody else.

    python benchmarks/explorer.py
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthetic_store import fill

import hopgate

if TYPE_CHECKING:
    from playwright.async_api import Page

NODES = 5000
MEMORIES = 10_000
SOFTWARE = ("--disable-gpu", "--enable-unsafe-swiftshader")
MOVES_A_SECOND = 60
PAINTED_S, FRAMES = 2.0, 30.0
FILLED = "filled-by-benchmark"

# Frames that the browser gave and pictures that were drawn, from now until it is asked.
COUNT = """() => {
  const { sigma } = document.querySelector('.stage').canvas;
  const seen = { frames: 0, drawn: 0, begun: performance.now(), last: performance.now(), waits: [], over: false };
  sigma.on('afterRender', () => {
    seen.drawn += 1;
    seen.waits.push(performance.now() - seen.last);
    seen.last = performance.now();
  });
  const tick = () => { seen.frames += 1; if (!seen.over) requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  window.seen = seen;
}"""
COUNTED = """() => {
  window.seen.over = true;
  const seconds = (performance.now() - window.seen.begun) / 1000;
  const waits = window.seen.waits.sort((a, b) => a - b);
  return { seconds, frames: window.seen.frames / seconds, drawn: window.seen.drawn / seconds,
           slowest_of_20_ms: waits[Math.floor(0.95 * waits.length)] ?? 0 };
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


async def dragged(page: Page, start: tuple[float, float], seconds: float) -> dict[str, float]:
    """Hold the button and move to and fro for a while; give pictures a second, and what each cost."""
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")

    async def busy() -> float:
        found = (await session.send("Performance.getMetrics"))["metrics"]
        return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))

    x, y = start
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 5, y + 5, steps=3)
    await page.evaluate(COUNT)
    moves: list[asyncio.Task[None]] = []
    worked, computed, begun = await busy(), _computed(), time.monotonic()
    while time.monotonic() < begun + seconds:
        step = len(moves)
        to = x + 80 * ((step % 40) / 20 - 1), y + 60 * ((step % 24) / 12 - 1)
        # Nobody waits for the page: it takes the last place when it comes to it.
        moves.append(asyncio.create_task(page.mouse.move(*to)))
        await asyncio.sleep(max(0.0, begun + len(moves) / MOVES_A_SECOND - time.monotonic()))
    worked, computed = await busy() - worked, _computed() - computed
    figures: dict[str, float] = await page.evaluate(COUNTED)
    await asyncio.gather(*moves)
    await page.mouse.up()
    await session.detach()
    pictures = max(1.0, figures["drawn"] * figures["seconds"])
    return {**figures, "page_ms": 1000 * worked / pictures, "computed_ms": 1000 * computed / pictures}


def _computed() -> float:
    """How many seconds the processes below this one have computed, the server and its database left out."""
    below: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            values = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if b"hopgate" in (entry / "cmdline").read_bytes().split(b"--data")[0]:
                continue
        except OSError:
            continue
        below.setdefault(int(values[1]), []).append(int(entry.name))
        seconds[int(entry.name)] = (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")
    found, waiting = 0.0, list(below.get(os.getpid(), ()))
    while waiting:
        process = waiting.pop()
        found += seconds.get(process, 0.0)
        waiting += below.get(process, [])
    return found


async def measured(address: str, browser: str, *, hardware: bool, runs: int, seconds: float) -> dict[str, Any]:
    """Open the page some times, and drag a node and the whole picture once."""
    from playwright.async_api import async_playwright

    base, token = address.split("/?", 1)
    async with async_playwright() as playwright:
        flags = ["--no-sandbox", *(() if hardware else SOFTWARE)]
        chromium = await playwright.chromium.launch(executable_path=browser, args=flags)
        page = await chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        await page.goto(f"{base}/?{token}")
        painted, answered = [], []
        for _ in range(runs):
            await page.goto(f"{base}/graph?concept=1&depth=4&limit={NODES}")
            await page.locator(".stage[data-drawn]").wait_for()
            painted.append(await page.evaluate("performance.getEntriesByName('hopgate:drawn')[0].startTime") / 1000)
            entry = "performance.getEntriesByType('resource').find((one) => one.name.includes('/graph/view')).duration"
            answered.append(await page.evaluate(entry) / 1000)
        stage = page.locator(".stage")
        nodes, edges = [int(await stage.get_attribute(f"data-{name}") or 0) for name in ("nodes", "edges")]
        x, y, corner_x, corner_y = await page.evaluate(HEAVIEST)
        node = await dragged(page, (x, y), seconds)
        await asyncio.sleep(1)
        whole = await dragged(page, (corner_x - 100, corner_y + 80), seconds)
        version = chromium.version
        await chromium.close()
    return {
        "browser": version,
        "gl": "hardware" if hardware else "software (SwiftShader)",
        "cpu": f"{os.cpu_count()} × {platform.machine()}",
        "nodes": nodes,
        "edges": edges,
        "first_paint_s": sorted(painted)[len(painted) // 2],
        "first_paint_best_s": min(painted),
        "of_that_the_server_s": sorted(answered)[len(answered) // 2],
        "drag_a_node": node,
        "drag_the_picture": whole,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hardware", action="store_true", help="draw with the machine's graphics card")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long is dragged")
    parser.add_argument("--store", type=Path, help="fill this folder, or use what is there from the last time")
    given = parser.parse_args()
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((path for name in names if (path := shutil.which(name))), None)
    if browser is None:
        sys.exit("no chromium is installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as made:
        folder = given.store or Path(made)
        if not (folder / FILLED).exists():
            with hopgate.open(folder) as kb:
                fill(kb, MEMORIES, dimension=8)
            (folder / FILLED).touch()
        load = os.getloadavg()[0]
        with served(folder) as address:
            found = asyncio.run(
                measured(address, browser, hardware=given.hardware, runs=given.runs, seconds=given.seconds)
            )
    found["load_before"] = round(load, 2)
    found["asked_for"] = {"first_paint_s": PAINTED_S, "drawn": FRAMES}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
