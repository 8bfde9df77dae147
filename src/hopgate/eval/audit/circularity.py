"""(5) Queries made from a graph may not be judged with that graph."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit.case import Case
from hopgate.eval.audit.check import Check, failed, passed, skipped

NAME = "circularity"


def circularity(case: Case) -> Check:
    """Compare the graph each query was made from, and the facts used, with the graph under test."""
    made = {name: case.evidence.queries[name].metadata for name in case.evidence.qrels}
    made = {name: metadata for name, metadata in made.items() if metadata.get("graph")}
    graph = case.evidence.graph
    if not made:
        return skipped(NAME, "no query was made from a graph")
    if graph is None:
        return failed(NAME, f"{len(made)} queries were made from a graph, and nothing says which graph is under test")
    circular = []
    for name, metadata in made.items():
        facts = metadata.get("facts")
        if facts and graph.facts is not None:
            if not graph.facts.isdisjoint(facts):
                circular.append(name)
        elif metadata["graph"] == graph.fingerprint:
            circular.append(name)
    figures: dict[str, Any] = {"made_from_a_graph": len(made), "circular": len(circular)}
    if circular:
        detail = (
            f"{len(circular)} of {len(made)} made queries rest on facts of the graph under test "
            f"({graph.fingerprint}): build it without the facts they hold out"
        )
        return failed(NAME, detail, **figures)
    return passed(NAME, f"the {len(made)} made queries rest on no fact of the graph under test", **figures)
