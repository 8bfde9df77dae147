"""An embeddings server that every test of a backfill asks anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from word_endpoint import WordEndpoint, embed, serving


@pytest.fixture(scope="module")
def _server_of_words() -> Iterator[WordEndpoint]:
    with serving() as running:
        yield running


@pytest.fixture
def endpoint(_server_of_words: WordEndpoint) -> WordEndpoint:
    """The server as if just started: nothing asked yet, and each text gets its own vector."""
    _server_of_words.bodies.clear()
    _server_of_words.vector = embed
    return _server_of_words
