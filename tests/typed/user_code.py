"""Code as a user writes it, for mypy alone: where an ignore below is not needed, `make types` fails."""

from datetime import datetime

import hopgate


def right(kb: hopgate.KnowledgeBase) -> list[hopgate.Hit]:
    settings: hopgate.Settings = kb.settings(graph=2, k=5)
    kb.build(rebuild=True, single_valued={"runs on"})
    names: list[str] = [concept.name for concept in kb.graph.concepts(limit=settings.k)]
    ends: list[datetime | None] = [edge.valid_to for edge in kb.graph.edges(names[0])]
    assert ends
    return kb.recall("x", k=3, graph=2.0, fuser=hopgate.RRF(k=10), sort_by="recency")


def wrong(kb: hopgate.KnowledgeBase) -> None:
    kb.recall("x", colour=1)  # type: ignore[call-arg]
    kb.recall("x", sort_by="size")  # type: ignore[arg-type]
    kb.build(rebuild="yes")  # type: ignore[arg-type]
    hopgate.nothing  # type: ignore[attr-defined]  # noqa: B018
