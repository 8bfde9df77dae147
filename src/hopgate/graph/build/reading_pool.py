"""Several processes that read ranges of memories side by side, or none: then the same work is done in this one."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

from hopgate.graph.build import reading_process
from hopgate.graph.build.range_reading import RangeReader, Surveys
from hopgate.store.memory_ranges import IdRange

if TYPE_CHECKING:
    from hopgate.extract.extractor import Extractor
    from hopgate.store.store import Store

Task = Literal["surveyed", "extracted"]


class ReadingPool:
    """Reads ranges in processes; one that cannot be started, or dies, leaves its work to this process.

    Parameters
    ----------
    processes : int
        How many; 0 reads in this process.
    """

    def __init__(self, store: Store, extractor: Extractor, processes: int) -> None:
        self._store = store
        self._own = RangeReader(extractor)
        self._ended = False
        self._idle: queue.SimpleQueue[_Child | None] = queue.SimpleQueue()
        self._children: list[_Child] = []
        for _ in range(processes):
            with contextlib.suppress(OSError, pickle.PicklingError, AttributeError, TypeError):
                self._children.append(_Child(store.dsn, extractor))
        for child in self._children:
            self._idle.put(child)
        self._threads = ThreadPoolExecutor(max(1, len(self._children)), thread_name_prefix="hopgate-reading")

    def tell(self, surveys: Surveys) -> None:
        """Let every process know what all memories show."""
        self._own.surveys = surveys
        for child in self._children:
            with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
                child.ask("surveys", surveys)

    def each(self, task: Task, ranges: Sequence[IdRange]) -> Iterator[Any]:
        """Do a task for every range; results come in the order of the ranges, as soon as they are there."""
        if not self._children:
            for ids in ranges:
                yield self._here(task, ids)
            return
        waiting: deque[Future[Any]] = deque()
        for ids in ranges:
            waiting.append(self._threads.submit(self._ask, task, ids))
            # So many results at most lie ready while one is written.
            if len(waiting) > 3 * len(self._children):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _ask(self, task: Task, ids: IdRange) -> Any:
        child = self._idle.get()
        try:
            answer = child.ask(task, ids) if child else self._here(task, ids)
        except (OSError, EOFError, pickle.UnpicklingError):
            if self._ended:
                raise
            # It was killed, or ran out of memory: nothing of its work is lost but time.
            child = None
            answer = self._here(task, ids)
        finally:
            self._idle.put(child)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _here(self, task: Task, ids: IdRange) -> Any:
        with self._store.transaction() as connection:
            return getattr(self._own, task)(connection, ids)

    def __enter__(self) -> ReadingPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.end()


class _Child:
    """One process."""

    def __init__(self, dsn: str, extractor: Extractor) -> None:
        first = pickle.dumps((dsn, extractor))
        # With this process's path, so that it finds what this one found.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", reading_process.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._in.write(first)
        self._in.flush()

    def ask(self, task: str, argument: object) -> Any:
        """Send a request and wait for its answer."""
        pickle.dump((task, argument), self._in, pickle.HIGHEST_PROTOCOL)
        self._in.flush()
        return pickle.load(self._out)

    def end(self) -> None:
        """Let it end; what it was doing is not waited for."""
        self._process.kill()
        self._process.wait()
        for stream in (self._in, self._out):
            with contextlib.suppress(OSError):
                stream.close()
