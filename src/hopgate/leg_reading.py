"""What an evaluation asks of a knowledge base: the legs before fusion, exact matches, and every memory's id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hopgate.recall.filters import Filters, Query, check_query
from hopgate.recall.legs import Legs, RecallPipeline, pool_of, run_legs
from hopgate.recall.lexical import exact_matches
from hopgate.store import memories, vectors

if TYPE_CHECKING:
    from hopgate.recall.graph_leg import GraphLeg
    from hopgate.recall.settings import Settings, StoreSettings
    from hopgate.store.fill import Embedding
    from hopgate.store.store import Store


class LegReading:
    """The part of `KnowledgeBase` that an evaluation reads."""

    store: Store
    store_settings: StoreSettings
    _pipeline: RecallPipeline
    _embedding: Embedding

    def keep_queries(self) -> None:
        """Keep queries' vectors in the cache from now on: an evaluation asks the same ones again."""
        if self.store.run(vectors.has_space):
            self._embedding.embedder().keep_queries = True

    def legs(
        self,
        query: str,
        *,
        settings: Settings | None = None,
        scope: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        exact: bool | None = None,
        graphs: Mapping[str, GraphLeg] | None = None,
    ) -> tuple[Legs, dict[int, float]]:
        """Run the legs alone, before fusion: their lists by the store's ids, and the importance of what they found.

        Parameters
        ----------
        graphs : mapping of name to GraphLeg
            Further graph legs to run on the same base hits: other walks, controls.
        """
        text, filters = check_query(query), Filters(scope, as_of=as_of, known_at=known_at)
        settings = settings or self.store_settings.resolve().settings
        legs = run_legs(self._pipeline, Query(text, filters, exact=exact), settings, further=graphs)
        with self.store.transaction() as connection:
            known = memories.weights(connection, sorted(pool_of(legs.found)))
        return legs, {key: importance for key, (importance, _) in known.items()}

    def exact_matches(self, query: str, external_ids: Sequence[str]) -> set[str]:
        """Give those of the memories that the exact-match bonus of recall would go to: for an evaluation of it."""
        with self.store.transaction() as connection:
            known = memories.external_ids(connection, memories.ids_of(connection, external_ids))
            return {known[key] for key in exact_matches(connection, query, list(known))}

    def id_map(self) -> dict[int, str]:
        """Every memory's external id by the store's own."""
        with self.store.transaction() as connection:
            return memories.external_ids(connection, memories.all_ids(connection))
