"""The same function over many items: one after the other here, or as tasks of a Ray cluster; results in order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from hopgate.errors import HopgateError
from hopgate.scale.engine import Engine

Item = TypeVar("Item")
Made = TypeVar("Made")

# How often a task is done again whose worker died.
RETRIES = 3


class Tasks:
    """Does work item by item; what it gives does not depend on who did it.

    Parameters
    ----------
    ray : module, optional
        Connected to a cluster; without it everything is done here.
    size : int
        How many tasks run side by side.
    cores : float
        What each asks of a cluster: 0 where others hold the cores and are idle meanwhile.

    Examples
    --------
    >>> Tasks().each(pow, 2, [1, 2, 3])
    [2, 4, 8]
    """

    def __init__(self, ray: Any = None, size: int = 1, cores: float = 1) -> None:
        self._ray = ray
        self._cores = cores
        self.size = size

    def each(self, work: Callable[[Any, Item], Made], shared: Any, items: Sequence[Item]) -> list[Made]:
        """Call `work(shared, item)` for every item; `shared` is sent once, and `work` is a function of a module."""
        if self._ray is None or len(items) < 2:
            return [work(shared, item) for item in items]
        task = self._ray.remote(_called).options(num_cpus=self._cores, max_retries=RETRIES)
        sent = self._ray.put(shared)
        made: dict[int, Made] = {}
        asked: dict[Any, int] = {}
        try:
            for number, item in enumerate(items):
                if len(asked) >= self.size:
                    self._take(asked, made)
                asked[task.remote(work, sent, item)] = number
            while asked:
                self._take(asked, made)
        except self._ray.exceptions.RayTaskError as error:
            for one in asked:
                self._ray.cancel(one)
            # What the task itself raised, and not Ray's wrapping of it.
            if isinstance(error.cause, HopgateError):
                raise error.cause from None
            raise
        return [made[number] for number in range(len(items))]

    def _take(self, asked: dict[Any, int], made: dict[int, Any]) -> None:
        """Wait for one answer."""
        [ready], _ = self._ray.wait(list(asked), num_returns=1)
        made[asked.pop(ready)] = self._ray.get(ready)

    def parts(self, items: Sequence[Item]) -> list[Sequence[Item]]:
        """Cut items into as many runs as there are workers.

        Examples
        --------
        >>> Tasks(size=2).parts([1, 2, 3])
        [[1, 2], [3]]
        """
        size = max(1, -(-len(items) // self.size))
        return [items[start : start + size] for start in range(0, len(items), size)]


def _called(work: Callable[[Any, Item], Made], shared: Any, item: Item) -> Made:
    return work(shared, item)


@contextlib.contextmanager
def tasks(engine: Engine) -> Iterator[Tasks]:
    """Give who does tasks: this process, or the engine's cluster for as long as the block runs."""
    if engine.name == "local":
        yield Tasks()
        return
    from hopgate.scale.ray_session import cluster_workers, ray_session

    with ray_session(engine) as ray:
        yield Tasks(ray, cluster_workers(ray, engine))
