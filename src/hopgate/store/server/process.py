"""The embedded server: one for each data directory, shared by every process that opens it.

Two lock files do all the bookkeeping, and the kernel releases them when a process dies, so a crash leaves nothing to
clean up. Each process holds `.users` shared for as long as it has the store open. Whoever finds, on closing, that
nobody else holds it stops the server, or leaves that to a watcher (`lingering`) that does it some minutes later.
Starting and closing happen one at a time, under `.lock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shlex
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.store.server import binaries, lingering

DATABASE_USER = "hopgate"
# sun_path holds 108 bytes on Linux and 104 on macOS, with the socket's own name and a zero byte in it.
SOCKET_PATH_LIMIT = 100
SOCKET_NAME = ".s.PGSQL.5432"
SERVER_LOG = "server.log"
# How long the children of a killed server may take to notice; they poll every few seconds at worst.
ORPHANS_GONE_S = 15

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
    import platformdirs

    return Path(platformdirs.user_data_dir("hopgate"))


class EmbeddedServer:
    """A running server on `directory`, held until `close`; the last holder on the machine stops it.

    Parameters
    ----------
    linger : float, optional
        Seconds that the server outlives this holder, if it is the last; by default what `HOPGATE_LINGER` says, or none.
    """

    def __init__(self, directory: Path, linger: float | None = None) -> None:
        linger = lingering.seconds() if linger is None else linger
        self.directory = directory.expanduser().absolute()
        prepare(self.directory)
        self._users = os.open(self.directory / ".users", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._users, fcntl.LOCK_SH)
        try:
            if not running(self.directory):
                with startup_lock(self.directory):
                    if not running(self.directory):
                        _initialise(self.directory)
                        _start(self.directory)
                    if linger:
                        # From now on, so that a process that is killed leaves no server for good.
                        lingering.used(self._users)
                        lingering.watch_over(self.directory, linger)
        except BaseException:
            os.close(self._users)
            raise
        self._finalizer = weakref.finalize(self, _release, self.directory, self._users, linger)

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
    if not (socket_directory(directory) / SOCKET_NAME).exists():
        return False
    import psycopg

    try:
        psycopg.connect(_dsn(directory), connect_timeout=10).close()
    except psycopg.OperationalError:
        return False
    return True


def _dsn(directory: Path) -> str:
    return f"host='{socket_directory(directory)}' user={DATABASE_USER} dbname=postgres"


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
            directory.mkdir(parents=True, exist_ok=True)
            # Private to the user; as root the server's own user must pass through, and may not read.
            directory.chmod(0o711 if os.geteuid() == 0 else 0o700)
        if os.geteuid() == 0:
            binaries.make_parents_searchable(directory / "pg")
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise HopgateError(
            f"the data directory {directory} cannot be written ({error.strerror}): "
            "choose another with --data DIR, or make it writable"
        ) from None


@contextlib.contextmanager
def startup_lock(directory: Path) -> Iterator[None]:
    """Let one process at a time start or stop the server."""
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _initialise(directory: Path) -> None:
    """Run initdb beside the final place and move it there, so that an interrupted one is never taken for a store."""
    cluster = directory / "pg"
    if (cluster / "PG_VERSION").exists():
        return
    who = binaries.account()
    fresh = directory / "pg.new"
    shutil.rmtree(fresh, ignore_errors=True)
    if who.uid is not None:
        binaries.make_parents_searchable(binaries.binaries() / "postgres")
    fresh.mkdir(mode=0o700)
    if who.uid is not None and who.gid is not None:
        os.chown(fresh, who.uid, who.gid)
    # pg_ctl and initdb hand their paths to a shell in double quotes: "." is safe there whatever the folder is called.
    arguments = ["-D", ".", "-U", DATABASE_USER, "--auth=trust", "--encoding=UTF8"]
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
    options = {**SETTINGS, "unix_socket_directories": str(sockets)}
    quoted = " ".join(f"-c {name}={shlex.quote(value)}" for name, value in options.items())
    arguments = ("-D", ".", "-l", SERVER_LOG, "-w", "-t", "60", "-o", quoted, "start")
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
    owner = os.geteuid() if who.uid is None else who.uid
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        if who.uid is not None and who.gid is not None:
            os.chown(folder, who.uid, who.gid)
    status = folder.lstat()
    if status.st_uid != owner or status.st_mode & 0o077 or folder.is_symlink():
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


def _release(directory: Path, users: int, linger: float) -> None:
    """Give up the hold on the server, and stop it when it was the last one, or see to it that it is stopped later."""
    try:
        with startup_lock(directory):
            if linger:
                lingering.used(users)
            os.close(users)
            if (directory / ".keep").exists():
                return
            if linger:
                lingering.watch_over(directory, linger)
            else:
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
            binaries.run("pg_ctl", "-D", ".", "-m", "fast", "-w", "-t", "60", "stop", cwd=cluster)
        return True
    finally:
        os.close(users)
