"""Who does a backfill's work: this process, or workers of a Ray cluster; both answer in the order of the questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hopgate.errors import HopgateError

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Engine:
    """Which engine, and how large.

    Parameters
    ----------
    name : {"local", "ray"}
        This process, or workers of a Ray cluster.
    address : str, optional
        The cluster's, such as "ray://head:10001" or "auto"; by default one of this machine's own for the run.
    workers : int, optional
        How many workers; by default one a core of the cluster. A store that has fewer connections free gets fewer.
    gpus_per_worker : float
        What of a GPU each worker holds.

    Examples
    --------
    >>> Engine("ray", workers=2)
    Engine(name='ray', address=None, workers=2, gpus_per_worker=0.0)
    >>> Engine("spark")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: there is no engine 'spark': use local or ray
    """

    name: str = "local"
    address: str | None = None
    workers: int | None = None
    gpus_per_worker: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise HopgateError(f"there is no engine {self.name!r}: use {' or '.join(ENGINES)}")
        if self.name == "local" and (self.address or self.workers or self.gpus_per_worker):
            raise HopgateError("--address, --workers and --gpus-per-worker are for a cluster: add --engine ray")
        if (self.workers is not None and self.workers < 1) or self.gpus_per_worker < 0:
            raise HopgateError("an engine has at least one worker, and no fewer than 0 GPUs for each")


WorkerTask = Literal["embedded", "vectors", "surveyed", "extracted"]


class WorkerPool(Protocol):
    """Workers that are asked one after the other and answer side by side."""

    size: int

    def each(self, task: WorkerTask, items: Iterable[Any]) -> Iterator[Any]:
        """Do a task for every item, read only as fast as it is worked on; answers come in the order of the items."""
        ...
