"""Memories for tests of what holds when, each of the fifth of a month of 2024."""

from __future__ import annotations

from datetime import UTC, datetime

from hopgate.memory import Memory


def note(key: str, text: str, month: int, scope: str | None = None) -> Memory:
    """A memory of a month."""
    return Memory(key, text, created_at=datetime(2024, month, 5, tzinfo=UTC), scope=scope)
