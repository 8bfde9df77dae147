"""The engine `local`: one worker in this process, which works on the next item while an answer is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopgate.scale.engine import WorkerTask
    from hopgate.scale.worker import BackfillWorker


class LocalPool:
    """A pool of one."""

    size = 1

    def __init__(self, worker: BackfillWorker) -> None:
        self._worker = worker

    def each(self, task: WorkerTask, items: Iterable[Any]) -> Iterator[Any]:
        """Do a task for every item, one ahead of who takes the answers."""
        with ThreadPoolExecutor(1, thread_name_prefix="hopgate-worker") as beside:
            ahead = None
            for item in items:
                following = beside.submit(self._worker.work, task, item)
                if ahead is not None:
                    yield ahead.result()
                ahead = following
            if ahead is not None:
                yield ahead.result()
