"""Completed lists: the quick table is what recall's last steps give, with lifting, a prior, ties and blind spots."""

from __future__ import annotations

from dataclasses import replace

import pytest
from eval_world import CORPUS, lists

from hopgate.eval.arms.controls import concept_boost_arm, prototype_arm
from hopgate.eval.arms.fused_runs import fused_arm, fused_run, remade_run
from hopgate.eval.arms.grid import base_grid, challenger_grid
from hopgate.eval.arms.leg_lists import LegLists
from hopgate.eval.arms.score_table import run_values, score_table
from hopgate.eval.data.runs import ordered
from hopgate.recall.completion import BASE_FUSER, pooled
from hopgate.recall.fuse import Importance, MinMax
from hopgate.recall.settings import DEFAULT_FUSER


def completed(seed: int = 4, *, unseen: bool = False) -> tuple[LegLists, dict[str, dict[str, int]]]:
    """Lists of which every leg scores the whole pool; with `unseen` the dense leg cannot see every ninth memory."""
    found, qrels = lists(12, helps=0.7, seed=seed, depth=20)
    scores: dict[str, dict[str, list[tuple[str, float]]]] = {leg: {} for leg in found}
    base = {}
    for query in qrels:
        pool = sorted({memory for leg in found for memory, _ in found[leg][query]})
        for leg in found:
            own = dict(found[leg][query])
            low = min(own.values())
            known = {m: own.get(m, low * (1 + hash_of(leg, m)) / 3) for m in pool}
            if unseen and leg == "dense":
                known = {m: score for m, score in known.items() if m in own or int(m[1:]) % 9}
            scores[leg][query] = sorted(known.items(), key=lambda pair: (-pair[1], pair[0]))
        legs, not_seen = pooled(
            {leg: found[leg][query] for leg in found}, {leg: scores[leg][query] for leg in found}, ("lexical", "dense")
        )
        base[query] = [(hit.id, hit.score) for hit in BASE_FUSER.fuse(legs, unseen=not_seen)]
    blind = {query: [memory for memory, _ in ranking[1:3]] for query, ranking in base.items() if query.endswith("3")}
    importance = {f"m{i:04d}": (i % 11) / 10 for i in range(CORPUS)}
    return LegLists(scores, found, base, blind, importance, Importance(), into=10), qrels


def hash_of(leg: str, memory: str) -> float:
    return (int(memory[1:]) * (7 if leg == "lexical" else 13)) % 97 / 97


@pytest.mark.parametrize("unseen", [False, True])
def test_the_quick_table_is_what_fusing_gives(unseen):
    world, qrels = completed(unseen=unseen)
    fusers = [*challenger_grid(DEFAULT_FUSER, BASE_FUSER)[::5], *base_grid(DEFAULT_FUSER)[::30]]
    table = score_table(fusers, world, qrels, 10)
    for column, fuser in enumerate(fusers):
        assert table[:, column] == pytest.approx(run_values(fused_run(fuser, world, qrels), qrels, 10)), fuser


def test_the_first_of_every_leg_is_in_the_top_k_and_what_is_blind_near_the_top():
    world, qrels = completed()
    run = fused_run(MinMax(lexical=0.01, dense=0.01, graph=5), replace(world, prior=None), qrels)
    for query in qrels:
        top = ordered(run[query])
        assert all(world.scores[leg][query][0][0] in top[:10] for leg in ("lexical", "dense", "graph"))
        assert world.base[query][0][0] in top[:3]
        assert set(world.blind.get(query, ())) <= set(top[:3])


def test_every_arm_can_be_made_again():
    world, qrels = completed(unseen=True)
    arms = [
        fused_arm("all", DEFAULT_FUSER, world, list(qrels), {}),
        fused_arm("bonus", DEFAULT_FUSER, world, list(qrels), {}, bonus="ExactMatch(bonus=0.5)",
                  matched={query: [world.base[query][5][0]] for query in qrels}),
        concept_boost_arm(DEFAULT_FUSER, world, list(qrels), {}),
        prototype_arm(world, list(qrels), {}),
    ]  # fmt: skip
    for arm in arms:
        assert remade_run(arm, qrels, world.importance) == arm.run
    # What a leg could not see, or was lifted for being blind to it, decides too: without it the run is another one.
    assert remade_run(replace(arms[0], blind={}), qrels, world.importance) != arms[0].run
