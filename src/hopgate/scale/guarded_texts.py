"""Names and facts on their way to a worker, with what tells it, right before it sends them, whether it still may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopgate.sending import check_sending, current_guard
from hopgate.store.clearance import StoreGuard

if TYPE_CHECKING:
    from psycopg import Connection

    from hopgate.memory import Cleared


@dataclass(frozen=True)
class GuardedTexts:
    """Texts for a worker.

    Parameters
    ----------
    still : callable, optional
        As `StoreGuard` has it, for a store that the worker has opened itself; none where nobody guards them.
    """

    texts: tuple[Cleared, ...]
    still: Callable[[Connection[Any], bool], bool] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, first: int, last: int) -> GuardedTexts:
        """Some of them, guarded alike."""
        return replace(self, texts=self.texts[first:last])


def under_guard(texts: tuple[Cleared, ...]) -> GuardedTexts:
    """Take the guard of this block along: in another process nobody would know of it.

    Examples
    --------
    >>> from hopgate.memory import Cleared
    >>> under_guard((Cleared("Ada"),)).still is None
    True
    """
    guard = current_guard()
    # Any other guard is asked here, which is as near to the moment of sending as it can come.
    check_sending()
    return GuardedTexts(texts, guard.still if isinstance(guard, StoreGuard) else None)
