"""How queries are asked: settings and filters, read once for one query or for many; many are embedded in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hopgate.recall.filters import Filters, Query, Scopes, read_filters
from hopgate.recall.hit import Hit
from hopgate.recall.legs import RecallPipeline
from hopgate.recall.recall import recall
from hopgate.recall.settings import RecallOptions, Settings, StoreSettings
from hopgate.store import vectors
from hopgate.store.store import retried
from hopgate.store.where import Conditions
from hopgate.times import When

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.embed.late import QueryTokens
    from hopgate.store.fill import Embedding
    from hopgate.store.vectors import EmbeddingSpace

FILTERS = ("scope", "exclude", "as_of", "known_at", "cluster", "where")
# Queries that are embedded in one batch, and that are asked side by side.
BATCH, SIDE_BY_SIDE = 64, 3


class AskOptions(RecallOptions, total=False):
    """The filters and settings of a recall."""

    legs: Sequence[str] | None
    scope: Scopes
    exclude: Sequence[str]
    as_of: When | None
    known_at: When | None
    include_superseded: bool
    cluster: int | None
    where: Conditions | str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """How queries are asked: what they pass through, with which settings, and which memories they may find."""

    pipeline: RecallPipeline
    settings: Settings
    filters: Filters

    @classmethod
    def of(cls, pipeline: RecallPipeline, stored: StoreSettings, options: AskOptions) -> Asked:
        """Read settings and filters from the options of a recall."""
        changes = dict[str, Any](options)
        legs, superseded = changes.pop("legs", None), bool(changes.pop("include_superseded", False))
        narrowed: dict[str, Any] = {name: changes.pop(name) for name in FILTERS if name in changes}
        settings = stored.resolve(changes).settings
        settings = settings if legs is None else settings.only(legs)
        filters = read_filters(pipeline.store, superseded=superseded, **narrowed)
        return cls(pipeline.set_as(settings), settings, filters)

    def hits(self, text: str, *, explain: bool = False, exact: bool | None = None) -> list[Hit]:
        """Ask one query."""
        query = Query(text, self.filters, exact=exact)
        # A change of the embedder may meet a query in the middle: it is asked again.
        return retried(lambda: recall(self.pipeline, query, self.settings, explain=explain))

    def many(
        self, texts: Sequence[str], embedding: Embedding, *, explain: bool = False, exact: bool | None = None
    ) -> dict[str, list[Hit]]:
        """Ask many queries side by side, each text once."""
        distinct, found = list(dict.fromkeys(texts)), dict[str, list[Hit]]()
        batches = [distinct[start : start + BATCH] for start in range(0, len(distinct), BATCH)]
        ask = partial(Asked.hits, explain=explain, exact=exact)
        embed = partial(EmbeddedAhead.of, embedding, self.pipeline, self.settings)
        with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            # What comes next is embedded while a batch is asked: models leave Python to others.
            for batch, ahead in zip(batches, reader.map(embed, batches), strict=True):
                asked = replace(self, pipeline=replace(self.pipeline, embedder=ahead))
                found |= zip(batch, threads.map(partial(ask, asked), batch), strict=True)
        return found


@dataclass(frozen=True, slots=True)
class EmbeddedAhead:
    """Queries' vectors and tokens, made in one batch; where the store's models changed since, made anew."""

    embedding: Embedding
    space: EmbeddingSpace | None
    vectors: dict[str, NDArray[np.float32]]
    tokens: dict[str, QueryTokens]

    @classmethod
    def of(
        cls, embedding: Embedding, pipeline: RecallPipeline, settings: Settings, texts: Sequence[str]
    ) -> EmbeddedAhead:
        """Embed queries for the legs that have a weight."""
        active = settings.fuser.active
        space = pipeline.store.run(vectors.space) if {"dense", "late"} & set(active) else None
        ahead = cls(embedding, space, {}, {})
        if space is not None and "dense" in active:
            ahead.vectors.update(zip(texts, embedding.queries(texts, space), strict=True))
        if space is not None and "late" in active and (late := embedding.late(space)):
            from hopgate.embed.bundled import side_by_side

            ahead.tokens.update(zip(texts, side_by_side(late.query_tokens, texts), strict=True))
        return ahead

    def query(self, text: str, space: EmbeddingSpace | None = None) -> NDArray[np.float32]:
        """Give a query's vector in the store's space."""
        known = self.space is not None and space is not None and space.identity.key == self.space.identity.key
        return self.vectors[text] if known else self.embedding.query(text, space)

    def query_tokens(self, text: str, space: EmbeddingSpace) -> QueryTokens | None:
        """Give a query's tokens by the model that makes the store's; none where it keeps none."""
        known = self.space is not None and space.late == self.space.late and text in self.tokens
        return self.tokens[text] if known else self.embedding.query_tokens(text, space)

    def load(self, space: EmbeddingSpace) -> None:
        """Nothing: the models were asked."""
