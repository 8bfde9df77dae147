"""A matrix's typed edges after a change, and the pairs of concepts that they join otherwise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.arc_splice import Csr
from hopgate.graph.walk.changed_pairs import Ends, Pairs, added, among, joined
from hopgate.graph.walk.graph_rows import RowChanges
from hopgate.graph.walk.matrix import GraphMatrix, factors, positions
from hopgate.graph.walk.node_numbers import NodeNumbers


class ChangedEdges(NamedTuple):
    """The fields of the matrix with concepts numbered before and after together, and what went and came."""

    fields: dict[str, Any]
    gone: Ends
    new: Ends

    def pairs(self, csr: Csr, split: int) -> Pairs:
        """The pairs that are joined otherwise; concepts are numbered from `split` on."""
        nodes = len(csr.indptr) - 1
        gone, new = (Ends(split + ends.first, split + ends.second, ends.weight) for ends in (self.gone, self.new))
        if not len(gone.first):
            return added(csr, nodes, new)
        # What else joins them is found among all edges.
        parted = joined(nodes, gone, new)
        every = Ends(self.fields["edge_source"], self.fields["edge_target"], self.fields["edge_weight"])
        own = Pairs(parted.first - split, parted.second - split, parted.weight)
        still = among(own, every, nodes - split)
        return joined(nodes, gone, Ends(split + still.first, split + still.second, still.weight))


def changed_edges(matrix: GraphMatrix, changes: RowChanges, concepts: NodeNumbers) -> ChangedEdges | None:
    """Replace the edges that changed; None where one joins a concept that is not there."""
    edges = changes.edges
    source, target = concepts.places(edges.source), concepts.places(edges.target)
    if min(source.min(initial=0), target.min(initial=0)) < 0:
        return None
    weight = edges.weight * factors(edges.relations, matrix.config.relations)[edges.relation]
    relations = (*matrix.relations, *(name for name in edges.relations if name not in matrix.relations))
    number = np.array([relations.index(name) for name in edges.relations], np.int32)
    rows = positions(matrix.edge_id, np.asarray(changes.changed.edges, np.int64))
    rows, walked = np.sort(rows[rows >= 0]), weight > 0
    old = (matrix.edge_source, matrix.edge_target)
    if not concepts.appended:
        old = (concepts.old[old[0]].astype(np.int32), concepts.old[old[1]].astype(np.int32))
    new: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
        "edge_source": (old[0], source.astype(np.int32)),
        "edge_target": (old[1], target.astype(np.int32)),
        "edge_relation": (matrix.edge_relation, number[edges.relation]),
        "edge_weight": (matrix.edge_weight, weight),
        "edge_id": (matrix.edge_id, edges.id),
    }
    at = np.searchsorted(matrix.edge_id, edges.id[walked])
    fields: dict[str, Any] = {name: _replaced(before, rows, at, now[walked]) for name, (before, now) in new.items()}
    fields["relations"] = relations
    if len(rows):
        # A relation that no edge has any more was read in a text that may have turned sensitive.
        used = np.flatnonzero(np.bincount(fields["edge_relation"], minlength=len(relations)))
        numbers = np.zeros(len(relations), np.int32)
        numbers[used] = np.arange(len(used))
        fields["relations"] = tuple(relations[one] for one in used)
        fields["edge_relation"] = numbers[fields["edge_relation"]]
    return ChangedEdges(
        fields,
        Ends(old[0][rows].astype(np.int64), old[1][rows].astype(np.int64), matrix.edge_weight[rows]),
        Ends(source[walked], target[walked], weight[walked]),
    )


def _replaced(old: NDArray[Any], gone: NDArray[np.int64], at: NDArray[np.int64], new: NDArray[Any]) -> NDArray[Any]:
    """Leave out some rows, and insert others before places of the old."""
    cuts = sorted(
        [*((place, 0, row) for row, place in enumerate(at.tolist())), *((row, 1, 0) for row in gone.tolist())]
    )
    pieces, start = [], 0
    for place, leaves_out, row in cuts:
        pieces += [old[start:place], new[row : row + 1 - leaves_out]]
        start = place + leaves_out
    return np.concatenate([*pieces, old[start:]]) if pieces else old
