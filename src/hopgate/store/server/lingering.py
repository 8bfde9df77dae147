"""A server that stays up for a while after its last user, so that the next command need not wait for it to start.

A small process watches over it. It holds the lock file `.linger`, so that there is one of them at most, and looks when
the server was last used: everybody who opens or closes the store sets the time of `.users`. When nobody has held that
file for long enough it stops the server and ends. It holds nothing that others wait for: killed, it leaves a server
that the next user's watcher stops. Whoever removes the data directory is rid of both: PostgreSQL ends when its
directory is gone, and so does the watcher.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.store.server.lock_files import is_held, startup_lock

ENVIRONMENT = "HOPGATE_LINGER"
# Of a command; a program that opens a store stops the server when it closes it, unless the environment says otherwise.
COMMAND_S = 300
LOCK = ".linger"
# How often the watcher looks, at most: a removed directory is noticed after so long.
LOOK_S = 5.0
# How often, and how long apart, a watcher tries to be the one.
ATTEMPTS, PAUSE_S = 20, 0.05


def seconds(default: float = 0.0) -> float:
    """How long a server outlives its last user, by the environment or else by default; 0 stops it at once."""
    given = os.environ.get(ENVIRONMENT, "").strip()
    try:
        found = float(given or default)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise HopgateError(f"{ENVIRONMENT} is {given!r}: give seconds, 0 to stop the server with its last user")
    return found


def used(users: int) -> None:
    """Note on the open file `.users` that the server is in use now."""
    os.utime(users)


def watched(directory: Path) -> bool:
    """Whether a watcher is at work."""
    try:
        return is_held(directory / LOCK)
    except FileNotFoundError:
        return False


def watch_over(directory: Path, linger: float) -> None:
    """Start a watcher unless there is one; it belongs to no terminal and keeps no file of this process open."""
    if watched(directory):
        return
    # Not by `subprocess`: its object would wait for the process's end, which comes after this one's.
    nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "hopgate.store.server.lingering", str(directory), str(linger)],
        {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        file_actions=nothing,
        setsid=True,
    )


def watch(directory: Path, linger: float) -> None:
    """Wait until nobody has used the server for so many seconds, and stop it."""
    with contextlib.suppress(FileNotFoundError):
        lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        if not _taken(lock):
            os.close(lock)
            return
        while (directory / LOCK).stat().st_ino == os.fstat(lock).st_ino:
            left = (directory / ".users").stat().st_mtime + linger - time.time()
            if left > 0:
                time.sleep(min(left, LOOK_S))
            elif _ended(directory, linger, lock):
                return
            else:
                time.sleep(LOOK_S)


def _taken(lock: int) -> bool:
    """Take the watcher's lock; whoever merely asks whether there is a watcher holds it for a moment, too."""
    for _ in range(ATTEMPTS):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(PAUSE_S)
    return False


def _ended(directory: Path, linger: float, lock: int) -> bool:
    """Stop the server if nobody holds it; in the same breath give up watching, so that the next user starts another."""
    from hopgate.store.server import process

    with startup_lock(directory):
        if (directory / ".users").stat().st_mtime + linger > time.time():
            return False
        if not (directory / ".keep").exists() and not process.stop(directory):
            return False
        os.close(lock)
        return True


if __name__ == "__main__":
    os.chdir("/")
    watch(Path(sys.argv[1]), float(sys.argv[2]))
