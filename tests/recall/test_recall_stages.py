"""After fusion: stages as a value, what they cost, and a walk that goes on from what the cross-encoder believes."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate import HopgateError, Memory
from hopgate.cli.recall import why
from hopgate.kb import KnowledgeBase
from hopgate.memory import Cleared
from hopgate.recall import rerank
from hopgate.recall.rerank import RerankCutShort, Reranker
from hopgate.recall.settings import Settings, Stages, resolve_settings
from hopgate.recall.stages import in_places, rerank_mass

pytestmark = pytest.mark.filterwarnings("ignore::hopgate.kb.BarredLegWarning")
ENOUGH = 60.0

steps = st.lists(st.sampled_from(["rerank", "rerank(20)", "rerank > walk", "rerank(7) > walk"]), max_size=5)


@given(steps, st.integers(1, 1000))
def test_stages_print_as_themselves(parts: list[str], depth: int) -> None:
    stages = Stages(" > ".join(["fuse", *parts]))
    assert eval(repr(stages)) == stages == Stages(str(stages).replace(" ", ""))
    deep = stages.at_depth(depth)
    assert deep.at_depth(depth + 1) == deep
    reads = [stage.depth for stage in deep.after if stage.name == "rerank"]
    assert deep.pairs == sum(read or 0 for read in reads)
    assert deep.walks == any("walk" in part for part in parts)
    assert deep.deepest == max((read or 0 for read in reads), default=0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rerank", "begin with fuse"),
        ("fuse > walk", "rerank comes before it"),
        ("fuse > rerank > walk > walk", "rerank comes before it"),
        ("fuse > sort", "rerank, rerank"),
        ("fuse > rerank(0)", "between 1 and 1000"),
        ("", "begin with fuse"),
    ],
)
def test_stages_that_make_no_sense_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(HopgateError, match=complaint):
        Stages(text)


def test_stages_are_settings() -> None:
    found = resolve_settings(environ={"HOPGATE_STAGES": "fuse > rerank(5)", "HOPGATE_RERANK": "on"}).settings
    assert found.pipeline == Stages("fuse > rerank(5)")
    assert Settings(rerank=True, rerank_depth=12).pipeline.pairs == 12
    assert Settings(rerank=True, sort_by="recency").pipeline == Stages("fuse")
    for wrong in ({"stages": 3}, {"rerank_depth": 1.5}, {"rerank_depth": True}, {"rerank_depth": 0}):
        with pytest.raises(HopgateError, match=next(iter(wrong))):
            Settings().replaced(wrong)


@given(st.lists(st.integers(0, 30), unique=True), st.dictionaries(st.integers(0, 40), st.integers(31, 99)))
def test_what_keeps_its_place_keeps_it(order: list[int], fixed: dict[int, int]) -> None:
    fixed = {place: key for place, key in fixed.items() if list(fixed.values()).count(key) == 1}
    found = in_places(order, fixed)
    assert sorted(found) == sorted([*order, *fixed.values()])
    assert [key for key in found if key <= 30] == order
    for place, key in fixed.items():
        if place < len(found) and all(other < len(found) for other in fixed):
            assert found[place] == key


def test_the_mass_is_the_logit_over_two() -> None:
    assert rerank_mass({1: 2.0, 2: 0.0}) == {1: 1.0, 2: pytest.approx(0.36788, abs=1e-5)}
    assert rerank_mass({}) == {}


class Likes:
    """A cross-encoder that likes texts with a word, reads only some, and remembers what."""

    def __init__(self, word: str, reads: int = 1000) -> None:
        self.word, self.reads, self.read = word, reads, list[str]()

    def score(self, query: str, texts: Sequence[Cleared]) -> Generator[tuple[int, float]]:
        for at, text in enumerate(texts):
            if at == self.reads:
                threading.Event().wait(1.0)
            self.read.append(text)
            yield at, 5.0 if self.word in text else -5.0


@pytest.fixture
def filled(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        *(Memory(f"m{n}", f"The {thing} is on the shelf.") for n, thing in enumerate(["lamp", "vase", "bowl", "book"])),
        Memory("late", "Ada Byron keeps the shelf."),
        Memory("bridge", "Ada Byron lives at Marlow House."),
        Memory("far", "Marlow House has nine rooms."),
        Memory("secret", "The safe is in the corner, on the lowest board of the old shelf.", is_sensitive=True),
    )
    kb.build("phrases")
    return kb


@pytest.fixture
def likes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Likes]:
    encoder = Likes("keeps")
    monkeypatch.setattr(rerank, "load_reranker", lambda model: Reranker(encoder))
    yield encoder


def order_of(kb: KnowledgeBase, **options: object) -> list[str]:
    return [hit.external_id for hit in kb.recall("shelf", legs=("lexical", "graph"), **options)]  # type: ignore[arg-type]


def test_only_relevance_is_re_ranked(filled: KnowledgeBase, likes: Likes) -> None:
    for sort_by in ("recency", "importance"):
        before = order_of(filled, sort_by=sort_by)
        assert order_of(filled, sort_by=sort_by, rerank=True, rerank_timeout=ENOUGH) == before
    assert likes.read == []
    assert order_of(filled, rerank=True, rerank_timeout=ENOUGH)[0] == "late"


def test_depth_says_how_many_are_read(filled: KnowledgeBase, likes: Likes) -> None:
    hits = filled.recall("shelf", legs=("lexical",), rerank=True, rerank_depth=3, rerank_timeout=ENOUGH)
    assert len(likes.read) == 3
    assert all(hit.rerank_cost and hit.rerank_cost.pairs == 3 and not hit.rerank_cost.cut_short for hit in hits)
    assert "(3 pairs in" in why(hits[0]) and "pairs" not in why(hits[1])
    assert hits[0].to_dict()["rerank_cost"]["pairs"] == 3
    assert [hit.rerank_score is None for hit in hits].count(False) == 3


def test_a_budget_that_cuts_it_short_is_told(filled: KnowledgeBase, likes: Likes) -> None:
    likes.reads = 2
    with pytest.warns(RerankCutShort, match=r"read 2 of 5 pairs in .* and the rest keeps its order: .*rerank_timeout"):
        hits = filled.recall("shelf", legs=("lexical",), rerank=True, rerank_timeout=0.4)
    cost = hits[0].rerank_cost
    assert cost is not None and cost.cut_short and (cost.pairs, cost.asked) == (2, 5)


def test_the_walk_brings_up_what_was_not_read(filled: KnowledgeBase, likes: Likes) -> None:
    without = order_of(filled, rerank=True, rerank_timeout=ENOUGH, stages="fuse > rerank", graph=0.0)
    assert "far" not in without and "bridge" not in without
    # The first six are what the lexical leg found, and nothing else comes as far as the cross-encoder.
    hits = filled.recall(
        "shelf", k=6, rerank_depth=6, graph=0.001, dense=0, rerank=True, rerank_timeout=ENOUGH, explain=True
    )
    found = {hit.external_id: hit for hit in hits}
    assert hits[0].external_id == "late" and found["bridge"].rank < 4
    assert found["bridge"].walk_score and found["bridge"].rerank_score is None
    assert found["bridge"].path[0] == "late" and found["bridge"].path[-1] == "bridge"
    assert found["bridge"].to_dict()["walk_score"] == found["bridge"].walk_score
    assert "walk 0." in why(found["bridge"])


def test_a_second_reading_reads_only_what_the_walk_brought(filled: KnowledgeBase, likes: Likes) -> None:
    once = Stages("fuse > rerank > walk > rerank")
    hits = filled.recall("shelf", legs=("lexical", "graph"), rerank=True, rerank_timeout=ENOUGH, stages=once)
    assert len(likes.read) == len(set(likes.read))
    assert "Marlow House has nine rooms." in likes.read
    assert hits[0].external_id == "late"


def test_a_sensitive_memory_keeps_its_place_through_all_stages(filled: KnowledgeBase, likes: Likes) -> None:
    before = order_of(filled)
    after = order_of(filled, rerank=True, rerank_timeout=ENOUGH)
    assert after.index("secret") == before.index("secret")
    assert not any("safe" in text for text in likes.read)


def test_without_a_graph_or_with_its_leg_off_nothing_is_walked(kb: KnowledgeBase, likes: Likes) -> None:
    kb.add(Memory("a", "A lamp on the shelf."), Memory("b", "Ada keeps the shelf."))
    hits = kb.recall("shelf", rerank=True, rerank_timeout=ENOUGH)
    assert [hit.external_id for hit in hits] == ["b", "a"] and hits[0].walk_score is None
    kb.build("phrases")
    assert kb.recall("shelf", legs=("lexical",), rerank=True, rerank_timeout=ENOUGH)[0].walk_score is None


def test_a_memory_that_is_not_in_the_graph_does_not_lose_by_it(filled: KnowledgeBase, likes: Likes) -> None:
    filled.add(Memory("new", "Bea keeps it on the shelf."))
    hits = filled.recall("shelf", legs=("lexical", "graph"), rerank=True, rerank_timeout=ENOUGH)
    assert {hit.external_id for hit in hits[:2]} == {"late", "new"}
    assert all(hit.walk_score for hit in hits[:2])
