"""Files and folders that only their owner can read: made so from the first byte, whatever the umask says."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter; one that is there already is left as it is.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "below" / "it"
    >>> private_folder(folder)
    >>> oct(folder.stat().st_mode & 0o777)
    '0o700'
    """
    for missing in reversed([folder for folder in (path, *path.parents) if not folder.exists()]):
        # `parents=True` would give those above the default mode.
        missing.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path) -> None:
    """Make an empty file that only its owner can read; an own one that others could read is closed to them.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> path.touch(0o644)
    >>> private_file(path)
    >>> oct(path.stat().st_mode & 0o777)
    '0o600'
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        # By its name: to open and close a file that SQLite has open in this process would drop SQLite's locks on it.
        found = path.stat()
        if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
            path.chmod(0o600)


def private_opener(path: str, flags: int) -> int:
    """Open a file for `open(…, opener=…)`: a new one is readable by its owner alone, one that is there stays as it is.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> with open(path, "w", opener=private_opener) as file:
    ...     oct(path.stat().st_mode & 0o777)
    '0o600'
    """
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
