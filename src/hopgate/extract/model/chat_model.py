"""A model that can be asked a question: what the extractors' models are, beside extracting."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class ChatModel(Protocol):
    """Answers a chat with JSON of a schema."""

    def answer(self, asked: list[dict[str, str]], schema: dict[str, Any], room: int) -> str:
        """Return the answer's text; nothing where there is none. `room` is the most tokens it may take."""
        ...
