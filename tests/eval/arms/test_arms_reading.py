"""A cross-encoder over every arm: bases and challenger alike, each pair read once, and the runs can be made again."""

from __future__ import annotations

from eval_world import lists

from hopgate.eval.arms.ablation import ablate
from hopgate.eval.arms.collect import Collected
from hopgate.eval.arms.cross_reading import CrossReading
from hopgate.eval.arms.fused_runs import remade_run, reread
from hopgate.eval.arms.leg_lists import GraphLists, LegLists
from hopgate.eval.data.dataset import Query
from hopgate.eval.measures import Recall, mean_score
from hopgate.memory import Cleared


def test_every_base_and_the_challenger_are_re_read():
    legs, qrels = lists(22, helps=0.8, seed=1)
    dev, dev_qrels = lists(22, helps=0.8, seed=2, prefix="d")
    both = {leg: {**legs[leg], **dev[leg]} for leg in legs}
    gold = {**qrels, **dev_qrels}
    queries = {name: Query(name, name) for name in gold}
    texts = {f"m{i:04d}": Cleared(f"m{i:04d}") for i in range(400) if i % 10}  # every tenth is sensitive
    asked = []

    def score(query, found):
        asked.extend((query, memory) for memory, _ in found)
        return {memory: float(memory in gold[query]) for memory, _ in found}

    reading = CrossReading(queries, texts, score)
    collected = Collected(LegLists(both), (GraphLists(both["graph"], both["graph"]),))
    made = ablate(collected, dev_qrels, qrels, k=10, settings={}, more=False, reading=reading)
    assert made.challenger == "lexical+dense+graph, re-read"
    assert made.base.endswith(", re-read")
    assert {"lexical", "lexical, re-read", "dense, re-read", "lexical+dense, re-read"} <= made.arms.keys()
    assert len(asked) == len(set(asked))
    for arm in (made.arms[made.challenger], made.arms[made.base], *made.shuffles):
        assert remade_run(arm, qrels, {}) == {query: arm.run[query] for query in qrels}
    plain = made.arms["lexical+dense+graph"]
    assert mean_score(Recall(2), made.arms[made.challenger].run, qrels) > mean_score(Recall(2), plain.run, qrels)


def test_what_was_not_read_keeps_its_place():
    ranking = [("a", 3.0), ("secret", 2.0), ("b", 1.0)]
    assert [memory for memory, _ in reread(ranking, {"a": 0.1, "b": 0.9})] == ["b", "secret", "a"]
    assert [memory for memory, _ in reread(ranking, {})] == ["a", "secret", "b"]
