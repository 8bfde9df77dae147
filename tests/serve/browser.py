"""A real `hopgate serve` process on the demo's store, and a real browser in front of it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from patience import PATIENCE

import hopgate
from hopgate.demo import corpus

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
# As on a machine without a graphics card: pages are put together by the processor, and WebGL is drawn by SwiftShader.
# (To let SwiftShader put pages together, too, takes ten times as long.)
FLAGS = ("--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader")


def found() -> str | None:
    """Where Chromium is, or nothing."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def fill(store: Path) -> None:
    """Make the demo's store."""
    made = corpus()
    with hopgate.open(store, linger=0) as kb:
        # As the demo itself does: one person's memory.
        kb.store_settings.set({"scopes": "shared"})
        kb.add(*made.memories)
        kb.embed()
        kb.build(single_valued=made.single_valued)


@contextlib.contextmanager
def served(store: Path, *options: str) -> Iterator[str]:
    """Start `hopgate serve` on a free port; give the address with its token, and end it."""
    command = [sys.executable, "-m", "hopgate", "serve", "--data", str(store), "--port", "0", *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "HOPGATE_LINGER": "0", "COLUMNS": "400"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            said = ""
            for line in process.stdout:
                said += line
                if address := re.search(r"https?://\S+token=\S+", line):
                    yield address.group()
                    break
            else:
                raise AssertionError(f"hopgate serve said no address: {said}")
        finally:
            process.terminate()
            process.wait(PATIENCE)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found(), args=list(FLAGS))
        yield browser
        browser.close()
