"""A frozen store: one snapshot in all transactions, and no writing."""

from __future__ import annotations

import pytest

from hopgate.errors import HopgateError
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store.store import FrozenStore


def test_every_transaction_sees_one_moment_and_none_writes(kb: KnowledgeBase) -> None:
    kb.add(Memory("m1", "The backup job runs on atlas."))
    with KnowledgeBase(FrozenStore(kb.store)) as frozen:
        kb.add(Memory("m2", "The backup job moved to borealis."))
        assert len(frozen) == 1
        assert [hit.external_id for hit in frozen.recall("backup job", legs=("lexical",))] == ["m1"]
        with pytest.raises(HopgateError, match="read-only"):
            frozen.add(Memory("m3", "Nothing is written."))
    assert len(kb) == 2
    with KnowledgeBase(FrozenStore(kb.store)) as frozen:
        assert len(frozen) == 2
