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
from collections.abc import Iterator
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.files import private_file
from hopgate.options import environment

# Of a command; a program that opens a store stops the server when it closes it, unless the environment says otherwise.
COMMAND_S = 300
LOCK = ".linger"
# How often the watcher looks, at most: a removed directory is noticed after so long.
LOOK_S = 5.0
# How often, and how long apart, a watcher tries to be the one.
ATTEMPTS, PAUSE_S = 20, 0.05
# Starting takes up to 60 s and stopping too; who waits longer waits for somebody else.
LOCK_S = 90


def seconds(default: float = 0.0) -> float:
    """How long a server outlives its last user, by the environment or else by default; 0 stops it at once."""
    given = environment().linger
    return default if given is None else given


def watched(directory: Path) -> bool:
    """Whether a watcher is at work."""
    return (directory / LOCK).exists() and is_held(directory / LOCK)


def watch_over(directory: Path, linger: float) -> None:
    """Start a watcher unless there is one; it belongs to no terminal and keeps no file of this process open."""
    if watched(directory):
        return
    # Not by `subprocess`: its object would wait for the process's end, which comes after this one's.
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "hopgate.store.lingering", str(directory), str(linger)],
        {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        file_actions=[(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)],
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
            if left <= 0 and _ended(directory, linger, lock):
                return
            time.sleep(min(left, LOOK_S) if left > 0 else LOOK_S)


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
    from hopgate.store import server

    with startup_lock(directory):
        if (directory / ".users").stat().st_mtime + linger > time.time():
            return False
        if not (directory / ".keep").exists() and not server.stop(directory):
            return False
        os.close(lock)
        return True


# ---- Locks and processes ---------------------------------------------------------------------------------------------


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
    """Whether another process holds a lock; asking holds it for a moment."""
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
    while time.monotonic() <= deadline:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, operation | fcntl.LOCK_NB)
            return
        time.sleep(0.02)
    raise HopgateError(
        f"another process has held {path} for more than {LOCK_S} s: end it (fuser {path} names it), "
        "or choose another place with --data DIR"
    )


def pid_of(cluster: Path) -> int:
    """The process that the cluster's pid file names; 0 where it names none. One that runs alone writes a minus."""
    try:
        return max(0, int((cluster / "postmaster.pid").read_text().split("\n", 1)[0]))
    except (OSError, ValueError):
        return 0


def is_server(pid: int, cluster: Path) -> bool:
    """Whether a process is the server of this cluster, and not another one that has its number now."""
    if pid == 0:
        return False
    import psutil

    try:
        process = psutil.Process(pid)
        if not process.name().startswith("postgres") or process.status() == psutil.STATUS_ZOMBIE:
            return False
        # The server works in its cluster's folder.
        return Path(process.cwd()).resolve() == cluster.resolve()
    except psutil.AccessDenied:
        return True
    except (psutil.Error, OSError):
        return False


def alive(pid: int) -> bool:
    """Whether a process is there: asked before every transaction, and so without reading more than needed."""
    if pid == 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        # Who died and was not collected yet has a number still.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return True


if __name__ == "__main__":
    os.chdir("/")
    watch(Path(sys.argv[1]), float(sys.argv[2]))
