"""The one error a user can meet, and the kind of it that is a server's."""


class HopgateError(Exception):
    """One clear sentence that says what is wrong and what to do.

    The command line prints it without a traceback and exits with status 2.

    Examples
    --------
    >>> str(HopgateError("the store is empty: run hopgate ingest first"))
    'the store is empty: run hopgate ingest first'
    """


class ConflictError(HopgateError):
    """Two writers got in each other's way: nothing of it was written, and the same once more may well succeed."""


class LostServerError(HopgateError):
    """The database went away in the middle, or is not up yet: the same once more may succeed when it is back."""


class RefusedRowError(HopgateError):
    """A row or a value that the database does not take; what the server says of it would repeat its text.

    Parameters
    ----------
    kind : str
        The server's name for what is wrong with it.
    """

    def __init__(self, kind: str, constraint: str = "") -> None:
        super().__init__(f"the database does not take a row or a value ({constraint or kind}): nothing was written")
        self.kind = kind


class UnknownError(HopgateError):
    """An id that nothing has, or nothing that whoever asks may see."""


class UnknownMemoryError(UnknownError):
    """An id that no memory has, or none within the scopes that whoever asks is bound to."""

    def __init__(self, external_id: str) -> None:
        super().__init__(f"there is no memory {external_id[:80]!r}: hopgate list shows their ids")
        self.external_id = external_id


class TakenError(HopgateError):
    """An id that a memory has which whoever writes may not change: it is in a scope outside their bounds."""


class UnreachableError(HopgateError):
    """A server that nobody can connect to: every further request would end the same."""


class WithdrawnError(HopgateError):
    """A text that was on its way to a model may not be read any more: it turned sensitive, changed or was deleted."""
