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
import stat
import tempfile
import time
import weakref
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.private_files import private_folder
from hopgate.store.server import binaries, lingering
from hopgate.store.server.environment import DATABASE_USER, EmbeddedConnection
from hopgate.store.server.failures import SERVER_LOG, failure
from hopgate.store.server.lock_files import open_private, startup_lock, take
from hopgate.store.server.pid_file import alive, drop_stale_pid, is_server, pid_of
from hopgate.user_folders import user_folder

# sun_path holds 108 bytes on Linux and 104 on macOS, with the socket's own name and a zero byte in it.
SOCKET_PATH_LIMIT = 100
SOCKET_NAME = ".s.PGSQL.5432"
# How long the children of a killed server may take to notice; they poll every few seconds at worst.
ORPHANS_GONE_S = 15

# An index is built by workers in shared memory, up to a gigabyte and more; Docker gives 64 MB.
SHARED_MEMORY = Path("/dev/shm")
LEAST_SHARED = 1 << 30

# What a server says that has no connection left.
FULL = ("too many clients already", "remaining connection slots are reserved")

SETTINGS = {
    "listen_addresses": "",  # no TCP port
    "unix_socket_permissions": "0700",
    "jit": "off",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    # A statement whose asker was killed ends soon, too, and not when it is done.
    "client_connection_check_interval": "5s",
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
    """A running server on `directory`, held until `close`; the last holder on the machine stops it.

    Parameters
    ----------
    linger : float, optional
        Seconds that the server outlives this holder, if it is the last; by default what `HOPGATE_LINGER` says, or none.
    """

    def __init__(self, directory: Path, linger: float | None = None) -> None:
        self._linger = lingering.seconds() if linger is None else linger
        self.directory = directory.expanduser().absolute()
        prepare(self.directory)
        self._users = open_private(self.directory / ".users")
        try:
            take(self._users, fcntl.LOCK_SH, self.directory / ".users")
            self._pid = self._started()
        except BaseException:
            os.close(self._users)
            raise
        self._finalizer = weakref.finalize(self, _release, self.directory, self._users, self._linger)

    @property
    def dsn(self) -> str:
        """How libpq reaches the server."""
        return _dsn(self.directory)

    def revive(self) -> bool:
        """Start the server again where it died under its users; say whether it had."""
        if alive(self._pid):
            return False
        self._pid = self._started()
        return True

    def _started(self) -> int:
        """Make sure that the server runs; give its process."""
        if not running(self.directory):
            with startup_lock(self.directory):
                if not running(self.directory):
                    _initialise(self.directory)
                    _start(self.directory)
                if self._linger:
                    # From now on, so that a process that is killed leaves no server for good.
                    lingering.used(self._users)
                    lingering.watch_over(self.directory, self._linger)
        return pid_of(self.directory / "pg")

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
        EmbeddedConnection.connect(_dsn(directory), connect_timeout=10).close()
    except psycopg.OperationalError as error:
        # One that turns somebody away because it is full is there.
        return any(sign in str(error) for sign in FULL)
    return True


def _dsn(directory: Path) -> str:
    return f"host='{socket_directory(directory)}'{_peer()} user={DATABASE_USER} dbname=postgres"


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


def _initialise(directory: Path) -> None:
    """Run initdb beside the final place and move it there, so that an interrupted one is never taken for a store."""
    cluster = directory / "pg"
    if (cluster / "PG_VERSION").exists() and (cluster / "global" / "pg_control").exists():
        return
    if cluster.exists() and any(cluster.iterdir()):
        raise HopgateError(
            f"{cluster} is not a whole PostgreSQL cluster: move it away, or choose another place with --data DIR"
        )
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
        raise failure(directory, done.stderr)
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
    options = {**SETTINGS, **_shared_memory(), "unix_socket_directories": "." if sockets == cluster else str(sockets)}
    quoted = " ".join(f"-c {name}={shlex.quote(value)}" for name, value in options.items())
    arguments = ("-D", binaries.HERE, "-l", SERVER_LOG, "-w", "-t", "60", "-o", quoted, "start")
    deadline = time.monotonic() + ORPHANS_GONE_S
    while True:
        drop_stale_pid(cluster)
        before = log.stat().st_size if log.exists() else 0
        done = binaries.run("pg_ctl", *arguments, cwd=cluster)
        if done.returncode == 0:
            return
        output = log.read_bytes()[before:].decode(errors="replace") if log.exists() else ""
        # After a crash of the server alone, it and its children take a while to go.
        shutting_down = "pre-existing shared memory block" in output or "lock file" in output
        if not shutting_down or time.monotonic() > deadline:
            raise failure(directory, output or done.stderr)
        time.sleep(0.2)


def _shared_memory() -> dict[str, str]:
    """Let the server's workers share memory by files where the system has little to share, as a container has."""
    try:
        room = os.statvfs(SHARED_MEMORY)
    except OSError:
        return {}
    enough = room.f_blocks * room.f_frsize >= LEAST_SHARED
    return {} if enough else {"dynamic_shared_memory_type": "mmap"}


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
        cluster = directory / "pg"
        # Never by a number alone: it may be another process's by now.
        if is_server(pid_of(cluster), cluster):
            binaries.run("pg_ctl", "-D", binaries.HERE, "-m", "fast", "-w", "-t", "60", "stop", cwd=cluster)
        return True
    finally:
        os.close(users)
