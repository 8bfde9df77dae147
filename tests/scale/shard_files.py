"""Shards for the tests of backfills: the synthetic corpus cut into files, some of its lines poisoned."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hopgate.corpus import to_record
from hopgate.demo import corpus
from hopgate.memory import Memory

DAY = datetime(2024, 1, 1, tzinfo=UTC)
SECRET = Memory("secret", "The pin of the safe is quibble.", is_sensitive=True, created_at=DAY)
TAGGED = Memory("tagged", "The gift is a telescope called wobblefish.", tags=("private",), created_at=DAY)
LONG = Memory("long", "The spare key hangs at Bea's house. " * 120, created_at=DAY)
POISON = ['{"_id": "p1", "text": ', '{"_id": "p2"}', '{"_id": "p3", "text": "x", "importance": 7}', "\ufffd"]


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
