"""Who does the long parts of a canonicalisation side by side, where that is not this process alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


class ParallelTasks(Protocol):
    """Calls a function of a module for many items; `hopgate.scale.tasks.Tasks` is one."""

    size: int

    def each(self, work: Callable[[Any, Item], Made], shared: Any, items: Sequence[Item]) -> list[Made]:
        """Call `work(shared, item)` for every item; results in order."""
        ...
