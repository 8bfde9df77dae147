"""hopgate in the shapes that other frameworks expect: one file a framework, each an extra."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hopgate.memory import Cleared, Memory, cleared

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase
    from hopgate.recall.hit import Hit


def readable_hits(kb: KnowledgeBase, hits: Sequence[Hit]) -> list[tuple[Hit, Cleared]]:
    """What of a recall a model may read: what retrievers hand on goes into somebody's prompt.

    The hits with their texts, without those that are sensitive now: by a mark, or by a rule nobody has applied yet.
    """
    rules = kb.sensitivity()
    return list(cleared((hit, memory) for hit in hits for memory in rules.applied([hit.memory])))


def readable(kb: KnowledgeBase, memories: Iterable[Memory]) -> list[Memory]:
    """Those of some memories that are not sensitive now."""
    return [memory for memory in kb.sensitivity().applied(memories) if not memory.is_sensitive]
