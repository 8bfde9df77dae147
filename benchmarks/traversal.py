"""Personalised PageRank side by side with its peers, at equal error, per query with 10 seeds.

    python benchmarks/traversal.py            a table with ratios
    python benchmarks/traversal.py --json     the rows
    python benchmarks/traversal.py --quick    a smaller large graph, fewer queries

Every method gets the loosest of its parameters that meets the error: L1 at most 1e-5, or at least 0.99 of the top 100,
against igraph's PRPACK, in the mean over the queries. Building each peer's own graph is not timed. The methods take
turns query by query, each as often as the others; `ms` is the median over the queries of the best turn, `cpu_ms` the
same of the processor's time, which other work on the machine disturbs less. `floor_ms` is the time it takes to read
the matrix once at the measured memory bandwidth: what no iteration over all of it can beat.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import igraph
import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.pagerank import pagerank, warm
from hopgate.graph.walk.top_k import top_k
from hopgate.graph.walk.walk_graph import WalkGraph, edge_graph, mention_graph

L1, OVERLAP, TOP, SEEDS = 1e-5, 0.99, 100, 10
COLUMNS = 16
Seeds = list[int]
Run = Callable[[Seeds, float, Any], Any]


@dataclass(frozen=True)
class Method:
    """A way to PageRank: how to call it, and its parameters from loose to tight."""

    name: str
    run: Run
    parameters: Sequence[Any] = (None,)
    columns: int = 1


# Graphs


def prototype() -> WalkGraph:
    """5,452 memories and 19,907 concepts, document frequency 2..109; as cliques it would have 2.1 M edges."""
    rng = np.random.default_rng(0)
    memories, concepts = 5_452, 19_907
    frequency = np.arange(2, 110)
    chance = frequency**-1.83
    drawn = rng.choice(frequency, concepts, p=chance / chance.sum())
    width = rng.lognormal(0, 0.5, memories)
    keys = []
    for concept, count in enumerate(drawn):
        keys.append(
            np.stack([rng.choice(memories, count, replace=False, p=width / width.sum()), np.full(count, concept)])
        )
    memory, concept = np.concatenate(keys, axis=1)
    return mention_graph(memories, concepts, memory, concept)


def cliques(graph: WalkGraph) -> WalkGraph:
    """Expand each concept into a clique of its memories: the same proximity, many times the arcs."""
    across = graph.matrix[: graph.memories, graph.memories :]
    shared = (across @ across.T).tocoo()
    upper = shared.coords[0] < shared.coords[1]
    first, second = (part[upper] for part in shared.coords)
    return edge_graph(graph.memories, first, second, shared.data[upper], memories=graph.memories)


def large(nodes: int, edges: int) -> WalkGraph:
    """Mentions (70 %) and concept–concept edges (30 %) with hubs on one end, as in a store of many memories."""
    rng = np.random.default_rng(0)
    memories = nodes * 3 // 10
    concepts = nodes - memories
    names = rng.permutation(concepts)

    def popular(count: int) -> NDArray[Any]:
        return np.asarray(names[(concepts * rng.random(count) ** 2).astype(np.int64)])

    mentions = edges * 7 // 10
    return mention_graph(
        memories,
        concepts,
        rng.integers(0, memories, mentions),
        popular(mentions),
        source=popular(edges - mentions),
        target=rng.integers(0, concepts, edges - mentions),
    )


# Methods


def reference(graph: WalkGraph) -> Run:
    """igraph's PRPACK: the yardstick of both time and error."""
    matrix = graph.matrix.tocoo()
    upper = matrix.coords[0] <= matrix.coords[1]
    peer = igraph.Graph(n=graph.nodes, edges=np.stack(matrix.coords, axis=1)[upper])
    weights = matrix.data[upper].astype(float).tolist() if (matrix.data != 1).any() else None

    def run(seeds: Seeds, damping: float, _: Any) -> Any:
        return peer.personalized_pagerank(
            reset_vertices=seeds, damping=damping, directed=False, weights=weights, implementation="prpack"
        )

    return run


def python_peers(graph: WalkGraph) -> Iterator[Method]:
    """Peers that hold each edge as an object: tol means N times tol in both."""
    import networkx as nx
    import rustworkx as rx

    matrix = graph.matrix.tocoo()
    arcs = list(zip(*(ends.tolist() for ends in matrix.coords), matrix.data.tolist(), strict=True))
    tolerances = [10.0**-exponent / graph.nodes for exponent in range(1, 8)]
    undirected: nx.Graph[int] = nx.Graph()
    undirected.add_nodes_from(range(graph.nodes))
    undirected.add_weighted_edges_from(arcs)

    def networkx(seeds: Seeds, damping: float, tol: float) -> NDArray[Any]:
        start = dict.fromkeys(seeds, 1.0)
        scores = nx.pagerank(undirected, alpha=damping, personalization=start, tol=tol, max_iter=1000)
        return np.fromiter(scores.values(), float, graph.nodes)

    directed = rx.PyDiGraph()
    directed.add_nodes_from(list(range(graph.nodes)))
    directed.add_edges_from(arcs)

    def rustworkx(seeds: Seeds, damping: float, tol: float) -> NDArray[Any]:
        start = dict.fromkeys(seeds, 1.0)
        scores = rx.pagerank(directed, damping, weight_fn=float, personalization=start, tol=tol, max_iter=1000)
        return np.fromiter(scores.values(), float, graph.nodes)

    yield Method("networkx", networkx, tolerances)
    yield Method("rustworkx", rustworkx, tolerances)


def matrix_peers(graph: WalkGraph) -> Iterator[Method]:
    """Peers that walk a sparse matrix."""
    from fast_pagerank import pagerank_power
    from scipy.sparse import csr_matrix
    from sknetwork.ranking import PageRank

    adjacency = csr_matrix(graph.matrix.astype(float))
    transition = csr_matrix(adjacency.multiply(1 / graph.divisor))

    def scikit_network(seeds: Seeds, damping: float, steps: int) -> NDArray[Any]:
        model = PageRank(damping_factor=damping, n_iter=steps, tol=0)
        return np.asarray(model.fit_predict(adjacency, weights=dict.fromkeys(seeds, 1.0)))

    def fast_pagerank(seeds: Seeds, damping: float, tol: float) -> NDArray[Any]:
        return np.asarray(pagerank_power(adjacency, p=damping, personalize=_spread(graph, seeds), tol=tol))

    def scipy(seeds: Seeds, damping: float, steps: int) -> NDArray[Any]:
        start = _spread(graph, seeds)
        scores = start
        for _ in range(steps):
            scores = damping * (transition @ scores) + (1 - damping) * start
        return scores

    steps = (2, 3, 4, 6, 8, 10, 13, 17, 25, 35, 50, 75, 110)
    yield Method("scikit-network", scikit_network, steps)
    yield Method("fast-pagerank", fast_pagerank, [10.0**-exponent for exponent in range(1, 10)])
    yield Method("scipy", scipy, steps)


def ours(graph: WalkGraph) -> Iterator[Method]:
    """What the graph leg calls, with `top` and without; and a batch, which `hopgate graph stats` solves."""
    start = time.perf_counter()
    warm()
    note(f"compiling took {time.perf_counter() - start:.1f} s")

    def run(seeds: Seeds, damping: float, top: int | None) -> NDArray[Any]:
        return pagerank(graph, dict.fromkeys(seeds, 1.0), damping=damping, tolerance=L1, top=top)

    def batch(seeds: Seeds, damping: float, _: Any) -> NDArray[Any]:
        columns = np.repeat(_spread(graph, seeds)[:, None], COLUMNS, axis=1)
        return pagerank(graph, columns, damping=damping, tolerance=L1)

    # Asking for a longer top is a tighter parameter.
    tops = (TOP, 2 * TOP, 4 * TOP, None)
    yield Method("hopgate", run, tops)
    yield Method("hopgate, L1 1e-5", run)
    if graph.arcs < 1_000_000:
        yield Method("hopgate, batch, L1", batch, columns=COLUMNS)


# Measuring


def bandwidth() -> float:
    """Bytes a second that one core reads, best of five."""
    block = np.ones(32_000_000)
    return block.nbytes / min(_timed(lambda: np.dot(block, block))[1] for _ in range(5))


def rows(
    name: str,
    graph: WalkGraph,
    methods: Sequence[Method],
    dampings: Sequence[float],
    queries: int,
    turns: int,
    speed: float,
) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(1)
    pool = np.arange(graph.memories if graph.concepts else 0, graph.nodes)
    pool = pool[~graph.dangling[pool]]
    draws = [rng.choice(pool, SEEDS, replace=False).tolist() for _ in range(queries)]
    floor = (8 * graph.arcs + 4 * graph.nodes) / speed * 1000
    yard = reference(graph)
    for damping in dampings:
        first = [_timed(partial(yard, seeds, damping, None)) for seeds in draws]
        exact = [np.array(scores) for scores, *_ in first]
        chosen = [(method, *_loosest(method, damping, draws, exact)) for method in methods]
        # The yardstick's first turn has given the exact scores.
        spent: dict[str, list[list[tuple[float, float]]]] = {"igraph": [[turn[1:]] for turn in first]}
        spent |= {method.name: [[] for _ in draws] for method in methods}
        for turn in range(turns):
            for number, seeds in enumerate(draws):
                if turn:
                    spent["igraph"][number].append(_timed(partial(yard, seeds, damping, None))[1:])
                for method, parameter, *_ in chosen:
                    took = _timed(partial(method.run, seeds, damping, parameter))[1:]
                    spent[method.name][number].append((took[0] / method.columns, took[1] / method.columns))
        found = [_row(name, damping, "igraph", spent["igraph"], 0.0, 1.0, floor)]
        for method, _, error, overlap in chosen:
            found.append(_row(name, damping, method.name, spent[method.name], error, overlap, floor))
        ours = found[[row["method"] for row in found].index("hopgate")]
        for row in found:
            yield row | {
                f"{kind}times_hopgate": round(row[f"{kind}ms"] / ours[f"{kind}ms"], 2) for kind in ("", "cpu_")
            }


def _loosest(method: Method, damping: float, draws: list[Seeds], exact: list[NDArray[Any]]) -> tuple[Any, float, float]:
    """Find the loosest parameter that meets the error, and what it gives."""
    error = overlap = 0.0
    for parameter in method.parameters:
        results = [_one(method.run(seeds, damping, parameter)) for seeds in draws]
        error = float(np.mean([np.abs(a - b).sum() for a, b in zip(results, exact, strict=True)]))
        overlap = float(np.mean([_overlap(a, b) for a, b in zip(results, exact, strict=True)]))
        if error <= L1 or overlap >= OVERLAP:
            break
    return parameter, error, overlap


def _row(
    name: str,
    damping: float,
    method: str,
    spent: list[list[tuple[float, float]]],
    error: float,
    overlap: float,
    floor: float,
) -> dict[str, Any]:
    seconds, busy = (float(np.median([min(turn[k] for turn in turns) for turns in spent])) for k in (0, 1))
    return {
        "graph": name,
        "damping": damping,
        "method": method,
        "ms": round(seconds * 1000, 4),
        "cpu_ms": round(busy * 1000, 4),
        "l1_error": float(f"{error:.3g}"),
        "overlap100": round(overlap, 4),
        "floor_ms": round(floor, 4),
    }


def _one(scores: NDArray[Any]) -> NDArray[Any]:
    return scores if scores.ndim == 1 else np.asarray(scores[:, 0])


def _overlap(scores: NDArray[Any], exact: NDArray[Any]) -> float:
    return len(set(top_k(scores, TOP).tolist()) & set(top_k(exact, TOP).tolist())) / TOP


def _spread(graph: WalkGraph, seeds: Seeds) -> NDArray[Any]:
    start = np.zeros(graph.nodes)
    start[seeds] = 1 / len(seeds)
    return start


def _timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Give the result, the seconds it took and the processor's seconds."""
    start, busy = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - start, time.process_time() - busy


def compare(quick: bool, dampings: Sequence[float], graphs: Sequence[str]) -> Iterator[dict[str, Any]]:
    speed = bandwidth()
    note(f"memory bandwidth, one core: {speed / 1e9:.1f} GB/s")
    if "prototype" in graphs or "clique" in graphs:
        small = prototype()
        note(f"prototype: {small}")
    if "prototype" in graphs:
        methods = [*ours(small), *python_peers(small), *matrix_peers(small)]
        yield from rows("prototype", small, methods, dampings, 3 if quick else 6, 3, speed)
    if "clique" in graphs:
        expanded = cliques(small)
        note(f"clique: {expanded}: what not expanding saves; seeds are memories")
        methods = [*ours(expanded), *matrix_peers(expanded)]
        yield from rows("clique", expanded, methods, dampings[:1], 2, 2, speed)
    if "large" in graphs:
        size = (120_000, 1_200_000) if quick else (1_000_000, 10_000_000)
        big = large(*size)
        note(f"large: {big}")
        note("large: networkx and rustworkx left out: they hold 20 M arcs as Python objects, more than 10 GB")
        methods = [*ours(big), *matrix_peers(big)]
        yield from rows("large", big, methods, dampings, 2, 2, speed)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Personalised PageRank side by side with its peers.")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--quick", action="store_true", help="a smaller large graph and fewer queries")
    parser.add_argument("--graph", action="append", choices=["prototype", "clique", "large"], help="default: all")
    parser.add_argument("--damping", action="append", type=float, help="default: 0.5 and 0.85")
    chosen = parser.parse_args()
    found = []
    for row in compare(chosen.quick, chosen.damping or (0.5, 0.85), chosen.graph or ("prototype", "clique", "large")):
        found.append(row)
        note(
            f"{row['graph']:10} {row['damping']:<5} {row['method']:22} "
            f"{row['ms']:>11.2f} ms {row['cpu_ms']:>11.2f} cpu "
            f"L1 {row['l1_error']:.1e}  overlap {row['overlap100']:.3f}  {row['ms'] / row['floor_ms']:>8.1f} x floor"
        )
    note("\nhow many times hopgate's time each takes (by the processor's time)")
    for row in found:
        note(
            f"{row['graph']:10} {row['damping']:<5} {row['method']:22} "
            f"{row['times_hopgate']:>9.2f} ({row['cpu_times_hopgate']:.2f})"
        )
    if chosen.json:
        print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
