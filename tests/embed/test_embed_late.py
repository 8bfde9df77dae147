"""Late interaction with the bundled model: token vectors, long texts by passages, and the scores."""

import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hopgate.embed import EmbeddingCache, embedder_from, sentence_transformers
from hopgate.embed.late import SCALE, BundledLate, LateModel, joined, late_matches, late_model
from hopgate.embed.texts import TextModels
from hopgate.errors import HopgateError
from hopgate.memory import Cleared

SHORT = Cleared("The boiler is in the cellar.")


@pytest.fixture(scope="module")
def model() -> BundledLate:
    return BundledLate()


def tokens_of(model: LateModel, *texts: str) -> list[Any]:
    """A store's way to the tokens of memories that have their vectors."""
    cleared = [Cleared(text) for text in texts]
    return [made.tokens for made in TextModels(embedder_from("bge-small"), model).made(cleared, range(len(texts)))]


def test_a_row_is_a_token_of_unit_length_and_does_not_depend_on_other_texts(model):
    [alone] = tokens_of(model, SHORT)
    together = tokens_of(model, SHORT, "Bread needs flour, water, salt and time.")
    assert np.array_equal(alone, together[0])
    # The first token, the mark, seven words and signs, the last.
    assert alone.shape == (10, model.identity.dimension) and alone.dtype == np.int8
    assert np.allclose(np.linalg.norm(alone.astype(np.float32), axis=1) / SCALE, 1, atol=0.02)


def test_a_query_has_a_word_and_a_row_for_each_token(model):
    words, rows = model.query_tokens("Is the Zigbee dongle unplugged?")
    assert len(words) == len(rows) and set(words) == {"", "Is", "the", "Zigbee", "dongle", "unplugged", "?"}
    # A word of several tokens stands beside each of them.
    assert words.count("Zigbee") > 1
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert len(model.query_tokens("").words) == 3
    assert {len(part) for part in model.query_tokens("word " * 2000)} == {512}


def test_a_long_text_is_read_in_passages_to_its_end(model):
    filler = "".join(f"Sentence number {n} tells of boxes. " for n in range(80))
    with_end, without = tokens_of(model, filler + "The spare key hangs in the shed.", filler)
    assert len(without) > 512
    query = model.query_tokens("where does the spare key hang").rows
    near, far = late_matches(query, *joined([with_end, without])).mean(axis=0)
    assert near > far + 0.1


def test_matches_are_the_best_of_each_memory_and_scores_their_mean(model):
    query = model.query_tokens("Who waters the plants?").rows
    tokens = tokens_of(model, "Bea gives the flowers water on Mondays.", "The NAS needs a new disk.")
    matches = late_matches(query, *joined(tokens))
    for at, rows in enumerate(tokens):
        assert np.allclose(matches[:, at], (query @ rows.astype(np.float32).T / SCALE).max(axis=1), atol=1e-6)
    scores = late_matches(query, *joined(tokens)).mean(axis=0)
    assert np.allclose(scores, matches.mean(axis=0)) and scores[0] > scores[1]
    assert late_matches(query, tokens[0], np.zeros(0, np.intp)).shape == (len(query), 0)


def test_the_cache_keeps_tokens_and_forgets_them_with_the_text(tmp_path, monkeypatch):
    cache = EmbeddingCache(tmp_path / "cache.sqlite3")
    models = TextModels(embedder_from("bge-small"), BundledLate())
    models.embedder.cache = models.late.cache = cache
    (made,) = models.made([SHORT])
    assert made.rows is not None and made.rows.shape == (1, 384)
    monkeypatch.setattr(BundledLate, "_rows", lambda self, texts: pytest.fail("it was read before"))
    (again,) = models.made([SHORT], [0])
    assert again.rows is None and np.array_equal(again.tokens, made.tokens)
    assert cache.info().embedders == {"answerai-colbert-small-v1": 1, "bge-small-en-v1.5": 1}
    assert cache.forget([SHORT]) == 2


def test_a_model_that_is_none_is_refused():
    with pytest.raises(HopgateError, match="no late-interaction model 'huge': say bundled, off or sentence"):
        late_model("huge")


class Encoder:
    """A multi-vector encoder as sentence-transformers has one: a row a word between a mark and an end."""

    def __init__(self, name: str, device: str | None = None) -> None:
        self.tokenizer = Words

    def encode_query(self, texts: list[str], show_progress_bar: bool) -> list[np.ndarray[Any, Any]]:
        return [np.ones((len(text.split()) + 2, 4)) for text in texts]

    encode_document = encode_query


class Words:
    """What a tokenizer says of a text, where words are tokens."""

    def __init__(self, text: str, add_special_tokens: bool, return_offsets_mapping: bool) -> None:
        self.spans = [match.span() for match in re.finditer(r"\S+", text)]

    def __getitem__(self, name: str) -> list[tuple[int, int]]:
        return self.spans

    def word_ids(self) -> list[int]:
        return list(range(len(self.spans)))

    def word_to_chars(self, word: int) -> tuple[int, int]:
        return self.spans[word]


def test_any_multi_vector_encoder_of_sentence_transformers_can_be_named(monkeypatch):
    whole = SimpleNamespace(MultiVectorEncoder=Encoder)
    parts = SimpleNamespace(real_query_token_slice=lambda _, text: slice(1, 1 + len(text.split())))
    monkeypatch.setitem(sys.modules, "sentence_transformers", whole)
    monkeypatch.setitem(sys.modules, "sentence_transformers.multi_vector_encoder", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "sentence_transformers.multi_vector_encoder.interpretability", parts)
    monkeypatch.setattr(sentence_transformers, "_fingerprint", lambda model: "digits")
    model = late_model("sentence-transformers:some/colbert")
    assert model is not None
    assert (model.identity.name, model.identity.dimension, model.identity.spec) == (
        "some/colbert", 4, "sentence-transformers:some/colbert")  # fmt: skip
    words, rows = model.query_tokens("where is it")
    assert words == ("", "where", "is", "it", "") and np.allclose(rows, 0.5)
    [tokens] = tokens_of(model, SHORT)
    assert tokens.shape == (8, 4) and set(tokens.ravel()) == {64}
