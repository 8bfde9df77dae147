"""The configurations that are tried on development queries: as many without the graph as with it."""

from __future__ import annotations

from hopgate.recall.fuse import MAX_WEIGHT, RRF, TM2C2, AnyFuser, StretchedRRF

KS = (5, 10, 20, 40, 60, 100)
# From one leg nearly alone to the other: 20 : 1 and back (docs/research/walking.md: the best weight may lie there).
RATIOS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0)
SWEPT_WEIGHTS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0)
GRAPH_RATIOS = (0.02, 0.1, 0.35, 0.7, 1.0, 1.5, 2.0, 4.0, 10.0, 30.0, 100.0)


def base_grid() -> list[AnyFuser]:
    """Fusers of the lexical and the dense leg alone, the plainest first.

    Examples
    --------
    >>> base_grid()[0], len(base_grid()) >= len(challenger_grid(base_grid()[0]))
    (RRF(k=60, lexical=1, dense=1, graph=0), True)
    """
    ratios = sorted(RATIOS, key=lambda ratio: abs(ratio - 1))
    pairs = [_scaled(lexical=1.0, dense=ratio) for ratio in ratios]
    pairs += [{"lexical": 1.0, "dense": 0.0}, {"lexical": 0.0, "dense": 1.0}]
    fusers: list[AnyFuser] = [
        RRF(k=k, graph=0).reweighed(**pair) for k in sorted(KS, key=lambda k: abs(k - 60)) for pair in pairs
    ]
    fusers += [TM2C2(graph=0).reweighed(**pair) for pair in pairs]
    fusers += [StretchedRRF(k=60, graph=0).reweighed(**pair) for pair in pairs[:-2]]
    return fusers


def challenger_grid(base: AnyFuser) -> list[AnyFuser]:
    """Fusers of all three legs, from a graph with hardly any weight to one that leads, the plainest first.

    They start from the tuned base: where its weights are best without the graph, adding a little of the graph to them
    must be among the choices, or a poor graph would do harm for want of one.
    """
    ratios = sorted(GRAPH_RATIOS, key=lambda ratio: abs(ratio - 1))
    own = (base.lexical / max(base.lexical, base.dense), base.dense / max(base.lexical, base.dense))
    ks = dict.fromkeys((60.0, 10.0, base.k if isinstance(base, RRF) else 60.0))
    fusers: list[AnyFuser] = []
    for lexical, dense in dict.fromkeys(((1.0, 1.0), own)):
        weights = [_scaled(lexical=lexical, dense=dense, graph=ratio) for ratio in ratios]
        fusers += [RRF(k=k).reweighed(**each) for k in ks for each in weights]
        fusers += [TM2C2().reweighed(**each) for each in weights]
    stretched = [_scaled(lexical=own[0], dense=own[1], graph=ratio) for ratio in ratios]
    return fusers + [StretchedRRF(k=60).reweighed(**each) for each in stretched]


def graph_share(fuser: AnyFuser) -> float:
    """How much of the weight the graph has.

    Examples
    --------
    >>> graph_share(RRF(graph=2))
    0.5
    """
    return fuser.graph / max(1e-12, fuser.lexical + fuser.dense + fuser.graph)


def _scaled(**weights: float) -> dict[str, float]:
    """Weights in these proportions within 0..5, so that 1 stays 1 where it can."""
    top = max(weights.values())
    factor = min(1.0, MAX_WEIGHT / top)
    return {name: round(weight * factor, 4) for name, weight in weights.items()}


def swept_fusers() -> list[RRF]:
    """Give plain RRF at a range of graph weights, for the plot that shows where the graph becomes reachable."""
    return [RRF(graph=weight) for weight in SWEPT_WEIGHTS]
