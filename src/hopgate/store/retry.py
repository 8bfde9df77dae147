"""What is begun again where two transactions got in each other's way, and how often."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from hopgate.errors import ConflictError

T = TypeVar("T")

# Seconds before each further attempt, at most: the server itself waits a second before it looks for a deadlock.
PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0)


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
