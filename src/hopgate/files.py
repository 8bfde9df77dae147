"""Where a user's data and caches lie; files and folders that only their owner can read, whatever the umask says."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.options import environment


def user_folder(kind: str, remedy: str) -> Path:
    """Give hopgate's folder of a kind: "data", "state" or "cache"; a user without a home is refused, with a remedy."""
    import platformdirs

    try:
        given = str(getattr(platformdirs, f"user_{kind}_dir")("hopgate"))
    except (RuntimeError, KeyError):
        given = "~"
    # Where nobody knows the home, "~" stays as it is, and would become a folder of that name.
    if given.startswith("~"):
        raise HopgateError(f"this user has no home folder for hopgate's {kind}: set HOME, or {remedy}")
    return Path(given)


def cache_folder() -> Path:
    """Where hopgate's caches lie: vectors, models, patterns."""
    given = environment().cache
    return Path(given).absolute() if given else user_folder("cache", "set HOPGATE_CACHE to a folder")


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter; one that is there already is left as it is."""
    for missing in reversed([folder for folder in (path, *path.parents) if not folder.exists()]):
        # `parents=True` would give those above the default mode.
        missing.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Make an empty file that only its owner can read; an own one that others could read is closed to them."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        # By its name: to open and close a file that SQLite has open in this process would drop SQLite's locks on it.
        found = path.stat()
        if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
            path.chmod(0o600)


def private_opener(path: str, flags: int) -> int:
    """Open a file for `open(…, opener=…)`: a new one is its owner's alone, and one that is there stays as it is."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give the place of a draft that becomes a new file, readable by its owner alone, once the block has ended well.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> with new_file(path) as draft:
    ...     _ = draft.write_text("all of it")
    >>> path.read_text(), oct(path.stat().st_mode & 0o777)
    ('all of it', '0o600')
    """
    if path.exists():
        raise HopgateError(f"{path} exists already: remove it or choose another name")
    try:
        # Never a file that was there already: whoever else may write to this folder could have made it, and read along.
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:64]}.", suffix=".part", dir=path.parent)
        os.close(handle)
        try:
            yield Path(name)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise HopgateError(f"{path} cannot be written: {error.strerror or error}") from None
