"""A Ray cluster for the time of a run, one that is there or one of this machine's own, and its workers."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.errors import HopgateError
from hopgate.redact import password_parts, redacted
from hopgate.scale.engine import TRIES, Answering, DiedError, result_of

if TYPE_CHECKING:
    from hopgate.scale.engine import Engine

# For batches on their way: a few of 512 memories with their vectors. Ray would take a third of the machine's memory.
OBJECT_STORE_BYTES = 256 * 1024 * 1024
# A socket's path has about 100 bytes, and Ray's own part of it some 70.
LONGEST_FOLDER = 35
# Seconds that workers may take to start: on a busy machine a minute.
START_S = 300


@contextmanager
def ray_session(engine: Engine) -> Iterator[None]:
    """Connect to the engine's cluster; a connection that was there before stays as it is."""
    # Nothing is told to anybody about its use, and an accelerator is taken away from workers only where they hold one.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    before = sys.modules.get("ray")
    if not engine.address and not (before and before.is_initialized()):
        _require_token()
    try:
        import ray
    except ImportError:
        raise HopgateError("the engine ray needs Ray: pip install 'hopgate[scale]'") from None
    if ray.is_initialized():
        yield
        return
    folder = None if engine.address else _own_folder()
    try:
        _connect(ray, engine, folder)
    except Exception as error:  # Ray's own timeouts are of no narrower kind.
        # Redacted before it is cut: half of an address does not show what of it is a password.
        line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        why = redacted(line, *password_parts(engine.address or ""))[:120]
        if engine.address:
            raise HopgateError(
                f"there is no Ray cluster {redacted(engine.address)} ({why}): start one, or leave --address out"
            ) from None
        raise HopgateError(
            f"Ray did not start on this machine ({why}): try again when it is less busy, or take --engine processes"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()
    if folder is not None:
        # Where a run failed, its logs stay.
        shutil.rmtree(folder, ignore_errors=True)


def _connect(ray: Any, engine: Engine, folder: Path | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if engine.address:
        ray.init(address=engine.address, **quiet)
        return
    for last in (False, True):
        try:
            # Not whatever cluster a variable of the shell or a file of another program names.
            ray.init(
                address="local",
                num_cpus=engine.workers,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=str(folder / f"r{last:d}") if folder else None,
                **quiet,
            )
            return
        except Exception:
            # On a busy machine its processes may take longer than the 30 seconds that Ray gives them.
            ray.shutdown()
            if last:
                raise


@cache
def _token() -> str:
    """What lets a process into this one's own cluster; Ray keeps the first that it was given."""
    return secrets.token_hex(32)


def _require_token() -> None:
    """Let nobody else into a cluster of our own, who would run code in it: it listens on every address of the machine.

    The token is in no file: the one that Ray would make can be read by every user.
    """
    if "RAY_AUTH_MODE" in os.environ:
        return
    os.environ.setdefault("RAY_AUTH_TOKEN", _token())
    if "ray" not in sys.modules:
        # Read when Ray is imported; later it would be half in force.
        os.environ["RAY_AUTH_MODE"] = "token"


def _own_folder() -> Path | None:
    """A folder for sockets, logs and what is spilled that nobody else can enter: Ray lets everybody into its own.

    None where its path would be too long for a socket.
    """
    folder = Path(tempfile.mkdtemp(prefix="hopgate-ray-"))
    if len(os.fsencode(folder)) <= LONGEST_FOLDER:
        return folder
    folder.rmdir()
    return None


def cluster_workers(engine: Engine) -> int:
    """How many workers an engine has: as many as asked for, and no more than the cluster has cores and GPUs for."""
    import ray

    resources = ray.cluster_resources()
    most = int(resources.get("CPU", 1))
    if engine.gpus_per_worker:
        most = min(most, int(resources.get("GPU", 0) / engine.gpus_per_worker))
        if most < 1:
            raise HopgateError(f"this cluster has no {engine.gpus_per_worker} GPU for a worker: ask for less")
    return max(1, min(engine.workers or most, most))


def spans_machines() -> bool:
    """Whether the cluster has nodes on more than one machine."""
    import ray

    return len({node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}) > 1


class RayWorker:
    """An actor of the cluster, which Ray starts again when it died."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    def ask(self, batch: Any) -> Any:
        """Let it do a batch; Ray tries again by itself."""
        errors = self._ray.exceptions
        try:
            answer = self._ray.get(self._actor.answer.remote(batch))
        except (errors.RayActorError, errors.ActorUnavailableError, errors.OutOfMemoryError, errors.WorkerCrashedError):
            raise DiedError(TRIES) from None
        return result_of(*answer)

    def end(self, *, abandoned: bool) -> None:  # noqa: ARG002 (Ray keeps no actor for the next run)
        """Let it go."""
        self._ray.kill(self._actor)


def ray_workers(engine: Engine, make: bytes) -> Sequence[RayWorker]:
    """Start an engine's workers in the cluster that this process is connected to."""
    import ray

    options = {"num_cpus": 1, "num_gpus": engine.gpus_per_worker, "max_restarts": -1, "max_task_retries": TRIES - 1}
    kind = ray.remote(Answering).options(**options)
    actors = [kind.remote(make) for _ in range(cluster_workers(engine))]
    try:
        ray.get([actor.ready.remote() for actor in actors], timeout=START_S)
    except ray.exceptions.RayError:
        # Without Ray's reason, which may repeat an address with its password.
        raise HopgateError(
            "workers cannot be started: every node needs this hopgate and a free core (Ray's log says why)"
        ) from None
    return [RayWorker(ray, actor) for actor in actors]
