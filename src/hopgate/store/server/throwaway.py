"""Folders for stores that go with the process that made them; what a killed one left, the next command removes."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hopgate.store.server import process
from hopgate.store.server.lock_files import is_held

PREFIX = "hopgate-throwaway-"
# Held for as long as its maker lives; the kernel lets go of it however that ends.
HELD = ".held"
# A folder that has no lock yet is being made, unless it is older than this many seconds.
BEING_MADE = 600


@contextlib.contextmanager
def throwaway_folder() -> Iterator[Path]:
    """A folder for a store that goes at the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    held = os.open(folder / HELD, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        yield folder / "store"
    finally:
        _remove(folder)
        os.close(held)


def sweep() -> int:
    """Stop the servers and remove the folders that killed processes of this user left; give how many."""
    swept = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            about = folder.lstat()
            if about.st_uid != os.geteuid() or not folder.is_dir() or folder.is_symlink():
                continue
            if _abandoned(folder, about.st_mtime):
                _remove(folder)
                swept += 1
    return swept


def _abandoned(folder: Path, made: float) -> bool:
    try:
        return not is_held(folder / HELD)
    except FileNotFoundError:
        return time.time() - made > BEING_MADE


def _remove(folder: Path) -> None:
    if (folder / "store").is_dir():
        process.stop(folder / "store")
    shutil.rmtree(folder, ignore_errors=True)
