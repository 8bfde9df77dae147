"""The configurations that are tried on development queries: as many without the graph as with it."""

from __future__ import annotations

import math

from hopgate.recall.completion import BASE_FUSER
from hopgate.recall.fuse import MAX_WEIGHT, RRF, TM2C2, AnyFuser, MinMax

KS = (5, 10, 20, 40, 60, 100)
# From one leg nearly alone to the other: 20 : 1 and back (docs/research/walking.md: the best weight may lie there).
RATIOS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0)
SWEPT_WEIGHTS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0)
GRAPH_RATIOS = (0.02, 0.1, 0.35, 0.7, 1.0, 1.5, 2.0, 4.0, 8.0, 10.0, 30.0, 100.0)
# A leg that is off is as far away as one at a hundredth.
OFF = 0.01


def base_grid(default: AnyFuser) -> list[AnyFuser]:
    """Fusers of the lexical and the dense leg alone; the default without its graph is the first.

    The default's base is recall's own wherever it is in the same proportions.

    Examples
    --------
    >>> grid = base_grid(RRF(graph=1.4))
    >>> grid[0], len(grid) >= len(challenger_grid(RRF(graph=1.4), grid[0]))
    (RRF(k=60, lexical=1, dense=1, graph=0), True)
    >>> base_grid(MinMax(lexical=0.015, dense=0.035, graph=5))[0]
    MinMax(lexical=0.3, dense=0.7, graph=0)
    """
    pairs = [_scaled(lexical=1.0, dense=ratio) for ratio in RATIOS]
    pairs += [{"lexical": 1.0, "dense": 0.0}, {"lexical": 0.0, "dense": 1.0}]
    kinds: list[AnyFuser] = [default, *(RRF(k=k) for k in KS), TM2C2(), MinMax()]
    fusers = [kind.reweighed(**pair, graph=0) for kind in kinds for pair in pairs]
    plain = default.reweighed(graph=0)
    return _ordered(fusers, BASE_FUSER if _same(plain, BASE_FUSER) else plain)


def challenger_grid(default: AnyFuser, base: AnyFuser) -> list[AnyFuser]:
    """Fusers of all three legs, from a graph with hardly any weight to one that leads; the default is the first.

    They start from the default's weights and from the tuned base's: where its weights are best without the graph,
    adding a little of the graph to them must be among the choices, or a poor graph would do harm for want of one.
    """
    pairs = dict.fromkeys((_pair(default), _pair(base)))
    kinds: list[AnyFuser] = [default, MinMax(), RRF(k=60), TM2C2()]
    if isinstance(base, RRF):
        kinds.append(RRF(k=base.k))
    fusers = [
        kind.reweighed(**_scaled(lexical=lexical, dense=dense, graph=ratio))
        for kind in kinds
        for lexical, dense in pairs
        for ratio in GRAPH_RATIOS
    ]
    return _ordered(fusers, default)


def distance(fuser: AnyFuser, default: AnyFuser) -> float:
    """How far a configuration is from the default, by the ratios of its weights.

    Nearest the default is what "plain" means: not the least of the graph, nor the most. Both ends were tried and both
    make straw men, the one of a graph that cannot be heard and the other of one that drowns the rest. k counts little
    because it changes little; another kind of fuser is 1 further away.

    Examples
    --------
    >>> distance(RRF(), RRF()), round(distance(RRF(graph=5), RRF()), 2), round(distance(TM2C2(), RRF()), 2)
    (0.0, 1.61, 1.0)
    >>> distance(RRF(lexical=0.05, dense=0.05, graph=5), RRF()) > distance(RRF(graph=0.35), RRF())
    True
    """
    (own, heard), (theirs, plain) = _ratios(fuser), _ratios(default)
    away = abs(own - theirs) + (abs(heard - plain) if fuser.graph or default.graph else 0.0)
    if type(fuser) is not type(default):
        return away + 1.0
    k, usual = getattr(fuser, "k", 1.0), getattr(default, "k", 1.0)
    return away + 0.2 * abs(math.log(max(k, OFF) / max(usual, OFF)))


def _same(one: AnyFuser, other: AnyFuser) -> bool:
    """Whether two configurations rank alike: the same kind in the same proportions."""
    return type(one) is type(other) and distance(one, other) < 1e-9


def _ordered(fusers: list[AnyFuser], default: AnyFuser) -> list[AnyFuser]:
    """The default, then the others from the nearest; ties in the order given."""
    return sorted(dict.fromkeys([default, *fusers]), key=lambda fuser: distance(fuser, default))


def _ratios(fuser: AnyFuser) -> tuple[float, float]:
    """The logarithms of dense to lexical, and of the graph to both."""
    lexical, dense, graph = (max(OFF, weight) for weight in (fuser.lexical, fuser.dense, fuser.graph))
    return math.log(dense / lexical), math.log(graph / math.sqrt(lexical * dense))


def _pair(fuser: AnyFuser) -> tuple[float, float]:
    """The weights of the lexical and the dense leg, the larger of them 1."""
    top = max(fuser.lexical, fuser.dense) or 1.0
    return round(fuser.lexical / top, 4), round(fuser.dense / top, 4)


def _scaled(**weights: float) -> dict[str, float]:
    """Weights in these proportions within 0..5, so that 1 stays 1 where it can."""
    factor = min(1.0, MAX_WEIGHT / max(weights.values()))
    return {name: round(weight * factor, 4) for name, weight in weights.items()}
