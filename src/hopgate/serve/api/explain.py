"""`POST /explain`: why a memory is a hit of a query, or why it is not."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from fastapi import APIRouter

from hopgate.serve.access import PREFIX
from hopgate.serve.api.models.explain import ExplainAnswer, ExplainRequest, LegSightAnswer
from hopgate.serve.api.recall import changes_of, filters_of
from hopgate.serve.service import Served

if TYPE_CHECKING:
    from hopgate.recall.why_not import ExplainOptions

router = APIRouter(prefix=PREFIX, tags=["recall"])


@router.post("/explain", response_model=ExplainAnswer)
def explain(asked: ExplainRequest, served: Served) -> ExplainAnswer:
    """Say where a memory is among a query's hits, or why it is not there."""
    memory = served.memory(asked.id)
    options = {"legs": asked.legs, **filters_of(asked, served), **changes_of(asked, served)}
    found = served.kb.explain(asked.query, memory.external_id, **cast("ExplainOptions", options))
    return ExplainAnswer(
        id=found.external_id,
        present=found.present,
        rank=found.rank,
        legs={name: LegSightAnswer(**asdict(sight)) for name, sight in found.legs.items()},
        removed_by=list(found.removed_by),
        sentence=found.sentence,
    )
