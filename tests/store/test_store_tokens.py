"""Tokens of memories: made with the vector, guarded and forgotten with it, read in one statement."""

from typing import Any

import numpy as np
import pytest
from word_endpoint import WordEndpoint, serving

import hopgate
from hopgate import HopgateError, Memory
from hopgate.embed import EmbeddingCache
from hopgate.embed.late import BundledLate
from hopgate.kb import KnowledgeBase
from hopgate.store import vectors


@pytest.fixture
def filled(kb: KnowledgeBase, endpoint: WordEndpoint) -> KnowledgeBase:
    kb.store_settings.set({"late_model": "bundled"})
    kb.add(
        Memory("a", "The boiler is in the cellar."),
        Memory("b", "Bread needs flour, water, salt and time."),
        Memory("s", "The safe opens with 4711.", is_sensitive=True),
    )
    kb.embed(endpoint.spec)
    return kb


def kept(kb: KnowledgeBase) -> dict[str, Any]:
    """The tokens that the store has, by external id."""
    with kb.store.transaction() as connection:
        names = dict(connection.execute("SELECT id, external_id FROM memories").fetchall())
        return {names[key]: kept.rows for key, kept in vectors.tokens_of(connection, list(names)).items()}


def test_tokens_come_and_go_with_the_vector_whoever_makes_that(filled):
    assert set(kept(filled)) == {"a", "b"}
    filled.add(Memory("a", "The boiler is in the attic."))
    assert set(kept(filled)) == {"b"} and filled.pending_vectors() == 1
    filled.mark_sensitive(["b"])
    assert kept(filled) == {}
    filled.unmark_sensitive(["b"])
    assert filled.embed() == 2
    before = kept(filled)
    with serving("others") as other:
        assert filled.reembed(other.spec) == 2
    assert all(np.array_equal(kept(filled)[name], before[name]) for name in before)
    identity, text = BundledLate().identity, ["The boiler is in the attic."]
    assert EmbeddingCache.default().get(identity, text, "tokens")
    filled.delete(["a"])
    assert set(kept(filled)) == {"b"} and not EmbeddingCache.default().get(identity, text, "tokens")
    # As another program does it.
    filled.store.run(lambda connection: connection.execute("UPDATE memories SET is_sensitive = true"))
    assert kept(filled) == {}


def test_a_store_refuses_another_late_model_than_its_own(filled):
    with filled.store.transaction() as connection:
        connection.execute("UPDATE embedding_space SET late = jsonb_set(late, '{fingerprint}', '\"other\"')")
    filled.add(Memory("c", "A new one."))
    with (
        hopgate.open(filled.store.dsn) as again,
        pytest.raises(HopgateError, match="late interaction in this store is made by answerai"),
    ):
        again.embed()
    assert filled.pending_vectors() == 1


def test_a_store_without_late_interaction_has_no_tokens(kb, endpoint):
    kb.store_settings.set({"late": "off"})
    kb.add(Memory("a", "The boiler is in the cellar."))
    assert kb.embed(endpoint.spec) == 1
    assert kept(kb) == {} and kb.pending_vectors() == 0
    with pytest.raises(HopgateError, match="late_model is decided before the first vector"):
        kb.store_settings.set({"late": "bundled"})
