"""Which process a cluster's server is: never by a number alone, which may be another process's by now."""

from __future__ import annotations

import os
from pathlib import Path


def drop_stale_pid(cluster: Path) -> None:
    """Remove a pid file whose process is not this server, which PostgreSQL itself cannot always tell after a crash."""
    if not is_server(pid_of(cluster), cluster):
        (cluster / "postmaster.pid").unlink(missing_ok=True)


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
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return True
    try:
        # Who died and was not collected yet has a number still.
        return os.read(handle, 512).rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return True
    finally:
        os.close(handle)
