"""Where a store is: a server's address or a folder, told apart so that a mistyped one is refused and not guessed at."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hopgate.errors import HopgateError

# Where the store is when neither an argument nor an option says so: an address or a directory.
ENVIRONMENT = "HOPGATE_STORE"

_URI = re.compile(r"postgres(ql)?://")
_SCHEME = re.compile(r"([A-Za-z][\w+.-]*)://")
_FORM = "write postgresql://user@host:5432/database or 'host=… dbname=…'"


def check_address(dsn: str) -> str:
    """Pass a server's address on; what libpq would not take as one is refused. It may hold a password: none is shown.

    Examples
    --------
    >>> check_address("postgresql://me@host/notes")
    'postgresql://me@host/notes'
    >>> check_address("mysql://me@host/notes")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: mysql:// is not a PostgreSQL address: write postgresql://user@host:5432/database or ...
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    if (scheme := _SCHEME.match(dsn)) and not _URI.match(dsn):
        raise HopgateError(f"{scheme[0]} is not a PostgreSQL address: {_FORM}")
    try:
        known = bool(conninfo_to_dict(dsn)) or _URI.match(dsn)
    except (ProgrammingError, UnicodeEncodeError):
        known = None
    if not known:
        raise HopgateError(f"this is not a PostgreSQL address: {_FORM}; a folder is given with --data")
    return dsn


def check_folder(path: str) -> Path:
    """Pass a folder on; an empty name, and one that reads like an address and is not there, are refused."""
    if not path.strip():
        raise HopgateError("--data is empty: give the folder of a store, or leave --data out for the default one")
    if not Path(path).exists() and (
        _SCHEME.match(path)
        or "=" in path
        or path.startswith(("postgres:", "postgresql:", "postgres//", "postgresql//"))
    ):
        raise HopgateError("--data takes a folder, and this has the form of an address: give an address with --dsn")
    return Path(path)


def located(where: str | Path | None = None) -> str | Path:
    """Where a store is: a server's address as text, or a folder; by default what the environment says, or the user's.

    Parameters
    ----------
    where : str or Path, optional
        A Path is a folder, whatever it is called. A text is an address where it reads like one.
    """
    if where is None:
        where = os.environ.get(ENVIRONMENT) or None
    if where is None:
        from hopgate.store.server import default_directory

        return default_directory()
    if isinstance(where, Path):
        return where.expanduser().absolute()
    if not where.strip():
        raise HopgateError("the store's place is empty: give an address, a folder, or nothing for the default one")
    if _SCHEME.match(where) or where.startswith(("postgres:", "postgresql:", "postgres//", "postgresql//")):
        return check_address(where)
    if "=" in where and not Path(where).exists():
        return check_address(where)
    return Path(where).expanduser().absolute()


def shown(where: str | Path) -> str:
    """A store's place for a person to recognise, without its password.

    Examples
    --------
    >>> shown("postgresql://me:hush@db.example/notes")
    'the database notes on db.example'
    """
    if isinstance(where, Path):
        return f"the store in {where}"
    from psycopg.conninfo import conninfo_to_dict

    found = conninfo_to_dict(where)
    host = found.get("host") or found.get("hostaddr") or "this machine"
    return f"the database {found.get('dbname') or found.get('user') or 'of this user'} on {host}"
