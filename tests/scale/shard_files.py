"""Shards for the tests of backfills: the synthetic corpus cut into files, some of its lines poisoned."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hopgate.corpus import to_record
from hopgate.demo import corpus
from hopgate.memory import Memory

DAY = datetime(2024, 1, 1, tzinfo=UTC)
SECRET = Memory("secret", "The pin of the safe is quibble.", is_sensitive=True, created_at=DAY)
TAGGED = Memory("tagged", "The gift is a telescope called wobblefish.", tags=("private",), created_at=DAY)
LONG = Memory("long", "The spare key hangs at Bea's house. " * 120, created_at=DAY)
POISON = ['{"_id": "p1", "text": ', '{"_id": "p2"}', '{"_id": "p3", "text": "x", "importance": 7}', "\ufffd"]

RAY = pytest.param("ray", marks=[pytest.mark.full, pytest.mark.timeout(1800)])


@contextmanager
def cluster(engine: str) -> Iterator[None]:
    """Run a Ray cluster of this machine's own where an engine needs one."""
    if engine != "ray":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        # A cluster's workers import what this process can, and are not traced.
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        for name in [name for name in os.environ if name.startswith("COV")]:
            patch.delenv(name)
        import ray

        ray.init(address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False)
        try:
            yield
        finally:
            ray.shutdown()


def notes(count: int) -> list[Memory]:
    """Dated memories, so that two runs make the same rows."""
    plain = [memory for memory in corpus().memories if not memory.is_sensitive][:count]
    return [replace(memory, created_at=memory.created_at or DAY) for memory in plain]


def write_shards(folder: Path, memories: list[Memory], shards: int = 3, poison: tuple[str, ...] = ()) -> Path:
    """Write memories into so many files, and poisoned lines among the first one's; give the folder."""
    folder.mkdir(exist_ok=True)
    size = -(-len(memories) // shards)
    for at in range(shards):
        lines = [json.dumps(to_record(memory)) for memory in memories[at * size : (at + 1) * size]]
        for number, line in enumerate(poison if at == 0 else ()):
            lines.insert(2 + 3 * number, line)
        (folder / f"part-{at}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
