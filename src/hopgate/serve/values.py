"""Values that many requests hold, and what makes them wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hopgate.memory import MAX_KEY_BYTES, YEARS
from hopgate.times import utc


class Strict(BaseModel):
    """A request: a field that is not known is refused, and a number is a number."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _dated(moment: datetime) -> datetime:
    if moment.year not in YEARS:
        raise ValueError(f"a date lies between the years {YEARS[0]} and {YEARS[-1]}")
    # PostgreSQL knows no zone that is further than 16 hours from UTC.
    return utc(moment).astimezone(UTC)


def _stored(text: str) -> str:
    if "\0" in text:
        raise ValueError("PostgreSQL has no NUL character in a text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no text") from None
    return text


Moment = Annotated[datetime, AfterValidator(_dated)]
"""A time; without a zone it is UTC."""

Text = Annotated[str, AfterValidator(_stored)]
"""A text that the store can hold."""

Key = Annotated[Text, Field(min_length=1, max_length=MAX_KEY_BYTES)]
"""The external id of a memory, or a scope."""

MemoryId = Annotated[Key, Path(description="The memory's external id.")]
# A bigint's own end.
# A scope's own concepts have negative ids.
ConceptId = Annotated[int, Path(description="The concept's id.", ge=1 - 2**63, le=2**63 - 1)]
Limit = Annotated[int, Query(description="At most so many.", ge=1, le=10_000)]
Offset = Annotated[int, Query(description="Leave out so many of the first.", ge=0, le=1_000_000_000)]
ScopeQuery = Annotated[list[Key] | None, Query(description="Only of this scope; again for more.", max_length=100)]
AsOf = Annotated[Moment | None, Query(description="As it was true at this time.")]
KnownAt = Annotated[Moment | None, Query(description="As it was known at this time.")]
