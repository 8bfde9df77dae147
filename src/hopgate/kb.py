"""KnowledgeBase: what `hopgate.open()` returns; it ties store, embedder, graph and recall together."""

from __future__ import annotations

import asyncio
import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from hopgate.answers.context import CONTEXT_HITS, DEFAULT_TOKENS, Context, context_of, turns_beside
from hopgate.errors import HopgateError
from hopgate.graph.build.options import BuildOptions, ExtractOptions
from hopgate.graph_api import ConceptGraph
from hopgate.memory import Memory, check_several
from hopgate.memory_writer import MemoryWriter, once_each
from hopgate.recall.asked import Asked, AskOptions
from hopgate.recall.filters import Filters, Query, Scopes, check_query, note_unknown_scopes
from hopgate.recall.graph_leg import GraphLeg
from hopgate.recall.hit import Hit
from hopgate.recall.legs import Legs, RecallPipeline, pool_of, preload, run_legs
from hopgate.recall.reachability import BarredLegWarning, warn_if_barred
from hopgate.recall.settings import RecallOptions, Settings, StoreSettings
from hopgate.store import folder_notes, memories, setting_rows, vectors
from hopgate.store.connect import shown
from hopgate.store.fill import Embedding
from hopgate.store.memories import listed, written_between
from hopgate.store.where import Conditions, Where
from hopgate.times import When, utc

if TYPE_CHECKING:
    from hopgate.answers.answer import Answer
    from hopgate.extract.extraction import Extractor
    from hopgate.graph.build.pipeline import Built, GraphBuilder
    from hopgate.guard import SensitivityRules
    from hopgate.progress import Advance, Progress
    from hopgate.recall.explain import Explanation
    from hopgate.scale.backfill import Backfilled, BackfillOptions
    from hopgate.sources.read import FoundSource
    from hopgate.sources.source import ReadOptions
    from hopgate.store.memories import Written
    from hopgate.store.store import Store
    from hopgate.sync import Synced
    from hopgate.upkeep import Remembered, Upkeep

# In the class `list` is a method.
Hits: TypeAlias = list[Hit]
Answers: TypeAlias = list[Hits]
Memories: TypeAlias = list[Memory]

# So many calls of `arecall` and the like are at work at once, and others wait without a thread.
CALLERS = 4

__all__ = ["BarredLegWarning", "KnowledgeBase"]


class KnowledgeBase:
    """Memories in, recall out.

    Made by `hopgate.open`; use it in a `with` block, or call `close`.

    Attributes
    ----------
    graph : ConceptGraph
        The concept graph: `kb.graph.concepts()`, `kb.graph.edges()`, `kb.graph.stats()`, `kb.graph.merge()`, ….
    graph_leg : GraphLeg
        The graph leg of recall: its `walk` may be replaced, and an evaluation makes variants of it.
    store : Store
        The database, for those who need a transaction of their own.
    store_settings : StoreSettings
        The settings that the store holds: set, unset, and where each value comes from.

    Examples
    --------
    >>> import tempfile, hopgate
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hopgate.open(folder.name) as kb:
    ...     _ = kb.add(hopgate.Memory("m1", "Ada keeps the spare key."), hopgate.Memory("m2", "Bea feeds the cat."))
    ...     [hit.external_id for hit in kb.recall("who has the spare key", legs=("lexical",))]
    ['m1']
    >>> folder.cleanup()
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._embedding = Embedding(store)
        self._writer = MemoryWriter(store, self._embedding)
        self._workers = ThreadPoolExecutor(4, thread_name_prefix="hopgate")
        self._callers = ThreadPoolExecutor(CALLERS, thread_name_prefix="hopgate-call")
        self._warned: set[str] = set()
        self.store_settings = StoreSettings(store)
        self.graph_leg = GraphLeg(store)
        self._pipeline = RecallPipeline(store, self._embedding, self.graph_leg, self._workers)
        self.graph = ConceptGraph(store, self._embedding, self._pipeline)

    def add(self, *new: Memory, within: Sequence[str] | None = None) -> Written:
        """Add memories, or bring those with the same external id up to date; an id given twice is refused.

        So is an id that a memory has whose scope is not `within` these: a server that is bound to some gives them.
        """
        return self._writer.write(once_each(new), within)

    def remember(
        self,
        what: str | Sequence[Mapping[str, Any]],
        *,
        id: str | None = None,
        scope: str | None = None,
        thread: str | None = None,
        at: When | None = None,
        link: bool = True,
        extractor: str | Extractor | None = None,
        **fields: Any,
    ) -> Remembered:
        """Remember a text, or the messages of a conversation in their order; embed and link it at once.

        Ids are made, so that the same again, in the same scope and thread, is brought up to date and not doubled.

        Parameters
        ----------
        what : str or sequence of mapping
            A text, or messages such as `{"role": "user", "content": "I moved to Oslo."}`; those of the system and of
            tools are left out, and roles are kept in `extra`.
        id : str, optional
            A text's own id.
        thread : str, optional
            The conversation it is part of; messages are one of their own by default.
        at : date or str, optional
            When it was said, where a message does not say so itself; by default now.
        link : bool
            Whether to embed and link it now; else `kb.upkeep.catch_up()` does.
        extractor : str or Extractor, optional
            What links, see `kb.upkeep.catch_up`.
        **fields
            Further fields of a `Memory`: `title`, `tags`, `is_sensitive`, ….

        Examples
        --------
        >>> import tempfile, hopgate
        >>> with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
        ...     _ = kb.remember("Ada has the spare key.", scope="home", at="2024-05-01")
        ...     turns = [{"role": "user", "content": "Who is Ada?"}, {"role": "assistant", "content": "A neighbour."}]
        ...     len(kb.remember(turns, scope="home").ids), [memory.text for memory in kb.list(scope="home")]
        (2, ['Ada has the spare key.', 'Who is Ada?', 'A neighbour.'])
        """
        from hopgate.corpus import parse_memory
        from hopgate.sources.chats import turn_of
        from hopgate.sources.source import Repeated

        if isinstance(what, str):
            made = [Memory(id or f"add#{self.made_id(scope, fields.get('title', ''), what)}", what)]
        else:
            thread = thread or f"chat#{self.made_id(scope, list(what))}"
            key, numbered = self.store.run(setting_rows.id_key), Repeated()
            made = [parse_memory(turn) for message in what for turn in turn_of(message, thread, key, numbered)]
        if not any(memory.text.strip() for memory in made):
            raise HopgateError("there is nothing to remember: give a text")
        placed = {**fields, "scope": scope, "thread": thread}
        new = [replace(memory, created_at=memory.created_at or utc(at), **placed) for memory in made]
        ids = [memory.external_id for memory in new]
        return self.upkeep.remembered(ids, self.add(*new), extractor=extractor, link=link)

    def update(self, external_id: str, **changes: Any) -> Remembered:
        """Change some fields of a memory; what was made of its text is made anew at once. An unknown id is refused.

        Parameters
        ----------
        **changes
            Fields of a `Memory`: `text`, `tags`, `created_at`, ….
        """
        return self.upkeep.remembered([external_id], self._writer.update(external_id, changes))

    def ingest(
        self,
        path: str | Path | FoundSource,
        *,
        form: str | None = None,
        options: ReadOptions | None = None,
        limit: int | None = None,
        prune: bool = False,
        progress: Advance | None = None,
    ) -> Written:
        """Read a file, a folder or a query's rows into the store; `-` is standard input.

        It goes in wholly or not at all, but for notes of a folder, mails and chats of an export: one that cannot be
        read is set aside, which a warning says and `rejected` of what is given lists; with `strict` options it is
        refused like the rest.

        Parameters
        ----------
        path : str or Path
            A `corpus.jsonl`, or another source: notes, a table, a chat's export, mail, a database.
        form : str, optional
            The source's name, such as "markdown", where it is not to be recognised.
        options : ReadOptions, optional
            A field map, a query, and how else the source is read.
        limit : int, optional
            Only the first so many memories.
        prune : bool
            Whether notes go that came from this folder and are there no more.
        """
        named = isinstance(path, str | Path)
        source = self.source(path, form, options) if isinstance(path, str | Path) else path
        if prune and (limit is not None or not (source.root and Path(source.path).is_dir())):
            raise HopgateError(f"only a folder of notes that is read to its end can be pruned, and not {source.path}")
        written = self._writer.load(itertools.islice(source.memories, limit), progress, source=source)
        if source.rejected and named:
            warnings.warn(f"{len(source.rejected):,} set aside, first {source.rejected[0]}", stacklevel=2)
        return replace(written, pruned=self._writer.prune(source) if prune else 0, rejected=tuple(source.rejected))

    def source(self, path: str | Path, form: str | None = None, options: ReadOptions | None = None) -> FoundSource:
        """Recognise what a path is, to be read for this store: see `ingest`, which takes what is given."""
        from hopgate.sources.read import read_source

        return read_source(path, form, self.keyed(options))

    def load(self, new: Iterable[Memory], *, progress: Advance | None = None) -> Written:
        """Write a stream of memories, all or nothing, and tidy up after a large one."""
        return self._writer.load(new, progress)

    def sync(self, path: str | Path) -> Synced:
        """Bring the store and a SQLite file of memories in step, both ways; a sensitive memory never moves.

        What is new, changed, deleted or marked on one side becomes so on the other. What both changed is as the store
        has it, or gone, or sensitive. Vectors and the graph stay in the store, and follow by `upkeep.catch_up`.
        """
        from hopgate.sync import sync

        return sync(self.store, self._writer, Path(path))

    def backfill(self, *sources: str | Path, **options: Unpack[BackfillOptions]) -> Backfilled:
        """Bring shards of many memories in, embedded and linked, each once; go on where an earlier run stopped."""
        from hopgate.scale.backfill import backfill

        options["options"] = self.keyed(options.get("options"))
        return backfill(self, self._embedding, sources, options)

    def made_id(self, *parts: object) -> str:
        """Give sixteen digits for what has no id: the same parts, the same digits, in this store and in no other."""
        from hopgate.sources.source import digest

        return digest(self.store.run(setting_rows.id_key), *parts)

    def keyed(self, options: ReadOptions | None) -> ReadOptions:
        """Let a source be read for this store: with its secret, of which ids are made, and the folders it knows."""
        from hopgate.sources.source import ReadOptions

        key, folders = self.store.run(setting_rows.id_key), self.store.run(folder_notes.folders)
        return replace(options or ReadOptions(), id_key=key, folders=folders)

    def sensitivity(self) -> SensitivityRules:
        """The rules by which this store's memories are sensitive whatever their own flag says."""
        return self.store.run(setting_rows.sensitivity)

    def add_sensitivity(self, rules: SensitivityRules, *, source: str = "kb.add_sensitivity") -> int:
        """Keep further rules in the store, and mark the memories that meet them; give how many that were."""
        return self.store.run(lambda connection: self._writer.keep_rules(connection, [rules], source))

    def get(self, external_id: str) -> Memory | None:
        """Read one memory, or none."""
        with self.store.transaction() as connection:
            return memories.fetch(connection, [external_id]).get(external_id)

    def list(
        self,
        *,
        where: Conditions | str | None = None,
        scope: Scopes = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Memories:
        """Give the next memories after one, in the order of arrival: all, or those of some scopes and fields."""
        filters = Filters(scope, superseded=True, where=None if where is None else Where.of(where))
        return self.store.run(lambda connection: listed(connection, *filters.sql(), after=after, limit=limit))

    def scopes(self, *, where: Conditions | str | None = None) -> Sequence[str]:
        """The scopes that memories are in: all, or those with some fields."""
        filters = Filters(superseded=True, where=None if where is None else Where.of(where))
        return self.store.run(lambda connection: memories.scopes(connection, *filters.sql()))

    def written(
        self,
        since: When,
        until: When | None = None,
        *,
        scope: Scopes = None,
        sensitive: bool = False,
        limit: int = 50,
    ) -> Memories:
        """Give the memories that were written down after one time and up to another, the newest first.

        Parameters
        ----------
        sensitive : bool
            Whether sensitive ones are among them.
        """
        first, last = utc(since), utc(until or datetime.now(UTC))
        scopes = Filters(scope).scopes
        return self.store.run(
            lambda connection: written_between(connection, first, last, scopes=scopes, sensitive=sensitive, limit=limit)
        )

    def export(self) -> Iterator[Memory]:
        """Give every memory back, in the order of arrival."""
        with self.store.transaction() as connection:
            yield from memories.stream(connection)

    def __len__(self) -> int:
        return self.store.run(memories.count)

    def delete(self, external_ids: Sequence[str], *, within: Sequence[str] | None = None) -> int:
        """Delete memories and exactly what only they supported in the graph; unknown ids are refused."""
        return self._writer.delete(external_ids, within)

    def mark_sensitive(self, external_ids: Sequence[str], *, within: Sequence[str] | None = None) -> int:
        """Mark memories as sensitive and remove, in the same transaction, all that was ever made of their text."""
        return self._writer.mark_sensitive(external_ids, within)

    def unmark_sensitive(self, external_ids: Sequence[str], *, within: Sequence[str] | None = None) -> int:
        """Take the mark away, which nothing else does: the next `embed` and `build` read these memories."""
        return self._writer.unmark_sensitive(external_ids, within)

    def language(self, new: str | None = None) -> str:
        """The language of memories that name none; given a new one, their words are made and counted anew."""
        if new is None:
            return self.store.run(setting_rows.language)
        return self.store.run(lambda connection: setting_rows.change_language(connection, new))

    def settings(self, **changes: Unpack[RecallOptions]) -> Settings:
        """Resolve the settings of the next query: store, file, environment, then `changes`."""
        return self.store_settings.resolve(changes).settings

    def recall(
        self,
        query: str,
        *,
        explain: bool = False,
        exact: bool | None = None,
        **options: Unpack[AskOptions],
    ) -> Hits:
        """Recall the memories that answer a query, best first.

        Parameters
        ----------
        query : str
            What to recall, in plain words.
        explain : bool
            Whether hits carry the words that were matched and the graph's path.
        exact : bool, optional
            Whether every vector is compared, of memories and of facts, and the whole graph solved, as an evaluation
            does; by default only where there is no index.
        legs : sequence of str, optional
            Run only these of "lexical", "dense", "late" and "graph", with the weights they have.
        scope : str or sequence of str, optional
            Only memories of this scope, or of these.
        exclude : sequence of str
            External ids that are in context already.
        as_of, known_at : date or str, optional
            Walk the graph as it was true at a time, and as it was known at a time.
        include_superseded : bool
            Whether memories that others took the place of are given, too.
        cluster : int, optional
            Only memories that are linked to the concepts of this cluster, one of `kb.graph.clusters(scope=…)`.
        where : mapping or JSON, optional
            What memories' fields must be: `{"tags": "home", "created_at": {"gte": "2024-01-01"}}`, also with `AND`,
            `OR` and `NOT`; see `hopgate.store.where.Where`.
        **options
            Further settings for this query, see `RecallOptions`: `k`, `depth`, `fuser`, `lexical`, `dense`, `graph`, ….
        """
        text = check_query(query)
        asked = Asked.of(self._pipeline, self.store_settings, options)
        warn_if_barred(asked.settings, self._warned)
        if {"dense", "graph"} <= set(asked.settings.fuser.active) and not self._embedding.loaded:
            preload(asked.pipeline)
        hits = asked.hits(text, explain=explain, exact=exact)
        if not hits:
            note_unknown_scopes(self.store, asked.filters)
        return hits

    def recall_many(
        self,
        queries: Sequence[str],
        *,
        explain: bool = False,
        exact: bool | None = None,
        **options: Unpack[AskOptions],
    ) -> Answers:
        """Recall for many queries at once: what `recall` gives for each, in their order, in less time.

        They are embedded in one batch and asked side by side; settings and filters are read once, and a query that
        comes twice is asked once.

        Examples
        --------
        >>> import tempfile, hopgate
        >>> with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
        ...     _ = kb.add(hopgate.Memory("m1", "Ada has the spare key."), hopgate.Memory("m2", "Bea feeds the cat."))
        ...     answers = kb.recall_many(["who feeds the cat", "who has the key"], k=1)
        ...     [[hit.external_id for hit in hits] for hits in answers]
        [['m2'], ['m1']]
        """
        check_several(queries, "queries")
        texts = [check_query(query) for query in queries]
        asked = Asked.of(self._pipeline, self.store_settings, options)
        warn_if_barred(asked.settings, self._warned)
        hits = asked.many(texts, self._embedding, explain=explain, exact=exact)
        if not any(hits.values()):
            note_unknown_scopes(self.store, asked.filters)
        return [list(hits[text]) for text in texts]

    def explain(self, query: str, external_id: str, **options: Unpack[AskOptions]) -> Explanation:
        """Say where a memory is among a query's hits or why it is not: each leg's rank of it, and what left it out.

        Takes the filters and settings that `recall` takes.
        """
        from hopgate.recall.explain import explain

        return explain(self._pipeline, self.store_settings, query, external_id, options)

    def context(self, query: str, *, tokens: int = DEFAULT_TOKENS, **options: Any) -> Context:
        """Write what memories say of a query for an assistant: facts that hold, memories with numbers and dates.

        Sensitive memories are never in it.

        Parameters
        ----------
        tokens : int
            How long it may be, as the bundled model counts.
        **options
            As `recall` takes them; 20 memories are looked through by default.

        Examples
        --------
        >>> import tempfile, hopgate
        >>> with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
        ...     _ = kb.add(hopgate.Memory("m1", "Ada has the spare key.", created_at=datetime(2024, 5, 1)))
        ...     print(kb.context("who has the key"))
        [1] 2024-05-01: Ada has the spare key.
        """
        from hopgate.embed.bundled import token_count

        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
            raise HopgateError(f"tokens must be a whole number of at least 1, not {tokens!r}")
        rules = self.sensitivity()

        def is_open(memory: Memory) -> bool:
            # What another program wrote is marked by the next embedding; until then the rule alone speaks.
            return not memory.is_sensitive and not rules.meets(memory)

        hits = self.recall(query, **{"k": CONTEXT_HITS, **options, "explain": True})
        hits = [hit for hit in hits if is_open(hit.memory)]
        beside = self.store.run(lambda connection: memories.fetch(connection, turns_beside(hits)))
        beside = {name: memory for name, memory in beside.items() if is_open(memory)}
        return context_of(query, hits, beside, tokens, token_count)

    def ask(self, query: str, model: object, *, tokens: int = DEFAULT_TOKENS, **options: Any) -> Answer:
        """Have a language model answer from memories alone, every sentence with the memories that say so.

        Where nothing near the question is stored the model is not asked, and the answer is "I do not know."

        Parameters
        ----------
        model : ChatExtractor
            `hopgate.extract.spec.extractor_from("openai", model=…, url=…)`, or "llama" with a GGUF file.
        tokens : int
            How much of memories it is given.
        **options
            As `recall` takes them.
        """
        from hopgate.answers.answer import answered

        space = self.store.run(vectors.space)
        nearness = (space.late or space.identity).name if space else ""
        return answered(self.context(query, tokens=tokens, **options), model, nearness)

    # What an evaluation asks: the legs before fusion, by the store's own ids.

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
        as_of: When | None = None,
        known_at: When | None = None,
        exact: bool | None = None,
    ) -> tuple[Legs, dict[int, float]]:
        """Run the legs alone, before fusion: their lists by the store's ids, and the importance of what they found."""
        text, filters = check_query(query), Filters(scope, as_of=utc(as_of), known_at=utc(known_at))
        settings = settings or self.store_settings.resolve().settings
        legs = run_legs(self._pipeline.set_as(settings), Query(text, filters, exact=exact), settings)
        with self.store.transaction() as connection:
            known = memories.weights(connection, sorted(pool_of(legs.found)))
        return legs, {key: importance for key, (importance, _) in known.items()}

    def id_map(self) -> dict[int, str]:
        """Every memory's external id by the store's own."""
        with self.store.transaction() as connection:
            return memories.external_ids(connection)

    # As these methods without the `a`, on a few threads that all such calls share: the event loop goes on meanwhile.

    async def arecall(self, query: str, **options: Any) -> Hits:
        """As `recall`, for a program with an event loop."""
        return await asyncio.wrap_future(self._callers.submit(self.recall, query, **options))

    async def arecall_many(self, queries: Sequence[str], **options: Any) -> Answers:
        """As `recall_many`, for a program with an event loop."""
        return await asyncio.wrap_future(self._callers.submit(self.recall_many, queries, **options))

    async def aadd(self, *new: Memory) -> Written:
        """As `add`, for a program with an event loop."""
        return await asyncio.wrap_future(self._callers.submit(self.add, *new))

    def embed(self, embedder: str | None = None, *, progress: Advance | None = None) -> int:
        """Embed the memories that have no vector yet; give how many.

        Parameters
        ----------
        embedder : str, optional
            By default the one that made this store's vectors, or `HOPGATE_EMBEDDER`, or the bundled bge-small-en-v1.5.
            A store refuses another than its own: see `reembed`.
        """
        self._writer.mark_by_rules()
        return self._embedding.fill(embedder, progress)

    def reembed(self, embedder: str, *, progress: Advance | None = None) -> int:
        """Change the store to another embedder; recall goes on with the old vectors until the last one is made."""
        self._writer.mark_by_rules()
        return self._embedding.change(embedder, progress)

    def embedder_name(self) -> str:
        """The embedder that made this store's vectors, or nothing."""
        space = self.store.run(vectors.space)
        return space.identity.name if space else ""

    def pending_vectors(self) -> int:
        """How many memories wait for a vector."""
        return self.store.run(vectors.count_pending)

    def extract(self, extractor: str | Extractor = "phrases", **options: Unpack[ExtractOptions]) -> Progress:
        """Extract mentions and facts from the memories that the extractor has not dealt with."""
        self._writer.mark_by_rules()
        return self._builder.extract(extractor, **options)

    def build(self, extractor: str | Extractor = "phrases", **options: Unpack[BuildOptions]) -> Built:
        """Build the graph, or bring it up to date with the memories that are new."""
        self._writer.mark_by_rules()
        return self._builder.build(extractor, **options)

    def extraction_states(self) -> dict[str, int]:
        """How many memories are extracted, empty, truncated, failed or pending."""
        from hopgate.store import extractions

        return self.store.run(extractions.states)

    def close(self) -> None:
        """Close the connections and let go of the embedded server."""
        for threads in (self._callers, self._workers):
            threads.shutdown(wait=False, cancel_futures=True)
        self.graph_leg.close()
        self.store.close()

    def __repr__(self) -> str:
        return f"<KnowledgeBase: {shown(self.store.directory or self.store.dsn)}>"

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def upkeep(self) -> Upkeep:
        """What keeps a store in order: `catch_up()`, `watch()`, `status()`, `backup()`, `restore()`."""
        from hopgate.upkeep import Upkeep

        return Upkeep(self.store, self._embedding, self._writer, self._builder)

    @cached_property
    def _builder(self) -> GraphBuilder:
        from hopgate.graph.build.pipeline import GraphBuilder

        return GraphBuilder(self.store, self._embedding)
