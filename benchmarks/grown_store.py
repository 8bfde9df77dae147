"""Stores of any size for the benchmarks of writing: synthetic notes, a graph built of them, vectors drawn at random.

Names are made of Zipf-distributed words, so that words are shared as in real names. Each note has a name of its own,
one that ten notes share, and two of two hundred hubs that a large part of all notes mention. Vectors lie around random
centres, so that neighbours exist; only what is written afterwards is embedded by the model.
"""

from __future__ import annotations

import contextlib
import random
import resource
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

import hopgate
from hopgate.embed.bundled import BgeSmall
from hopgate.embed.late import BundledLate
from hopgate.kb import KnowledgeBase
from hopgate.store import connect, vectors
from hopgate.store.graph import graph_vectors
from hopgate.store.vectors import set_vectors

DAY = datetime(2020, 1, 1, tzinfo=UTC)
HUBS = 200
CENTRES = 300
CHUNK = 20_000


class World:
    """Notes by number."""

    def __init__(self) -> None:
        stems = [f"{a}{b}{c}" for a in "bdfgklmnprstvz" for b in ("a", "e", "io", "ou") for c in ("rk", "nd", "l")]
        ends = ["", *(f"{a}{b}" for a in "aeiou" for b in "klmnrst")]
        self._words = [stem + end for end in ends for stem in stems]
        self._weights = list(accumulate(1 / (rank + 5) for rank in range(len(self._words))))
        self._hubs = list(accumulate(1 / (rank + 1) for rank in range(HUBS)))
        pick = random.Random(0)
        self.hubs = [self._name(pick) for _ in range(HUBS)]

    def _name(self, pick: random.Random) -> str:
        return " ".join(word.capitalize() for word in pick.choices(self._words, cum_weights=self._weights, k=3))

    def memory(self, number: int) -> hopgate.Memory:
        """A note of four names and three facts."""
        pick = random.Random(number + 1)
        own, shared = self._name(pick), self._name(random.Random(-1 - number // 10))
        first, second = pick.choices(self.hubs, cum_weights=self._hubs, k=2)
        text = f"{own} works at {first} and lives in {second}. {shared} is a friend of {own}."
        return hopgate.Memory(f"m{number}", text, created_at=DAY + timedelta(minutes=number))

    def memories(self, rows: int) -> Iterator[hopgate.Memory]:
        """The first so many."""
        return map(self.memory, range(rows))


def server_seconds(directory: Path) -> float:
    """The CPU that a store's server has used: the postmaster, its children, and those that ended."""
    postmaster = psutil.Process(int((directory / "pg" / "postmaster.pid").read_text().splitlines()[0]))
    running = []
    for child in postmaster.children():
        # One that ends meanwhile is among those that the postmaster has counted a moment later.
        with contextlib.suppress(psutil.NoSuchProcess):
            running.append(child.cpu_times())
    mine = postmaster.cpu_times()
    return float(mine.children_user + mine.children_system + sum(one.user + one.system for one in (mine, *running)))


def cpu_seconds(kb: KnowledgeBase) -> float:
    """The CPU that this process, those it has waited for, and the store's server have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    server = server_seconds(kb.store.directory) if kb.store.directory else 0.0
    return time.process_time() + children.ru_utime + children.ru_stime + server


def fill(kb: KnowledgeBase, world: World, rows: int, *, embedded: bool = True) -> dict[str, float]:
    """Load so many notes, build their graph, and give everything a vector; say how many seconds each took.

    `_s` are seconds of the clock, `_cpu_s` of processors, which hold on a machine that others use.
    """
    seconds = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        began, cpu = time.perf_counter(), cpu_seconds(kb)
        work()
        seconds[f"{name}_s"] = round(time.perf_counter() - began, 1)
        seconds[f"{name}_cpu_s"] = round(cpu_seconds(kb) - cpu, 1)

    def embed() -> None:
        if embedded:
            _embed(kb)
        with connect.connect(kb.store.dsn) as connection:
            connection.autocommit = True
            connection.execute("VACUUM ANALYZE")

    timed("load", lambda: kb.load(world.memories(rows)))
    timed("build", kb.build)
    timed("vectors", embed)
    return seconds


def _embed(kb: KnowledgeBase) -> None:
    """Give everything a vector that is drawn, and index these."""
    with kb.store.transaction() as connection:
        vectors.claim(connection, BgeSmall().identity, BundledLate().identity)
    noise = np.random.default_rng(0)
    centres = noise.standard_normal((CENTRES, BgeSmall().identity.dimension)).astype(np.float32)
    for table in ("memories", "concepts", "concept_edges"):
        with kb.store.transaction() as connection:
            ids = [row[0] for row in connection.execute(f"SELECT id FROM {table} ORDER BY id")]
        for start in range(0, len(ids), CHUNK):
            part = ids[start : start + CHUNK]
            with kb.store.transaction() as connection:
                set_vectors(connection, table, part, drawn(noise, centres, len(part)))
    with kb.store.transaction() as connection:
        connection.execute("TRUNCATE waiting_vectors")
        graph_vectors.ensure_index(connection)
    kb.embed()


def drawn(noise: np.random.Generator, centres: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Unit vectors, each near one of the centres."""
    rows = centres[noise.integers(0, len(centres), count)]
    rows = rows + noise.standard_normal(rows.shape).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
