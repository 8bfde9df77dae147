"""What is begun again where two transactions got in each other's way or the server went away, and how often."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from hopgate.errors import ConflictError, LostServerError

T = TypeVar("T")

# Seconds before each further attempt, at most: the server itself waits a second before it looks for a deadlock.
PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0)
# Seconds for which a long run waits for a server that is being restarted: three quarters of a minute in all.
RETURN_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0)


def retried(work: Callable[[], T]) -> T:
    """Do something that is whole transactions; where it met a conflict, again.

    Parameters
    ----------
    work : callable
        Must be able to begin anew: whatever it had written was rolled back.

    Examples
    --------
    >>> left = [ConflictError("a deadlock"), None]
    >>> def once():
    ...     if error := left.pop(0):
    ...         raise error
    ...     return "written"
    >>> retried(once)
    'written'
    """
    for pause in PAUSES:
        try:
            return work()
        except ConflictError:
            # By chance, so that the same two do not meet again.
            time.sleep(pause * random.uniform(0.5, 1))
    return work()


def patiently(work: Callable[[], T]) -> T:
    """Do something that is whole transactions; where the server went away, again once it is back.

    For runs of hours, which nobody watches: others say at once what is wrong.

    Parameters
    ----------
    work : callable
        Must be able to begin anew, as `retried` asks.

    Examples
    --------
    >>> left = [LostServerError("it is being restarted"), None]
    >>> def once():
    ...     if error := left.pop(0):
    ...         raise error
    ...     return "written"
    >>> patiently(once)
    'written'
    """
    for pause in RETURN_PAUSES:
        try:
            return work()
        except (ConflictError, LostServerError):
            time.sleep(pause)
    return work()
