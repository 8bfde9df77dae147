"""How far a run is, as a value that a progress bar or a log line can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hopgate.extract.extraction import Extraction, State


@dataclass(frozen=True)
class Progress:
    """The count of a run so far.

    Parameters
    ----------
    total : int, optional
        How many memories there are to do, where that is known.
    memories : int
        How many are written, `skipped` ones (done in an earlier run) not counted.
    tokens : int
        What models read and wrote in this run; cache hits cost none.
    reasons : dict
        Why memories failed, were truncated or came out empty, and how often.
    stopped : str
        Why the run ended before its end; empty where it did not.
    stage : str
        What is being done, while a build goes on; its other stages count in `memories` what they deal with.

    Examples
    --------
    >>> progress = Progress(total=10, memories=4, seconds=2.0)
    >>> progress.left, str(progress)
    (3.0, '4/10 memories, 0 mentions, 0 facts, 0 failed, 0 truncated, 0 empty, 0 tokens, 0 from cache, 3 s left')
    >>> print(Progress(total=9000, memories=3000, seconds=2.0, stage="embedding facts"))
    embedding facts: 3,000/9,000, 1,500 a second, 4 s left
    """

    total: int | None = None
    memories: int = 0
    skipped: int = 0
    mentions: int = 0
    facts: int = 0
    failed: int = 0
    truncated: int = 0
    empty: int = 0
    tokens: int = 0
    cache_hits: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    stopped: str = ""
    stage: str = ""

    @property
    def left(self) -> float | None:
        """Seconds left at this pace; None before the first memory, or where the total is not known."""
        if self.total is None or not self.memories:
            return None
        return max(0, self.total - self.skipped - self.memories) * self.seconds / self.memories

    def plus(self, extractions: Sequence[Extraction], cached: Sequence[bool], seconds: float) -> Progress:
        """Return the count with these extractions in it, `seconds` after the start."""
        reasons, dropped = Counter(self.reasons), Counter(self.dropped)
        states = Counter(extraction.state for extraction in extractions)
        for extraction in extractions:
            if extraction.reason:
                reasons[f"{extraction.state}: {extraction.reason}"] += 1
            dropped.update(dict(extraction.dropped))
        return replace(
            self,
            memories=self.memories + len(extractions),
            mentions=self.mentions + sum(len(extraction.mentions) for extraction in extractions),
            facts=self.facts + sum(len(extraction.facts) for extraction in extractions),
            failed=self.failed + states[State.FAILED],
            truncated=self.truncated + states[State.TRUNCATED],
            empty=self.empty + states[State.EMPTY],
            tokens=self.tokens + sum(one.tokens for one, hit in zip(extractions, cached, strict=True) if not hit),
            cache_hits=self.cache_hits + sum(cached),
            dropped=dict(dropped),
            reasons=dict(reasons),
            seconds=seconds,
        )

    def joined(self, part: Progress, seconds: float) -> Progress:
        """Return the count with another part of the same run in it, `seconds` after the start."""
        summed = {
            name: getattr(self, name) + getattr(part, name)
            for name in ("memories", "skipped", "mentions", "facts", "failed", "truncated", "empty", "tokens")
        }
        return replace(
            self,
            **summed,
            dropped=dict(Counter(self.dropped) + Counter(part.dropped)),
            reasons=dict(Counter(self.reasons) + Counter(part.reasons)),
            seconds=seconds,
        )

    def __str__(self) -> str:
        if self.stage:
            return self._of_stage()
        done = f"{self.memories}/{self.total - self.skipped}" if self.total is not None else f"{self.memories}"
        left = f", {self.left:.0f} s left" if self.left is not None and self.left > 0 else ""
        return (
            f"{done} memories, {self.mentions} mentions, {self.facts} facts, {self.failed} failed, "
            f"{self.truncated} truncated, {self.empty} empty, {self.tokens} tokens, {self.cache_hits} from cache{left}"
        )

    def _of_stage(self) -> str:
        done = f"{self.memories:,}" + (f"/{self.total - self.skipped:,}" if self.total is not None else "")
        rate = f", {self.memories / self.seconds:,.0f} a second" if self.memories and self.seconds else ""
        left = f", {self.left:.0f} s left" if self.left else ""
        return f"{self.stage}: {done}{rate}{left}"
