"""`/edges`: the edges of the graph, or of one concept."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from hopgate.serve.access import PREFIX
from hopgate.serve.api.models.graph import EdgeAnswer, EdgesAnswer
from hopgate.serve.api.models.values import AsOf, KnownAt, Limit, ScopeQuery, Text
from hopgate.serve.service import Served

if TYPE_CHECKING:
    from hopgate.graph.inspect.edges import Edge

router = APIRouter(prefix=f"{PREFIX}/edges", tags=["graph"])


@router.get("", response_model=EdgesAnswer)
def list_edges(
    served: Served,
    concept: Annotated[Text | None, Query(description="A concept's id, or one of its names.", max_length=1000)] = None,
    relation: Annotated[Text | None, Query(description="Only of this relation.", max_length=1000)] = None,
    scope: ScopeQuery = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 50,
) -> EdgesAnswer:
    """List edges, the heaviest first: those true as of a time, as known at a time."""
    served.require_rows(limit)
    found = served.kb.graph.edges(
        _named(concept),
        relation=relation,
        as_of=as_of,
        known_at=known_at,
        scope=served.scope(scope),
        limit=limit,
    )
    return EdgesAnswer(edges=[edge_answer(edge) for edge in found])


def edge_answer(edge: Edge) -> EdgeAnswer:
    """Give an edge as it is answered."""
    return EdgeAnswer(**asdict(edge))


def _named(concept: str | None) -> str | int | None:
    """A concept's id where it is a number, else its name.

    Examples
    --------
    >>> _named("17"), _named("atlas"), _named("٣")
    (17, 'atlas', '٣')
    """
    # As many digits as a bigint always holds.
    return int(concept) if concept is not None and re.fullmatch("[0-9]{1,18}", concept) else concept
