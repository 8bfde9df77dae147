"""Work spread over workers: one function over many batches, in this process or in processes beside it.

`map_batches` gives the same results in the same order whoever worked: engines differ in how quickly, and in nothing
else.
"""

import os
import pickle
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing.connection import Connection, Pipe
from typing import Any, Literal, TypeVar

from hopgate.errors import HopgateError
from hopgate.options import check, setting

# Workers that may die over one batch before the run ends.
TRIES = 3
Batch = TypeVar("Batch")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Engine:
    """Who does the work.

    Examples
    --------
    >>> Engine("processes", workers=2)
    Engine(name='processes', workers=2)
    >>> Engine("spark")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: engine is one of local, processes, not 'spark'
    """

    name: Literal["local", "processes"] = setting(
        "local", "who works: a thread of this process, or processes of this machine", called="engine"
    )
    workers: int | None = setting(None, "how many processes", low=1, high=10_000, shown="one a core")

    def __post_init__(self) -> None:
        check(self)
        if self.name == "local" and self.workers not in (None, 1):
            raise HopgateError("the engine local is one worker: add --engine processes")

    def size(self) -> int:
        """How many workers there are."""
        from hopgate.embed.bundled import cores

        return 1 if self.name == "local" else self.workers or cores()


def map_batches(
    engine: Engine,
    make: Callable[[], Callable[[Batch], Result]],
    batches: Iterable[Batch],
    *,
    ahead: int = 2,
    place: Callable[[Batch], str] = repr,
) -> Iterator[Result]:
    """Call a function for every batch and give the results in the order of the batches.

    Batches are read as they are worked on. A worker that dies is started again and its batch done again, so that the
    function must be one that may run twice. An error of the function ends the run and is raised as itself.

    Parameters
    ----------
    make : callable
        Called once a worker, and gives the function: what it needs, such as a model, is loaded there once. It is
        pickled for workers in other processes, and so are batches and results.
    ahead : int
        Batches for each worker that are begun or done before the first of them is taken.
    place : callable
        Names a batch that workers die over.

    Examples
    --------
    >>> list(map_batches(Engine(), with_shared(pow, 2), [1, 2, 3]))
    [2, 4, 8]
    """
    workers = [ThisProcess(make)] if engine.name == "local" else _processes(engine.size(), make)
    idle: queue.LifoQueue[ThisProcess | OtherProcess] = queue.LifoQueue()
    for worker in workers:
        idle.put(worker)

    def work(batch: Batch, name: str) -> Any:
        worker = idle.get()
        try:
            return worker.do(batch, name)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(len(workers), thread_name_prefix="hopgate-engine")
    waiting: deque[Future[Result]] = deque()
    try:
        for batch in batches:
            waiting.append(threads.submit(work, batch, place(batch)))
            if len(waiting) >= ahead * len(workers):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for answer in waiting:
            answer.cancel()
        for worker in workers:
            worker.end()
        threads.shutdown()


def with_shared(work: Callable[[Any, Batch], Result], shared: Any) -> Callable[[], Callable[[Batch], Result]]:
    """Give a `make` for a function whose first argument is the same for all batches: it is sent once a worker."""
    return partial(partial, work, shared)


def place_of(ids: Sequence[int]) -> str:
    """Name a batch of memories."""
    return f"one of the {len(ids)} memories from number {ids[0]} on"


class ThisProcess:
    """A worker in the thread that asks."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        self._make = make

    @cached_property
    def _work(self) -> Callable[[Any], Any]:
        return self._make()

    def do(self, batch: Any, _: str) -> Any:
        """Give the function's result."""
        return self._work(batch)

    def end(self) -> None:
        """There is nothing to let go."""


class OtherProcess:
    """A process of this machine, started when it is first asked and again after it died.

    It runs this module, which `multiprocessing` would not: that imports the user's program a second time, and a script
    without a guard would run all over again.
    """

    def __init__(self, make: bytes) -> None:
        self._make = make
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def do(self, batch: Any, name: str) -> Any:
        """Send a batch to the process and give its answer; where it dies, send it again."""
        for _ in range(TRIES):
            try:
                if self._ended:
                    raise HopgateError("this run has ended")
                if self._process is None:
                    self._start()
                self._pipe.send(batch)
                result, failure = self._pipe.recv()
            except (OSError, EOFError):
                self._stop()
                continue
            if failure is not None:
                raise failure
            return result
        raise HopgateError(
            f"{TRIES} workers died over {name}: look into their output, give them more memory or take smaller batches, "
            "and run this again"
        )

    def end(self) -> None:
        """Kill the process, whatever it is doing; none is started in its place."""
        self._ended = True
        self._stop()

    def _start(self) -> None:
        # With this process's path, so that it finds what this one found; a worker is one thread.
        path = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        self._pipe, theirs = Pipe()
        with theirs:
            serve = f"from hopgate.scale.engine import serve; serve({theirs.fileno()})"
            # Nothing is imported from the folder that this runs in (-P): anybody may have written it.
            command = [sys.executable, "-P", "-c", serve]
            # Nothing of what it prints may stand among this process's output.
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=2, env=environment)
        self._pipe.send(self._make)

    def _stop(self) -> None:
        if process := self._process:
            self._process = None
            process.kill()
            process.wait()
            self._pipe.close()


def _processes(count: int, make: Callable[[], Callable[[Any], Any]]) -> list[OtherProcess]:
    try:
        pickled = pickle.dumps(make)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise HopgateError(f"this work cannot be sent to other processes ({error}): use --engine local") from None
    return [OtherProcess(pickled) for _ in range(count)]


def serve(handle: int) -> None:
    """Work in an `OtherProcess`: the pickled `make` comes in, then batches; a result or an error goes out for each."""
    # An interruption is the starter's to deal with.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Connection(handle) as pipe, suppress(EOFError, BrokenPipeError):
        make, work = pipe.recv(), None
        while True:
            batch, result, failure = pipe.recv(), None, None
            try:
                work = work or _loaded(make)()
                result = work(batch)
            except Exception as error:
                failure = error
            try:
                pipe.send((result, failure))
            except (TypeError, AttributeError, pickle.PicklingError) as error:
                pipe.send((None, HopgateError(f"what a worker made cannot be sent back: {error}")))


def _loaded(make: bytes) -> Any:
    try:
        return pickle.loads(make)
    except (ImportError, AttributeError) as error:
        raise HopgateError(
            f"a worker does not have what it should run ({error}): put it into a module that can be imported, or use "
            "--engine local"
        ) from None
