"""How far a run is: over memories, or one stage of a build after another; and how whoever waits is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopgate.extract.runner import Extracted


Advance = Callable[[int], None]
"""What is told of how many more are done."""


@dataclass(frozen=True)
class Progress:
    """The count of a run so far."""

    total: int | None = None  # how many memories there are to do, where that is known
    memories: int = 0  # how many are written, `skipped` ones (done in an earlier run) not counted
    skipped: int = 0
    mentions: int = 0
    facts: int = 0
    failed: int = 0
    truncated: int = 0
    empty: int = 0
    tokens: int = 0  # what models read and wrote in this run; cache hits cost none
    cache_hits: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    # Why memories failed, were truncated or came out empty, and how often.
    reasons: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    stopped: str = ""  # why the run ended before its end; empty where it did not
    # What is being done, while a build goes on; its other stages count in `memories` what they deal with.
    stage: str = ""

    @property
    def left(self) -> float | None:
        """Seconds left at this pace; None before the first memory, or where the total is not known."""
        if self.total is None or not self.memories:
            return None
        return max(0, self.total - self.skipped - self.memories) * self.seconds / self.memories

    def plus(self, results: Sequence[Extracted], seconds: float) -> Progress:
        """Return the count with these results in it, `seconds` after the start."""
        extractions = [result.extraction for result in results]
        states = Counter(str(extraction.state) for extraction in extractions)
        reasons = Counter(f"{extraction.state}: {extraction.reason}" for extraction in extractions if extraction.reason)
        dropped = Counter(self.dropped)
        for extraction in extractions:
            dropped.update(dict(extraction.dropped))
        return replace(
            self,
            memories=self.memories + len(extractions),
            mentions=self.mentions + sum(len(extraction.mentions) for extraction in extractions),
            facts=self.facts + sum(len(extraction.facts) for extraction in extractions),
            failed=self.failed + states["failed"],
            truncated=self.truncated + states["truncated"],
            empty=self.empty + states["empty"],
            tokens=self.tokens + sum(result.extraction.tokens for result in results if not result.cached),
            cache_hits=self.cache_hits + sum(result.cached for result in results),
            dropped=dict(dropped),
            reasons=dict(reasons + Counter(self.reasons)),
            seconds=seconds,
        )

    def __str__(self) -> str:
        done = f"{self.memories:,}" + (f"/{self.total - self.skipped:,}" if self.total is not None else "")
        left = f", {self.left:.0f} s left" if self.left else ""
        if self.stage:
            rate = f", {self.memories / self.seconds:,.0f} a second" if self.memories and self.seconds else ""
            return f"{self.stage}: {done}{rate}{left}"
        return (
            f"{done} memories, {self.mentions} mentions, {self.facts} facts, {self.failed} failed, "
            f"{self.truncated} truncated, {self.empty} empty, {self.tokens} tokens, {self.cache_hits} from cache{left}"
        )
