"""Run an extractor over many memories: in batches, from cache, several at once, and resumable.

The cache itself is in the store, so that what turns sensitive leaves it in the same transaction.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Protocol

from hopgate.errors import HopgateError, UnreachableError, WithdrawnError
from hopgate.extract.extraction import ContextualExtractor, Extraction, Extractor, ExtractorIdentity, Source, failed
from hopgate.guard import SendingGuard, guarded
from hopgate.options import check, setting
from hopgate.progress import Progress
from hopgate.redact import redacted

GuardOf = Callable[[Sequence[Source]], SendingGuard]


class ExtractionCache(Protocol):
    """What the runner needs of a cache. Safe to use from several threads."""

    def get(self, identity: ExtractorIdentity, text_hashes: Sequence[str]) -> dict[str, Extraction]:
        """Return the extractions by this identity that are there, each by the hash of what was read."""
        ...

    def put(self, identity: ExtractorIdentity, made: Sequence[tuple[Source, Extraction]]) -> None:
        """Keep extractions, for good when this returns; an empty one too. The runner does not ask to keep failures."""
        ...


class Extracted(NamedTuple):
    """One memory's result on its way to the sink."""

    source: Source
    extraction: Extraction
    cached: bool


class Sink(Protocol):
    """Where results go. `write` is one transaction: after a crash a batch is there wholly or not at all."""

    def done(self, memory_ids: Sequence[str | int], identity: ExtractorIdentity) -> Collection[str | int]:  # noqa: ARG002
        """Return those of the ids whose extraction by this identity is written and needs no repeating; none here."""
        return ()

    def write(self, batch: Sequence[Extracted], identity: ExtractorIdentity) -> None:
        """Write a batch together with its provenance, replacing the facts and mentions of an earlier extraction."""
        ...


@dataclass(frozen=True)
class Run:
    """The settings of a run."""

    batch: int = setting(64, "memories written in one transaction", low=1)
    concurrency: int = setting(1, "memories asked about at once; for a local model 1 is right", low=1)
    max_tokens: int | None = setting(None, "begin no memory once so many tokens are spent: a later run goes on", low=1)
    # The server is gone, then, and not one memory bad.
    patience: int = setting(50, "so many failures in a row, and nothing else, end a run", low=1)

    def __post_init__(self) -> None:
        check(self)

    def over(
        self,
        sources: Iterable[Source],
        extractor: Extractor,
        sink: Sink,
        *,
        cache: ExtractionCache | None = None,
        guard: GuardOf | None = None,
        total: int | None = None,
        show: Callable[[Progress], object] = str,
    ) -> Progress:
        """Extract from every source that is not done and write the results; return the final count.

        Results are cached before they are written, so that a run killed between the two pays for nothing twice. Ctrl-C
        waits for the memories in flight, writes what is ready and then stops. `show` gets the count after every write.

        Parameters
        ----------
        guard : callable, optional
            Gives the guard of some sources, which is asked before each request about them: a source that may not be
            read any more is left out, and nothing is cached or written of it.
        """
        kept = cache if not extractor.identity.by_id else None
        return _Work(self, extractor, sink, kept, guard).over(sources, total, show)


@dataclass
class _Work:
    """The state of one run."""

    settings: Run
    extractor: Extractor
    sink: Sink
    cache: ExtractionCache | None
    guard: GuardOf | None
    lock: threading.Lock = field(default_factory=threading.Lock)
    spent: int = 0
    failures: int = 0
    halted: str = ""

    def __post_init__(self) -> None:
        self.identity = self.extractor.identity
        is_rules = isinstance(self.extractor, ContextualExtractor)
        if is_rules:
            # They send nothing and are done in no time: it is looked again when their results are cached and written.
            self.guard = None
        # A model gets as many memories in a call as it wants, so that a crash or the token cap costs what is in flight
        # and no more, and so does what nobody knows: a text that waits inside an extractor may turn sensitive there.
        quick = not self.identity.prompt and (self.identity.by_id or is_rules)
        self.together = self.settings.batch if quick else int(self.identity.parameters.get("together") or 1)

    def over(self, sources: Iterable[Source], total: int | None, show: Callable[[Progress], object]) -> Progress:
        began = time.monotonic()
        progress = Progress(total=total)
        show(progress)
        # No call is smaller than it might be because a batch ended.
        for batch in _batches(sources, max(self.settings.batch, self.together * self.settings.concurrency)):
            finished = set(self.sink.done([source.memory_id for source in batch], self.identity))
            pending = [source for source in batch if source.memory_id not in finished]
            progress = replace(progress, skipped=progress.skipped + len(batch) - len(pending))
            for results in self._results(pending):
                self.sink.write(results, self.identity)
                progress = progress.plus(results, time.monotonic() - began)
                show(progress)
            if self.halted:
                progress = replace(progress, stopped=self.halted)
                show(progress)
                break
        return progress

    def _results(self, sources: list[Source]) -> Iterator[list[Extracted]]:
        """Yield what the cache has, and what the extractor makes of the others."""
        hashes = [source.text_hash for source in sources] if self.cache else []
        known = self.cache.get(self.identity, hashes) if self.cache else {}
        pairs = zip(sources, hashes, strict=False)
        hits = [Extracted(source, known[text_hash], True) for source, text_hash in pairs if text_hash in known]
        if hits:
            yield hits
        there = {hit.source.memory_id for hit in hits}
        asked = [source for source in sources if source.memory_id not in there]
        if asked and not self.halted:
            yield from self._in_calls(asked)

    def _in_calls(self, sources: list[Source]) -> Iterator[list[Extracted]]:
        """Ask in threads, as many memories in a call as the extractor wants; yield what each call gives, in order."""
        pool = ThreadPoolExecutor(self.settings.concurrency)
        waiting = deque(pool.submit(self._call, call) for call in _batches(sources, self.together))
        try:
            while waiting:
                results = waiting[0].result()
                waiting.popleft()
                if results:
                    yield results
        except KeyboardInterrupt:
            self.halted = "interrupted"
            pool.shutdown(wait=True, cancel_futures=True)
            done = (call for call in waiting if not (call.cancelled() or call.exception()))
            yield [one for call in done for one in call.result()]
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _call(self, sources: list[Source]) -> list[Extracted]:
        """Ask about some sources; there is nothing of one that may not be read, nor after the end of the run."""
        cap = self.settings.max_tokens
        with self.lock:
            if not self.halted and cap is not None and self.spent >= cap:
                self.halted = f"the cap of {cap} tokens is reached"
            if self.halted:
                return []
        try:
            guard = self.guard(sources) if self.guard else None
            if guard:
                guard.check()
            with guarded(guard) if guard else nullcontext():  # an extractor asks it again before each request
                extractions = self.extractor.extract(sources)
        except UnreachableError as error:
            # Nobody can connect: what is left is left for another run, and nothing is wrong with it.
            self.halted = str(error)
            return []
        except Exception as error:  # one bad memory does not stop the run; its reason is written with it
            is_withdrawn = isinstance(error, WithdrawnError)
            if isinstance(error, HopgateError) and not is_withdrawn:
                self.halted = str(error)
                raise
            if len(sources) > 1:
                return [one for source in sources for one in self._call([source])]
            if is_withdrawn:
                return []
            extractions = [failed(f"{type(error).__name__}: {redacted(str(error))[:200]}")]
        pairs = list(zip(sources, extractions, strict=True))
        if self.cache:
            self.cache.put(self.identity, [(source, one) for source, one in pairs if one.state.done])
        with self.lock:
            for extraction in extractions:
                self.spent += extraction.tokens
                self.failures = self.failures + 1 if extraction.state == "failed" else 0
                if self.failures >= self.settings.patience:
                    self.halted = f"{self.failures} memories in a row failed, the last because: {extraction.reason}"
        return [Extracted(*pair, False) for pair in pairs]


def _batches(sources: Iterable[Source], size: int) -> Iterator[list[Source]]:
    remaining = iter(sources)
    while batch := list(islice(remaining, size)):
        yield batch
