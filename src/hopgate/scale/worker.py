"""What one worker does for a backfill: embed batches, survey and read ranges; its models are loaded once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hopgate.embed.spec import embedder_from
from hopgate.errors import LostServerError, UnreachableError, WithdrawnError
from hopgate.graph.build.range_reading import RangeReader, RangeResult, Surveys
from hopgate.memory import Cleared, Memory, cleared
from hopgate.passages import passage_text, passages
from hopgate.scale.embedded_texts import EmbeddedTexts
from hopgate.scale.guarded_texts import GuardedTexts
from hopgate.scale.kept_reason import reason_of
from hopgate.sending import check_sending, guarded
from hopgate.store import clearance, extractions
from hopgate.store.retry import patiently

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.embed import Embedder
    from hopgate.extract.extractor import Extractor
    from hopgate.extract.rules.survey import CorpusSurvey
    from hopgate.store.memory_ranges import IdRange
    from hopgate.store.store import Store

# So many memories in a row that an embedder refuses are its fault and not theirs.
PATIENCE = 50


class BackfillWorker:
    """Embeds and extracts for a backfill; knows nothing of who asks.

    Parameters
    ----------
    store : Store
        Where it looks, right before a model reads a text, whether that may still be read.
    spec : str
        The embedder, as `hopgate.embed.embedder_from` takes it: made here, without the cache on this machine's disk.
    threads : int, optional
        How many texts the bundled embedder runs side by side; by default one a core.
    """

    def __init__(self, store: Store, spec: str, extractor: Extractor, threads: int | None = None) -> None:
        self._store = store
        self._spec = spec
        self._threads = threads
        self._reader = RangeReader(extractor)
        self._failures = 0

    @cached_property
    def _embedder(self) -> Embedder:
        from hopgate.embed.bge import BgeSmall

        made = embedder_from(self._spec)
        return BgeSmall(self._threads) if isinstance(made, BgeSmall) else made

    def embedded(self, batch: Sequence[Memory]) -> EmbeddedTexts:
        """Embed memories that the guard has passed; one that the embedder refuses does not keep the others."""
        if not batch:
            return EmbeddedTexts()
        began = time.perf_counter()
        try:
            with guarded(clearance.incoming_guard(self._store, batch)):
                made = patiently(lambda: self._looked_at(batch))
        except WithdrawnError:
            made = EmbeddedTexts(withdrawn=True)
        return made + EmbeddedTexts(seconds=time.perf_counter() - began)

    def _looked_at(self, batch: Sequence[Memory]) -> EmbeddedTexts:
        clearance.incoming_guard(self._store, batch).check()
        return self._in_halves(list(cleared((memory.external_id, memory) for memory in batch)))

    def _in_halves(self, passed: Sequence[tuple[str, Cleared]]) -> EmbeddedTexts:
        texts = [[text, *(passage_text(text, span) for span in passages(text))] for _, text in passed]
        flat = [text for several in texts for text in several]
        try:
            rows = self._embedder.documents(flat) if flat else None
        except (WithdrawnError, LostServerError, UnreachableError):
            raise
        except Exception as error:
            if len(passed) > 1:
                half = len(passed) // 2
                return self._in_halves(passed[:half]) + self._in_halves(passed[half:])
            self._failures += 1
            if self._failures >= PATIENCE:
                raise
            return EmbeddedTexts(refused={passed[0][0]: reason_of(error, passed[0][1])})
        self._failures = 0
        made, at = {}, 0
        for (key, _), several in zip(passed, texts, strict=True):
            assert rows is not None  # there is a text for each
            made[key] = rows[at : at + len(several)]
            at += len(several)
        return EmbeddedTexts(made)

    def vectors(self, asked: GuardedTexts) -> NDArray[np.float32]:
        """Embed names and facts, which were read from texts that passed the guard, and may have turned since."""
        if asked.still is None:
            return self._embedder.documents(asked.texts)
        with guarded(clearance.StoreGuard(self._store, asked.still)):
            return patiently(lambda: self._still_open(asked.texts))

    def _still_open(self, texts: Sequence[Cleared]) -> NDArray[np.float32]:
        # The bundled model asks nobody; a hosted one looks again before every request.
        check_sending()
        return self._embedder.documents(texts)

    def tell(self, surveys: Surveys) -> None:
        """Let it know what all memories show of their words."""
        self._reader.surveys = surveys

    def surveyed(self, ids: IdRange) -> dict[str, CorpusSurvey]:
        """Survey a range."""

        def look() -> dict[str, CorpusSurvey]:
            with self._store.transaction() as connection:
                return self._reader.surveyed(connection, ids)

        return patiently(look)

    def extracted(self, ids: IdRange) -> RangeResult:
        """Extract from those memories of a range that are not done; a model reads outside of any transaction."""
        return patiently(lambda: self._read(ids))

    def _read(self, ids: IdRange) -> RangeResult:
        while True:
            with self._store.transaction() as connection:
                range_ = self._reader.prepared(connection, ids)
            try:
                with guarded(extractions.guard(self._store, range_.sources)):
                    return self._reader.read(range_)
            except WithdrawnError:
                # One of them is not what it was: the range is looked at again.
                continue

    def work(self, task: str, item: Any) -> Any:
        """Do a task by its name: "embedded", "vectors", "surveyed" or "extracted"."""
        return getattr(self, task)(item)
