"""A matrix's arcs between memories and its titles after a change."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopgate.graph.walk.changed_pairs import Ends
from hopgate.graph.walk.graph_rows import RowChanges
from hopgate.graph.walk.matrix import GraphMatrix, factors
from hopgate.graph.walk.node_numbers import NodeNumbers
from hopgate.store.graph.arc_rows import ARC_KINDS, Arcs
from hopgate.store.graph.link_rows import TITLED


class ChangedArcs(NamedTuple):
    """The fields of the matrix with memories numbered before and after together, and what went and came."""

    fields: dict[str, NDArray[Any]]
    gone: Ends
    now: Ends


class ChangedMentions(NamedTuple):
    """What the changed memories mention now, and the fields of titles, numbered before and after together."""

    ends: Ends
    fields: dict[str, NDArray[Any]]


def changed_arcs(matrix: GraphMatrix, changes: RowChanges, memories: NodeNumbers) -> ChangedArcs:
    """Replace the arcs of the memories around a change."""
    around = np.zeros(len(memories.union), bool)
    places = memories.places(changes.around)
    around[places[places >= 0]] = True
    source, target = memories.old[matrix.arc_source], memories.old[matrix.arc_target]
    touched = around[source] | around[target]

    near = np.isin(changes.arcs.source, changes.around) | np.isin(changes.arcs.target, changes.around)
    found = Arcs(*(part[near] for part in _parts(changes.arcs))).joined_once()
    first, second = memories.places(found.source), memories.places(found.target)
    weight = found.weight * factors(ARC_KINDS, matrix.config.relations)[found.kind]
    shown = (first >= 0) & (second >= 0) & (weight > 0)
    shown[shown] = memories.kept[first[shown]] & memories.kept[second[shown]]
    now = Ends(first[shown], second[shown], weight[shown])
    stay = ~touched
    return ChangedArcs(
        {
            "arc_source": np.concatenate([source[stay], now.first]),
            "arc_target": np.concatenate([target[stay], now.second]),
            "arc_weight": np.concatenate([matrix.arc_weight[stay], now.weight]),
            "arc_kind": np.concatenate([matrix.arc_kind[stay], found.kind[shown]]),
        },
        Ends(source[touched], target[touched], matrix.arc_weight[touched]),
        now,
    )


def changed_mentions(
    matrix: GraphMatrix, changes: RowChanges, memories: NodeNumbers, concepts: NodeNumbers
) -> ChangedMentions | None:
    """What memories that changed mention and are titled with; None where a concept is not there."""
    links = changes.mentions
    memory, concept = memories.places(links.memory), concepts.places(links.concept)
    weight = links.weight * factors(links.relations, matrix.config.relations)[links.relation]
    shown = (memory >= 0) & (weight > 0)
    shown[shown] = memories.kept[memory[shown]]
    if (concept[shown] < 0).any():
        return None
    titled = shown & np.array([name == TITLED for name in links.relations], bool)[links.relation]
    changed = np.zeros(len(memories.union), bool)
    places = memories.places(changes.changed.memories)
    changed[places[places >= 0]] = True
    before = memories.old[matrix.title_memory]
    stay = ~changed[before]
    return ChangedMentions(
        Ends(memory[shown], len(memories.union) + concept[shown], weight[shown]),
        {
            "title_memory": np.concatenate([before[stay], memory[titled]]),
            "title_concept": np.concatenate([concepts.old[matrix.title_concept[stay]], concept[titled]]),
        },
    )


def _parts(arcs: Arcs) -> tuple[NDArray[Any], ...]:
    return arcs.source, arcs.target, arcs.weight, arcs.kind
