"""Every hit accounts for its score: contributions, bonus and prior add up, and the ranks are the legs' own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from word_endpoint import WordEndpoint, serving

from hopgate import Memory
from hopgate.cli.recall import why
from hopgate.kb import KnowledgeBase
from hopgate.recall.completion import pooled
from hopgate.recall.fuse import active, total

pytestmark = pytest.mark.filterwarnings("ignore::hopgate.kb.BarredLegWarning")


@pytest.fixture
def endpoint() -> Iterator[WordEndpoint]:
    with serving() as running:
        yield running


@pytest.fixture
def filled(kb: KnowledgeBase, endpoint: WordEndpoint) -> KnowledgeBase:
    words = ["amber birch", "amber", "birch cedar", "cedar dune", "amber birch cedar", "dune"]
    kb.add(*(Memory(f"m{n}", text, importance=n / 10) for n, text in enumerate(words)))
    kb.embed(endpoint.spec)
    return kb


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"graph": 0},
        {"fuser": "RRF"},
        {"fuser": "TM2C2"},
        {"fuser": "StretchedRRF"},
        {"exact_match": 0.7},
        {"dense": 0},
    ],
)
def test_a_score_is_the_sum_of_its_parts(filled: KnowledgeBase, options: dict[str, Any]) -> None:
    settings = filled.settings(**options)
    legs, importance = filled.legs("amber birch", settings=settings)
    lists, unseen = pooled(legs.found, legs.scores, active(settings.fuser))
    for hit in filled.recall("amber birch", explain=True, **options):
        parts = total([part.contribution for part in hit.legs.values()] + list(hit.unseen.values()))
        assert set(hit.unseen) == {name for name, keys in unseen.items() if keys} - set(hit.legs)
        assert hit.score == pytest.approx((parts + hit.bonus) * hit.prior, rel=1e-12)
        assert hit.prior == pytest.approx(0.7 + 0.3 * hit.memory.importance)
        for name, part in hit.legs.items():
            key, score = lists[name][part.rank - 1]
            assert score == part.score
            assert importance[key] == hit.memory.importance


def test_nothing_is_explained_unasked(filled: KnowledgeBase) -> None:
    (hit, *_) = filled.recall("amber")
    assert hit.legs == {} and hit.path == ()
    assert "legs" not in hit.to_dict()


def test_json_and_words(filled: KnowledgeBase) -> None:
    (hit, *_) = filled.recall("amber birch", explain=True, exact_match=0.5)
    told = json.loads(json.dumps(hit.to_dict()))
    assert {"rank", "_id", "score", "content", "importance", "scope", "created_at", "legs", "bonus", "prior"} <= set(
        told
    )
    assert set(told["legs"]["lexical"]) == {"rank", "score", "contribution"}
    lines = why(hit).splitlines()
    assert lines[0].startswith("lexical #") and lines[-1].startswith("prior ×")
    assert any(line.startswith("exact match") for line in lines)
