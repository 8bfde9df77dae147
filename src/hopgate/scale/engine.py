"""Work spread over workers: one function over many batches, in this process, in processes beside it or on Ray.

`map_batches` gives the same results in the same order whoever worked: engines differ in how quickly, and in nothing
else.
"""

from __future__ import annotations

import logging
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
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any, Literal, TypeVar

from hopgate.errors import HopgateError
from hopgate.options import check, setting
from hopgate.redact import password_parts, redacted

# Workers that may die over one batch before the run ends.
TRIES = 3
# Seconds that workers of a cluster may take to start: on a busy machine a minute.
START_S = 300
Batch = TypeVar("Batch")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Engine:
    """Who does the work.

    Examples
    --------
    >>> Engine("ray", workers=2)
    Engine(name='ray', address=None, workers=2, gpus_per_worker=0.0)
    >>> Engine("spark")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: engine is one of local, processes, ray, not 'spark'
    """

    name: Literal["local", "processes", "ray"] = setting(
        "local",
        "who works: a thread of this process, processes of this machine, or workers of a Ray cluster",
        called="engine",
    )
    address: str | None = setting(None, "the Ray cluster, such as ray://head:10001", shown="the one of this machine")
    workers: int | None = setting(None, "how many processes or workers", low=1, high=10_000, shown="one a core")
    gpus_per_worker: float = setting(0.0, "what of a GPU each worker of a cluster holds", low=0)

    def __post_init__(self) -> None:
        check(self)
        if self.name != "ray" and (self.address or self.gpus_per_worker):
            raise HopgateError("--address and --gpus-per-worker are for a cluster: add --engine ray")
        if self.name == "local" and self.workers not in (None, 1):
            raise HopgateError("the engine local is one worker: add --engine processes, or --engine ray")

    def size(self) -> int:
        """How many workers there are: of a cluster as many as asked for, and no more than it has cores and GPUs for."""
        from hopgate.embed.bundled import cores

        if self.name != "ray":
            return 1 if self.name == "local" else self.workers or cores()
        resources = _ray(self).cluster_resources()
        most = int(resources.get("CPU", 1))
        if self.gpus_per_worker:
            most = min(most, int(resources.get("GPU", 0) / self.gpus_per_worker))
            if most < 1:
                raise HopgateError(f"this cluster has no {self.gpus_per_worker} GPU for a worker: ask for less")
        return max(1, min(self.workers or most, most))

    def spans_machines(self) -> bool:
        """Whether the workers are on more than one machine."""
        nodes = _ray(self).nodes() if self.name == "ray" else []
        return len({node["NodeManagerAddress"] for node in nodes if node["Alive"]}) > 1


def map_batches(
    engine: Engine,
    make: Callable[[], Callable[[Batch], Result]],
    batches: Iterable[Batch],
    *,
    ahead: int = 2,
    place: Callable[[Batch], str] | None = None,
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
    place : callable, optional
        Names a batch that workers die over; by default it is called by its number.

    Examples
    --------
    >>> list(map_batches(Engine(), with_shared(pow, 2), [1, 2, 3]))
    [2, 4, 8]
    """
    workers = _workers(engine, make)
    idle: queue.LifoQueue[Worker] = queue.LifoQueue()
    for worker in workers:
        idle.put(worker)
    threads = ThreadPoolExecutor(len(workers), thread_name_prefix="hopgate-engine")
    waiting: deque[Future[Result]] = deque()
    try:
        for number, batch in enumerate(batches, start=1):
            name = place(batch) if place else f"batch {number}"
            waiting.append(threads.submit(_ask, idle, batch, name))
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


def _ask(idle: queue.LifoQueue[Worker], batch: Any, name: str) -> Any:
    """Let an idle worker do a batch; where it dies, it is asked again."""
    worker = idle.get()
    try:
        for _ in range(TRIES):
            with suppress(DiedError):
                result, error = worker.do(batch)
                if error is not None:
                    raise error
                return result
    finally:
        idle.put(worker)
    raise HopgateError(
        f"{TRIES} workers died over {name}: look into their output, give them more memory or take smaller batches, and "
        "run this again"
    )


def _workers(engine: Engine, make: Callable[[], Callable[[Any], Any]]) -> Sequence[Worker]:
    if engine.name == "local":
        return [Worker(make)]
    try:
        pickled = pickle.dumps(make)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise HopgateError(f"this work cannot be sent to other processes ({error}): use --engine local") from None
    return _actors(engine, pickled) if engine.name == "ray" else [ProcessWorker(pickled) for _ in range(engine.size())]


class DiedError(Exception):
    """A worker died over a batch."""


class Worker:
    """Works on one batch at a time: in the thread that asks, or as the far side of a worker elsewhere."""

    def __init__(self, make: bytes | Callable[[], Callable[[Any], Any]]) -> None:
        self._make = make
        self._work: Callable[[Any], Any] | None = None

    def do(self, batch: Any) -> tuple[Any, Exception | None]:
        """Give the function's result and no error, or no result and the error."""
        try:
            if self._work is None:
                self._work = (_loaded(self._make) if isinstance(self._make, bytes) else self._make)()
            return self._work(batch), None
        except Exception as error:
            return None, error

    def end(self) -> None:
        """Let it go; what it is doing is not waited for."""


def _loaded(make: bytes) -> Any:
    try:
        return pickle.loads(make)
    except (ImportError, AttributeError) as error:
        raise HopgateError(
            f"a worker does not have what it should run ({error}): put it into a module that every worker can import, "
            "or use --engine local"
        ) from None


class ProcessWorker(Worker):
    """A process of this machine, started when it is first asked and again after it died.

    It runs this module, which `multiprocessing` would not: that imports the user's program a second time, and a script
    without a guard would run all over again.
    """

    def __init__(self, make: bytes) -> None:
        super().__init__(make)
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def do(self, batch: Any) -> tuple[Any, Exception | None]:
        """Send the batch to the process and wait for its answer."""
        if self._ended:
            return None, HopgateError("this run has ended")
        try:
            if self._process is None:
                self._start()
            self._pipe.send(batch)
            answer: tuple[Any, Exception | None] = self._pipe.recv()
            return answer
        except (OSError, EOFError):
            self._stop()
            raise DiedError from None

    def _start(self) -> None:
        # With this process's path, so that it finds what this one found; a worker is one thread, as Ray's are.
        path = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        self._pipe, theirs = Pipe()
        with theirs:
            command = [sys.executable, "-c", f"from hopgate.scale.engine import serve; serve({theirs.fileno()})"]
            # Nothing of what it prints may stand among this process's output.
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=2, env=environment)
        self._pipe.send(self._make)

    def _stop(self) -> None:
        if process := self._process:
            self._process = None
            process.kill()
            process.wait()
            self._pipe.close()

    def end(self) -> None:
        """Kill the process; none is started in its place."""
        self._ended = True
        self._stop()


def serve(handle: int) -> None:
    """Work in the process of a `ProcessWorker`: the pickled `make` comes in and then batches; answers go out."""
    # An interruption is the starter's to deal with.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Connection(handle) as pipe, suppress(EOFError, BrokenPipeError):
        worker = Worker(pipe.recv())
        while True:
            answer = worker.do(pipe.recv())
            try:
                pipe.send(answer)
            except (TypeError, AttributeError, pickle.PicklingError) as error:
                pipe.send((None, HopgateError(f"what a worker made cannot be sent back: {error}")))


# ---- A Ray cluster ---------------------------------------------------------------------------------------------------


def _ray(engine: Engine) -> Any:
    """Give Ray, connected to the engine's cluster until this process ends, or as the user's program connected it."""
    # Nothing is told to anybody about its use, and an accelerator is taken away from workers only where they hold one.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise HopgateError("the engine ray needs Ray: pip install 'hopgate[scale]'") from None
    if ray.is_initialized():
        return ray
    address = engine.address or "auto"
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # Ray's own timeouts are of no narrower kind.
        ray.shutdown()
        # Redacted before it is cut: half of an address does not show what of it is a password.
        line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        why = redacted(line, *password_parts(address))[:120]
        raise HopgateError(
            f"there is no Ray cluster {redacted(address)} ({why}): run ray start --head, or take --engine processes"
        ) from None
    return ray


class RayWorker(Worker):
    """An actor of the cluster, which Ray starts again where it died, and asks anew by itself."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    def do(self, batch: Any) -> tuple[Any, Exception | None]:
        """Send the batch to the actor and wait for its answer."""
        errors = self._ray.exceptions
        try:
            answer: tuple[Any, Exception | None] = self._ray.get(self._actor.do.remote(batch))
            return answer
        except (errors.RayActorError, errors.ActorUnavailableError, errors.OutOfMemoryError, errors.WorkerCrashedError):
            raise DiedError from None

    def end(self) -> None:
        """Kill the actor."""
        self._ray.kill(self._actor)


def _actors(engine: Engine, make: bytes) -> Sequence[RayWorker]:
    """Start an engine's workers in the cluster."""
    ray = _ray(engine)
    options = {"num_cpus": 1, "num_gpus": engine.gpus_per_worker, "max_restarts": -1, "max_task_retries": TRIES - 1}
    kind = ray.remote(Worker).options(**options)
    actors = [kind.remote(make) for _ in range(engine.size())]
    try:
        # Any method of theirs is answered once they are there.
        ray.get([actor.end.remote() for actor in actors], timeout=START_S)
    except ray.exceptions.RayError:
        # Without Ray's reason, which may repeat an address with its password.
        raise HopgateError(
            "workers cannot be started: every node needs this hopgate and a free core (Ray's log says why)"
        ) from None
    return [RayWorker(ray, actor) for actor in actors]
