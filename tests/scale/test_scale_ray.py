"""Backfills on a Ray cluster of three nodes: the store of one process, whatever is killed on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from oracle import broken, digest
from patience import PATIENCE
from shard_files import LONG, POISON, SECRET, notes, write_shards
from word_endpoint import WordEndpoint, embed

import hopgate
from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, Source
from hopgate.extract.extractor import ExtractorIdentity
from hopgate.extract.rules.phrases import Phrases
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.scale.engine import Engine
from hopgate.scale.ray_pool import RayPool
from hopgate.store.server.pid_file import pid_of

ray = pytest.importorskip("ray")

# A loaded machine may take long over what takes seconds.
pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def cluster(monkeypatch_module: pytest.MonkeyPatch) -> Iterator[Any]:
    """Three nodes of one core each, with ports of Ray's own choice; everything of it ends with the module."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Its processes run what other tests run: tracing the lines of all of them takes longer than they do.
    for name in [name for name in os.environ if name.startswith("COV")]:
        monkeypatch_module.delenv(name)
    node = {"num_cpus": 1, "object_store_memory": 80 * 1024 * 1024, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=node)
    try:
        for _ in range(2):
            made.add_node(**{name: value for name, value in node.items() if name != "include_dashboard"})
        ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def _digest(dsn: str) -> dict[str, str]:
    with hopgate.open(dsn) as kb, kb.store.transaction() as connection:
        assert broken(connection) == {}
        return digest(connection)


def _workers() -> list[psutil.Process]:
    """The processes of this cluster's workers, all of them below this one."""
    found = []
    for one in psutil.Process().children(recursive=True):
        # Some end while they are looked at.
        with contextlib.suppress(psutil.Error):
            if "RayActor" in " ".join(one.cmdline()[:1]):
                found.append(one)
    return found


def _at_request(endpoint: WordEndpoint, number: int, act: Any) -> None:
    """Do something once, in the middle of a worker's request."""
    once = threading.Lock()
    seen = iter(range(10**9))

    def vector(text: str) -> list[float]:
        with once:
            if next(seen) == number:
                act()
        return embed(text)

    endpoint.vector = vector


def test_a_cluster_makes_the_store_of_one_process_though_a_worker_is_killed(
    cluster: Any, kb: KnowledgeBase, other: str, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    shards = write_shards(tmp_path / "shards", [*notes(90), LONG, SECRET], 3, tuple(POISON))
    with hopgate.open(other) as plain:
        local = plain.backfill(shards, embedder=endpoint.spec, batch=8)
        aside = plain.upkeep.set_aside()
    killed: list[int] = []

    def kill() -> None:
        victim = _workers()[0]
        killed.append(victim.pid)
        victim.kill()

    _at_request(endpoint, 30, kill)
    endpoint.bodies.clear()
    done = kb.backfill(shards, embedder=endpoint.spec, batch=8, engine="ray", workers=2)
    assert killed
    assert (done.workers, done.added, done.set_aside) == (2, local.added, local.set_aside)
    assert kb.upkeep.set_aside() == aside and len(aside) == len(POISON)
    assert "quibble" not in " ".join(endpoint.bodies)
    assert _digest(kb.store.dsn) == _digest(other)
    # A second run finds everything there.
    assert kb.backfill(shards, engine="ray", workers=1, batch=64).settled == 92


def test_a_driver_that_is_killed_is_taken_up_where_it_stopped(
    cluster: Any, kb: KnowledgeBase, other: str, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    shards = write_shards(tmp_path / "shards", notes(40), 1)
    with hopgate.open(other) as plain:
        plain.backfill(shards, embedder=endpoint.spec, batch=8)
    script = (
        "import sys, hopgate\n"
        "with hopgate.open(sys.argv[1]) as kb:\n"
        "    kb.backfill(sys.argv[2], embedder=sys.argv[3], batch=8, engine='ray', workers=1, address=sys.argv[4])\n"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", script, kb.store.dsn, str(shards), endpoint.spec, cluster.address],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    _at_request(endpoint, 25, lambda: driver.send_signal(signal.SIGKILL))
    assert driver.wait(PATIENCE) == -signal.SIGKILL
    with kb.store.transaction() as connection:
        # Whole batches, and no row of another.
        assert len(connection.execute("SELECT FROM memories").fetchall()) % 8 == 0
    kb.backfill(shards, embedder=endpoint.spec, batch=8, engine="ray", workers=1)
    assert _digest(kb.store.dsn) == _digest(other)


def test_a_database_that_is_killed_in_the_middle_is_waited_for(
    cluster: Any, other: str, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    shards = write_shards(tmp_path / "shards", notes(30), 1)
    with hopgate.open(other) as plain:
        plain.backfill(shards, embedder=endpoint.spec, batch=8)
    with hopgate.open(tmp_path / "store") as kb:
        postmaster = pid_of(tmp_path / "store" / "pg")
        _at_request(endpoint, 12, lambda: os.kill(postmaster, signal.SIGKILL))
        done = kb.backfill(shards, embedder=endpoint.spec, batch=8, engine="ray", workers=2)
        assert pid_of(tmp_path / "store" / "pg") not in (0, postmaster)
        assert done.added == 30
        with kb.store.transaction() as connection:
            assert broken(connection) == {}
            assert digest(connection) == _digest(other)


def test_a_database_that_workers_wait_for_is_started_though_nobody_else_needs_it(
    cluster: Any, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    with hopgate.open(tmp_path / "store") as kb:
        pool = RayPool(ray, Engine("ray", workers=1), 1, kb.store, endpoint.spec, Phrases())
        try:
            postmaster = pid_of(tmp_path / "store" / "pg")
            os.kill(postmaster, signal.SIGKILL)
            (made,) = pool.each("embedded", [(Memory("m1", "The key is in the shed."),)])
        finally:
            pool.close()
        assert set(made.vectors) == {"m1"}
        assert pid_of(tmp_path / "store" / "pg") not in (0, postmaster)


class _Locked:
    """An extractor that no other process can have."""

    identity = ExtractorIdentity("locked")

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def extract(self, sources: list[Source]) -> list[Extraction]:
        return []


def test_an_extractor_that_cannot_be_sent_is_named(
    cluster: Any, kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    shards = write_shards(tmp_path / "shards", notes(1), 1)
    with pytest.raises(HopgateError, match="the extractor locked cannot be sent to workers"):
        kb.backfill(shards, embedder=endpoint.spec, extractor=_Locked(), engine="ray")


class _Unknown:
    """An extractor of a module that workers do not have."""

    identity = ExtractorIdentity("unknown")

    def extract(self, sources: list[Source]) -> list[Extraction]:
        return []


def test_workers_that_cannot_be_started_set_no_row_aside(
    cluster: Any, kb: KnowledgeBase, endpoint: WordEndpoint, tmp_path: Path
) -> None:
    shards = write_shards(tmp_path / "shards", notes(1), 1)
    with pytest.raises(HopgateError, match="workers cannot be started"):
        kb.backfill(shards, embedder=endpoint.spec, extractor=_Unknown(), engine="ray", workers=1)
    assert kb.upkeep.set_aside() == []
