"""The one error a user can meet."""

from __future__ import annotations


class HopgateError(Exception):
    """One clear sentence that says what is wrong and what to do.

    The command line prints it without a traceback and exits with status 2.

    Examples
    --------
    >>> str(HopgateError("the store is empty: run hopgate ingest first"))
    'the store is empty: run hopgate ingest first'
    """
