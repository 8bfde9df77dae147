"""The engine `ray`: workers as actors, each with its models loaded once; one that dies is started again.

Plain actors and not Ray Data: whoever writes needs the answers in the order of the rows, so that ids are given as one
process would give them; and rows must pass the guard before anything of them lies in Ray's object store, which spills
to disks. What is left of a pipeline then is a window of questions to a pool of actors.
"""

from __future__ import annotations

import contextlib
import pickle
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError, LostServerError
from hopgate.redact import redacted
from hopgate.scale.embedded_texts import EmbeddedTexts
from hopgate.scale.lost_items import halves, in_place_of
from hopgate.scale.tasks import Tasks

if TYPE_CHECKING:
    from hopgate.extract.extractor import Extractor
    from hopgate.graph.build.range_reading import Surveys
    from hopgate.scale.engine import Engine, WorkerTask
    from hopgate.store.store import Store

# How often a question is asked again of an actor that died over it.
RETRIES = 2
# Seconds that workers may take to start: on a busy machine a minute.
START_S = 300
# Seconds after which is looked whether the database is up that workers may be waiting for.
LOOK_S = 3.0
# So many memories in a row that workers die over are not at fault.
PATIENCE = 10


class RayActor:
    """A worker in a process of Ray's, with one connection to the store."""

    def __init__(self, dsn: str, spec: str, extractor: Extractor, threads: int) -> None:
        from hopgate.scale.worker import BackfillWorker
        from hopgate.store.store import Store

        self._worker = BackfillWorker(Store(dsn), spec, extractor, threads)
        self._told: Any = None

    def ready(self) -> bool:
        """Say that it is there."""
        return True

    def work(self, task: str, item: Any, told: list[Any]) -> Any:
        """Do a task; what all memories show is fetched once, and again by an actor that was started again."""
        import ray

        if told and told[0] != self._told:
            self._worker.tell(ray.get(told[0]))
            self._told = told[0]
        return self._worker.work(task, item)


class RayPool:
    """Workers of a Ray cluster.

    Parameters
    ----------
    ray : module
        Connected to a cluster.
    size : int
        How many actors.
    spec : str
        The embedder that each of them loads.
    """

    def __init__(self, ray: Any, engine: Engine, size: int, store: Store, spec: str, extractor: Extractor) -> None:
        self._ray, self._store, self._extractor = ray, store, extractor
        self.size = size
        made = ray.remote(RayActor).options(
            num_cpus=1, num_gpus=engine.gpus_per_worker, max_restarts=-1, max_task_retries=RETRIES
        )
        try:
            self._actors = [made.remote(store.dsn, spec, extractor, 1) for _ in range(size)]
        except (TypeError, pickle.PicklingError):
            name = extractor.identity.extractor
            raise HopgateError(f"the extractor {name} cannot be sent to workers: use --engine local") from None
        self._check()
        # Names are compared by tasks of the same cluster, on the cores that the actors leave idle meanwhile.
        self.tasks = Tasks(ray, size, cores=0)
        self._asked: dict[Any, int] = {}
        self._told: list[Any] = []
        self._given_up = 0

    def _check(self) -> None:
        """Wait for the workers; where one cannot be started, no row is at fault."""
        errors = self._ray.exceptions
        try:
            self._ray.get([actor.ready.remote() for actor in self._actors], timeout=START_S)
        except errors.RayError as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()[:200]
            raise HopgateError(
                f"workers cannot be started ({redacted(reason)}): every node needs this hopgate and a free core"
            ) from None

    def tell(self, surveys: Surveys) -> None:
        """Let every worker know what all memories show."""
        self._told = [self._ray.put(surveys)]

    def each(self, task: WorkerTask, items: Iterable[Any]) -> Iterator[Any]:
        """Do a task for every item; so many questions are open at most that no worker has to wait for the next."""
        waiting: deque[tuple[Any, Any]] = deque()
        try:
            for item in items:
                waiting.append((item, self._ask(task, item)))
                if len(waiting) > 2 * self.size:
                    yield from self._answers(task, *waiting.popleft())
            while waiting:
                yield from self._answers(task, *waiting.popleft())
        finally:
            for _, asked in waiting:
                self._asked.pop(asked, None)
                self._ray.cancel(asked)

    def _ask(self, task: WorkerTask, item: Any) -> Any:
        """Ask the actor with the fewest open questions."""
        if self._asked:
            done, _ = self._ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
            for asked in done:
                del self._asked[asked]
        busy = [0] * self.size
        for number in self._asked.values():
            busy[number] += 1
        number = busy.index(min(busy))
        asked = self._actors[number].work.remote(task, item, self._told)
        self._asked[asked] = number
        return asked

    def _answers(self, task: WorkerTask, item: Any, asked: Any) -> Iterator[Any]:
        """Wait for an answer; where workers die over an item, its halves are asked, and the one at fault given up."""
        errors = self._ray.exceptions
        try:
            self._wait(asked)
            answer = self._ray.get(asked)
            self._given_up = 0
            yield answer
            return
        except errors.RayTaskError as error:
            # What the worker itself raised, and not Ray's wrapping of it.
            if isinstance(error.cause, HopgateError):
                raise error.cause from None
            raise
        except (errors.RayActorError, errors.ActorUnavailableError, errors.OutOfMemoryError, errors.WorkerCrashedError):
            pass
        finally:
            self._asked.pop(asked, None)
        parts = halves(item)
        if not parts:
            self._given_up += 1
            if self._given_up >= PATIENCE:
                raise HopgateError(
                    f"workers died over {PATIENCE} memories in a row: look into Ray's log, give them memory"
                )
            yield in_place_of(task, item, self._store, self._extractor)
            return
        answers = [answer for part in parts for answer in self._answers(task, part, self._ask(task, part))]
        if isinstance(answers[0], EmbeddedTexts):
            yield sum(answers[1:], answers[0])
        else:
            yield from answers

    def _wait(self, asked: Any) -> None:
        """Wait for an answer, and meanwhile start a server of the store's own again that died.

        Workers wait for the database, but only the process that opened the store can start it.
        """
        while not self._ray.wait([asked], timeout=LOOK_S)[0]:
            with contextlib.suppress(LostServerError):
                self._store.run(lambda connection: connection.execute("SELECT 1"))

    def close(self) -> None:
        """Let the actors go."""
        for actor in self._actors:
            self._ray.kill(actor)
