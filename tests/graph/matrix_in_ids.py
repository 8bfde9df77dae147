"""What a matrix says, by the store's ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopgate.graph.walk.matrix import GraphMatrix


def in_ids(matrix: GraphMatrix) -> dict[str, Any]:
    """What a matrix says, by the store's ids: independent of how rows came and groups are numbered."""
    graph, nodes = matrix.graph, np.concatenate([matrix.memory_ids, -matrix.concept_ids - 1])
    arcs = graph.matrix.tocoo()
    weights = zip(nodes[arcs.coords[0]].tolist(), nodes[arcs.coords[1]].tolist(), arcs.data.tolist(), strict=True)
    scopes: dict[int, set[int]] = {}
    for key, scope in zip(matrix.memory_ids.tolist(), matrix.memory_scope.tolist(), strict=True):
        scopes.setdefault(scope, set()).add(key)
    edges = zip(matrix.edge_id, matrix.edge_source, matrix.edge_target, matrix.edge_weight, matrix.edge_relation,
                strict=True)  # fmt: skip
    joined = zip(matrix.arc_source, matrix.arc_target, matrix.arc_weight, matrix.arc_kind, strict=True)
    titles = zip(matrix.title_memory, matrix.title_concept, strict=True)
    return {
        "version": matrix.version,
        "memories": matrix.memory_ids.tolist(),
        "concepts": matrix.concept_ids.tolist(),
        "arcs": sorted((one, other, round(weight, 4)) for one, other, weight in weights),
        "scopes": sorted(map(sorted, scopes.values())),
        "edges": sorted((int(key), int(matrix.concept_ids[one]), int(matrix.concept_ids[other]), float(weight),
                         matrix.relations[relation]) for key, one, other, weight, relation in edges),
        "neighbours": sorted((int(matrix.memory_ids[one]), int(matrix.memory_ids[other]), float(weight), int(kind))
                             for one, other, weight, kind in joined),
        "titles": sorted((int(matrix.memory_ids[one]), int(matrix.concept_ids[other])) for one, other in titles),
    }  # fmt: skip
