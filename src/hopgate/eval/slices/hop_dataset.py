"""A data set of made multi-hop questions, from another data set or from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopgate.corpus import to_record
from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset, NewDataset, write_dataset
from hopgate.eval.slices.hop_questions import build_hop_slice
from hopgate.eval.slices.latent import latent_space
from hopgate.extract.files import Triple
from hopgate.jsonl import json_lines
from hopgate.memory import Memory

if TYPE_CHECKING:
    from hopgate.kb import KnowledgeBase


@dataclass(frozen=True)
class HopSource:
    """Memories and the facts found in them.

    Parameters
    ----------
    name : str
        Where they come from, for errors.
    memories : sequence of Memory
    rows : sequence of mapping
        Rows of a `triples.jsonl`.
    """

    name: str
    memories: Sequence[Memory]
    rows: Sequence[Mapping[str, Any]]


def dataset_source(dataset: Dataset) -> HopSource:
    """Take a data set's memories and the rows of its `triples.jsonl`, with every field they have."""
    if not dataset.triples:
        raise HopgateError(f"{dataset.folder} has no triples.jsonl: questions are made from the facts in it")
    rows = [row for _, row in json_lines(dataset.folder / "triples.jsonl")]
    return HopSource(str(dataset.folder), dataset.memories, rows)


def store_source(kb: KnowledgeBase) -> HopSource:
    """Take a store's memories, and its graph as rows: a fact for each memory that is evidence of an edge."""
    graph = kb.graph.to_networkx(memories=True)
    names = {node: values["name"] for node, values in graph.nodes(data=True)}
    rows: list[dict[str, Any]] = []
    for source, target, edge in graph.edges(data=True):
        if graph.nodes[source]["type"] == "memory":
            rows.append({"doc_id": names[source], "entity": names[target]})
            continue
        fact = {"subject": names[source], "relation": edge["relation"], "object": names[target]}
        fact |= {name: edge[name] for name in ("valid_from", "valid_to") if name in edge}
        rows += [{"doc_id": memory, **fact} for memory in edge["evidence"]]
    if not rows:
        raise HopgateError("the store has no graph: run hopgate build first")
    return HopSource("the store", list(kb.export()), rows)


def build_hop_dataset(
    source: HopSource,
    out: Path,
    *,
    hops: int = 2,
    limit: int = 200,
    neighbours: int = 10,
    seed: int = 0,
    dev: float = 0.5,
) -> Dataset:
    """Write a data set of questions made from paths of facts, and of the facts that no question was made from.

    A gate on it builds its graph from the facts that are left, so that no question is judged with the facts it was
    made from. Two memories are adjacent or not by latent semantic analysis of their texts, which is no embedder under
    test. Sensitive memories are left out, and all that is known of them.

    Parameters
    ----------
    out : Path
        A new or empty folder.
    hops, limit, neighbours, seed : int
        As in `build_hop_slice`.
    dev : float
        Share of the questions that go to the split `dev`.
    """
    memories = [memory for memory in source.memories if not memory.is_sensitive]
    known = {memory.external_id for memory in memories}
    rows = [row for row in source.rows if row["doc_id"] in known]
    triples = [_triple(row) for row in rows]
    made = build_hop_slice(triples, latent_space(memories), hops=hops, limit=limit, neighbours=neighbours, seed=seed)
    if not made.queries:
        raise HopgateError(
            f"no path of {hops} facts in {source.name} makes a question: each fact needs one object and one memory, "
            f"and no two memories of a path may be among each other's {neighbours} nearest"
        )
    left = set(made.without(triples))
    data = NewDataset(
        corpus={memory.external_id: to_record(memory) for memory in memories},
        triples=[dict(row) for row, triple in zip(rows, triples, strict=True) if triple in left],
    )
    for query in made.queries.values():
        data.add(query, made.qrels[query.id])
    return write_dataset(out, data, dev)


def _triple(row: Mapping[str, Any]) -> Triple:
    return Triple(row["doc_id"], row.get("entity") or row["subject"], row.get("relation", ""), row.get("object", ""))
