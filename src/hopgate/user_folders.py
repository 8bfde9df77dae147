"""Where a user's data and caches lie; a user without a home must say so."""

from __future__ import annotations

from pathlib import Path

from hopgate.errors import HopgateError
from hopgate.options import environment


def user_folder(kind: str, remedy: str) -> Path:
    """Give hopgate's folder of a kind, "data" or "cache"; refused, with a remedy, where the user has no home.

    Examples
    --------
    >>> user_folder("cache", "set HOPGATE_CACHE").name
    'hopgate'
    """
    import platformdirs

    try:
        given = platformdirs.user_data_dir("hopgate") if kind == "data" else platformdirs.user_cache_dir("hopgate")
    except (RuntimeError, KeyError):
        given = "~"
    # Where nobody knows the home, "~" stays as it is, and would become a folder of that name.
    if given.startswith("~"):
        raise HopgateError(f"this user has no home folder for hopgate's {kind}: set HOME, or {remedy}")
    return Path(given)


def cache_folder() -> Path:
    """Where hopgate's caches lie: vectors, models, patterns.

    Examples
    --------
    >>> cache_folder().is_absolute()
    True
    """
    given = environment().cache
    return Path(given).absolute() if given else user_folder("cache", "set HOPGATE_CACHE to a folder")
