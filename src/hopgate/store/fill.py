"""Fill a store's vectors: guard, embed, write, batch by batch, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hopgate.errors import WithdrawnError
from hopgate.guard import guarded
from hopgate.memory import Cleared, cleared
from hopgate.options import environment
from hopgate.passages import passage_text, passages
from hopgate.redact import without_credentials
from hopgate.store import clearance, connect, memories, schema, setting_rows, vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopgate.embed import Embedder
    from hopgate.embed.late import LateModel, QueryTokens
    from hopgate.embed.texts import TextModels
    from hopgate.progress import Advance
    from hopgate.store.store import Store

DEFAULT = "bge-small"
# Large enough for length-sorted batches inside, small enough that an interruption loses seconds.
BATCH = 512
# Of fewer texts the language is no matter for a warning.
FEW_TEXTS = 20
_LATIN = re.compile(r"[A-Za-z]{2}")
ReadPages = Callable[[Iterable[Sequence[int]]], Iterator[list["vectors.Embedded"]]]
"""Reads memories, given as pages of their ids, and gives for each page what was made of them."""


class Embedding:
    """A store's models: made on first use, and always those that made its vectors and its tokens."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._late: LateModel | None = None
        self._embedder: Embedder | None = None
        self._making = threading.Lock()
        self._spec = DEFAULT
        self.loaded = False  # whether a query has its embedder at hand

    def query(self, text: str, space: vectors.EmbeddingSpace | None = None) -> NDArray[np.float32]:
        """Embed a query with the embedder that made the store's vectors, which another process may have changed."""
        vector: NDArray[np.float32] = self.queries([text], space)[0]
        return vector

    def queries(self, texts: Sequence[str], space: vectors.EmbeddingSpace | None = None) -> NDArray[np.float32]:
        """Embed queries in one batch."""
        rows = self.embedder(space=space).queries(texts)
        self.loaded = True
        return rows

    def embedder(self, spec: str | None = None, space: vectors.EmbeddingSpace | None = None) -> Embedder:
        """The store's embedder; a spec that names another is refused."""
        with self._making:
            made = self._embedder
            other = spec is not None and made is not None and without_credentials(spec) != made.identity.spec
            if made is None or other or (space is not None and made.identity.key != space.identity.key):
                if space is None:
                    with self._store.transaction() as connection:
                        space = vectors.space(connection)
                made_by = space.identity.spec if space else None
                named = environment().embedder
                if made_by and named and without_credentials(named) == made_by:
                    # The store knows the endpoint, and the environment who may use it.
                    made_by = named
                self._spec = spec or made_by or named or DEFAULT
                made = resolved(self._spec)
                if space:
                    vectors.check(space, made.identity)
                self._embedder = made
            return made

    def query_tokens(self, text: str, space: vectors.EmbeddingSpace) -> QueryTokens | None:
        """Give a query's tokens by the model that makes the store's; none where it keeps none."""
        late = self.late(space)
        return late.query_tokens(text) if late else None

    def late(self, space: vectors.EmbeddingSpace | None = None) -> LateModel | None:
        """The store's late-interaction model; none where it does without."""
        from hopgate.embed import EmbeddingCache
        from hopgate.embed.late import OFF, late_model

        with self._making:
            if space is None:
                with self._store.transaction() as connection:
                    space, chosen = vectors.space(connection), setting_rows.own(connection, setting_rows.LATE)
            spec = (space.late.spec if space.late else OFF) if space else chosen
            if spec == OFF:
                return None
            if self._late is None or self._late.identity.spec != spec:
                self._late = late_model(spec)
            if self._late:
                self._late.cache = EmbeddingCache.default()
                if space:
                    vectors.check(space, late=self._late.identity)
            return self._late

    def working_spec(self, spec: str | None = None) -> str:
        """What makes the store's embedder in another process, credentials included; as `embedder` chooses it."""
        self.embedder(spec)
        return self._spec

    def load(self, space: vectors.EmbeddingSpace) -> None:
        """Make the store's embedder ready for a query, where it has something to load."""
        self.loaded = True
        self.embedder(space=space).load()

    def fill(self, spec: str | None = None, progress: Advance | None = None, read: ReadPages | None = None) -> int:
        """Embed what has no vector yet, here unless pages of memories are to be read by others."""
        with self._store.transaction() as connection:
            space = vectors.space(connection)
            if space is None and not memories.count_from_words(connection):
                return 0
        return self._fill(self.embedder(spec, space), self.late(space), progress, read)

    def change(self, spec: str, progress: Advance | None = None) -> int:
        """Embed everything anew into the cache, then change over; resumable, and recall goes on meanwhile."""
        embedder = resolved(spec)
        with self._store.transaction() as connection:
            space = vectors.space(connection)
        if space is None or space.identity.key == embedder.identity.key:
            return self.fill(spec, progress)
        for batch in self._read_here(embedder, None, self._pages(memories.open_ids)):
            if progress:
                progress(len(batch))
        self._store.run(lambda connection: vectors.change_over(connection, space.identity, embedder.identity))
        with self._making:
            self._embedder = embedder
        return self._fill(embedder, self.late())

    def forget(self, texts: Sequence[str]) -> None:
        """Drop what was made of these texts and of their passages from the cache on disk, whatever model made it."""
        if not texts:
            return
        from hopgate.embed import EmbeddingCache

        parts = [passage_text(Cleared(text), span) for text in texts for span in passages(text)]
        EmbeddingCache.default().forget([*texts, *parts])

    def _fill(
        self,
        embedder: Embedder,
        late: LateModel | None,
        progress: Advance | None = None,
        read: ReadPages | None = None,
    ) -> int:
        """Make what waits, and write it; give how many memories have it now."""
        late_identity = late.identity if late else None
        pages, made = self._pages(vectors.pending), 0
        for batch in read(pages) if read else self._read_here(embedder, late, pages):
            if not made:
                warn_of_languages(embedder, [memory.content for memory in batch])
            write = partial(vectors.write, batch=batch, identity=embedder.identity, late=late_identity)
            written = self._store.run(write)
            # What changed, went or turned sensitive on the way must not stay in the cache either.
            self.forget([memory.content for memory in batch if memory.memory_id not in written])
            made += len(written)
            if progress:
                progress(len(batch))
        self.index()
        return made

    def _pages(self, listed: Callable[..., list[int]]) -> Iterator[list[int]]:
        """Ids of the memories that are listed, some at a time, so that an interrupted run loses no more than a page."""
        after = 0
        while ids := self._store.run(partial(listed, limit=BATCH, after=after)):
            yield ids
            after = ids[-1]

    def _read_here(
        self, embedder: Embedder, late: LateModel | None, pages: Iterable[Sequence[int]]
    ) -> Iterator[list[vectors.Embedded]]:
        from hopgate.embed.texts import TextModels

        models = TextModels(embedder, late)
        return (read_page(self._store, models, ids) for ids in pages)

    def index(self) -> None:
        """Build the HNSW index once the table is large enough to need it."""
        with self._store.transaction() as connection:
            space = vectors.space(connection)
            if space is None or space.indexed or memories.count_from_words(connection) < vectors.EXACT_BELOW:
                return
        with connect.explained(), connect.connect(self._store.dsn) as connection:
            connection.autocommit = True
            vectors.build_index(connection, schema.search_path(connection))


def read_page(store: Store, models: TextModels, ids: Sequence[int]) -> list[vectors.Embedded]:
    """Let models read those of some memories that are open; of a vector that is there already only the tokens lack."""
    while True:
        with store.transaction() as connection:
            memories_by_id = clearance.open_memories(connection, ids)
            embedded_ids = vectors.embedded(connection, ids) if models.late else set()
        texts = list(cleared(sorted(memories_by_id.items())))
        have_vectors = [place for place, (key, _) in enumerate(texts) if key in embedded_ids]
        try:
            with guarded(clearance.memory_guard(store, memories_by_id)):
                made = models.made([text for _, text in texts], have_vectors)
        except WithdrawnError:
            # One of them is not what it was: all are read again; what was embedded comes from the cache.
            continue
        return [vectors.Embedded(key, text, *of_memory) for (key, text), of_memory in zip(texts, made, strict=True)]


class LanguageWarning(UserWarning):
    """Most memories are in languages that the embedder was not made for."""


def warn_of_languages(embedder: Embedder, texts: Sequence[str]) -> None:
    """Say so where most texts, of many, are in languages that an embedder was not made for."""
    if not embedder.languages or len(texts) < FEW_TEXTS:
        return
    from hopgate.extract.rules.words import language_of

    codes = Counter(language_of(text.lower().split()) if _LATIN.search(text) else "" for text in texts)
    others = len(texts) - sum(codes[code] for code in embedder.languages)
    if others > len(texts) / 2:
        warnings.warn(
            f"{others} of {len(texts)} memories are not in the language of {embedder.identity.name}: they are found by "
            "their words better than by their meaning; a multilingual model is chosen by hopgate embed --change "
            "--embedder, such as sentence-transformers:intfloat/multilingual-e5-small",
            LanguageWarning,
            stacklevel=2,
        )


def resolved(spec: str) -> Embedder:
    """Make an embedder with the user's cache."""
    from hopgate.embed import EmbeddingCache, embedder_from

    embedder = embedder_from(spec)
    embedder.cache = EmbeddingCache.default()
    return embedder
