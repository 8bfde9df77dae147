"""The lock files beside a cluster: who starts or stops its server, and who uses it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.private_files import private_file

# Starting takes up to 60 s and stopping too; who waits longer waits for somebody else.
LOCK_S = 90


@contextlib.contextmanager
def startup_lock(directory: Path) -> Iterator[None]:
    """Let one process at a time start or stop the server."""
    lock = open_private(directory / ".lock")
    try:
        take(lock, fcntl.LOCK_EX, directory / ".lock")
        yield
    finally:
        os.close(lock)


def open_private(path: Path) -> int:
    """Open a lock file that nobody else can open: whoever can, can hold its lock."""
    private_file(path)
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)


def is_held(path: Path) -> bool:
    """Whether another process holds a lock; asking holds it for a moment. A missing file is for the caller to catch."""
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def take(handle: int, operation: int, path: Path) -> None:
    """Take a lock, waiting no longer than another process may take to start or stop the server."""
    deadline = time.monotonic() + LOCK_S
    while True:
        try:
            fcntl.flock(handle, operation | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise HopgateError(
                    f"another process has held {path} for more than {LOCK_S} s: end it (fuser {path} names it), "
                    "or choose another place with --data DIR"
                ) from None
            time.sleep(0.02)
        else:
            return
