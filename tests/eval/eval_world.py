"""A small world with known answers: lists for three legs, and evidence made from them."""

from __future__ import annotations

import random
from dataclasses import replace

from hopgate.eval.data.dataset import Query
from hopgate.eval.gate.evidence import Arm, Evidence, GraphSource, Tuning
from hopgate.eval.gate.plan import Policy
from hopgate.eval.measures import score_all
from hopgate.eval.slices import All, HopCount, Known
from hopgate.recall.fuse import Importance, parse

CORPUS = 400
FAST = Policy(permutations=1999)


def lists(n, *, helps, seed=0, depth=50, prefix="q"):
    """Legs by query, and gold: each query has one memory the base legs find and one bridge they do not.

    `helps` is how often the graph leg puts the bridge among its first three; otherwise it is nowhere.
    """
    legs = {"lexical": {}, "dense": {}, "graph": {}}
    qrels = {}
    for i in range(n):
        name = f"{prefix}{i:03d}"
        rng = random.Random(f"{seed} {i}")
        memories = [f"m{j:04d}" for j in rng.sample(range(CORPUS), 150)]
        easy, bridge, rest = memories[0], memories[1], memories[2:]
        qrels[name] = {easy: 1, bridge: 1}
        common = rest[:30]

        def ranked(ids):
            return [(memory, 1.0 / rank) for rank, memory in enumerate(ids, 1)]

        def leg(own, first, share, common=common, rest=rest, rng=rng, easy=easy):
            pool = rng.sample(common, share) + rest[own : own + depth - share]
            rng.shuffle(pool)
            pool.insert(rng.randrange(first), easy)
            return ranked(list(dict.fromkeys(pool))[:depth])

        legs["lexical"][name] = leg(30, 5, 6)
        legs["dense"][name] = leg(80, 5, 6)
        graph = rng.sample(common, 3) + rest[124:148]
        rng.shuffle(graph)
        graph.insert(rng.randrange(5), easy)
        if rng.random() < helps:
            graph.insert(rng.randrange(3), bridge)
        legs["graph"][name] = ranked(graph)
    return legs, qrels


def fused(fuser, legs, names, *, prior=None, importance=None):
    value = parse(fuser)
    run = {}
    for query in qrels_of(legs):
        hits = value.fuse({leg: legs[leg].get(query, []) for leg in names})
        hits = prior.apply(hits, importance or {}) if prior else hits
        run[query] = [(hit.id, hit.score) for hit in hits]
    return run


def qrels_of(legs):
    return legs["lexical"]


def arm(name, fuser, legs, names, **more):
    return Arm(name, fused(fuser, legs, names), fuser, {leg: legs[leg] for leg in names}, **more)


def evidence(
    n=60, *, helps=0.8, control_helps=0.0, seed=0, weight=1.5, fuser=None, policy=FAST, exclude=False, prior=False,
    shuffles=20,
):  # fmt: skip
    legs, qrels = lists(n, helps=helps, seed=seed)
    base = {leg: legs[leg] for leg in ("lexical", "dense")}
    # Three graphs serve as many shuffles; one that helps finds the very bridges of this world.
    shuffled = [
        {**base, "graph": legs["graph"] if control_helps else lists(n, helps=0.0, seed=f"{seed} {i}")[0]["graph"]}
        for i in range(min(3, shuffles))
    ]
    found = {}
    if exclude:
        found = {"graph": legs["graph"]}
        legs = {**legs, "graph": _outside(legs)}
    text = fuser or f"RRF(k=60, lexical=1, dense=1, graph={weight})"
    queries = {name: Query(name, f"Question {name}?", {"hops": 2 + i % 2}) for i, name in enumerate(qrels)}
    every = ("lexical", "dense", "graph")
    importance = {f"m{i:04d}": (i % 11) / 10 for i in range(CORPUS)} if prior else {}
    challenger = arm("lexical+dense+graph", text, legs, every, found=found)
    if prior:
        run = fused(text, legs, every, prior=Importance(), importance=importance)
        challenger = replace(challenger, run=run, prior="Importance(floor=0.7)")
    arms = [
        arm("lexical", "RRF(dense=0, graph=0)", legs, ("lexical",)),
        arm("dense", "RRF(lexical=0, graph=0)", legs, ("dense",)),
        arm("lexical+dense", "RRF(k=60, lexical=1, dense=1, graph=0)", legs, ("lexical", "dense")),
        challenger,
    ]
    made = [arm("shuffle", text, each, every) for each in shuffled]
    shuffled = tuple(replace(made[i % len(made)], name=f"shuffle {i + 1}") for i in range(shuffles))
    known = Known(queries, qrels)
    dev = frozenset(f"d{i}" for i in range(40))
    tried = {f"RRF(k=60, lexical=1, dense=1, graph={w})": 0.5 for w in (0.5, 1, 1.5, 2)}
    made = Evidence(
        queries=queries,
        qrels=qrels,
        arms={each.name: each for each in arms},
        challenger="lexical+dense+graph",
        base="lexical+dense",
        shuffles=shuffled,
        slices={part: part.select(known) for part in (All(), HopCount(2), HopCount(3))},
        tuning={name: Tuning(dev, tried, carries=True) for name in ("lexical+dense", "lexical+dense+graph")},
        graph=GraphSource("abc", "triples.jsonl"),
        space="bge",
        corpus_size=CORPUS,
        importance=importance,
        policy=policy,
    )
    return replace(made, saved=saved_values(made))


def saved_values(made):
    return {name: score_all(made.primary, each.run, made.qrels) for name, each in made.arms.items()}


def _outside(legs):
    base = {q: {m for leg in ("lexical", "dense") for m, _ in legs[leg][q]} for q in qrels_of(legs)}
    return {q: [pair for pair in ranking if pair[0] not in base[q]] for q, ranking in legs["graph"].items()}


def prototype(n=60, *, helps=0.8, seed=0):
    """The earlier prototype: graph candidates only from outside the lexical∪dense pool, weighted 0.35."""
    made = evidence(n, helps=helps, seed=seed, weight=0.35, exclude=True)
    return replace(made, tuning={})
