"""What a backfill did, and how quickly each stage of it went."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class StageRate:
    """A stage's rows and seconds; several workers' seconds add up.

    Examples
    --------
    >>> print(StageRate("embedding", 300, 2.0))
    embedding: 300 rows in 2.0 s, 150 a second
    """

    stage: str
    rows: int = 0
    seconds: float = 0.0

    def plus(self, rows: int, seconds: float) -> StageRate:
        """The stage with more of it."""
        return replace(self, rows=self.rows + rows, seconds=self.seconds + seconds)

    def __str__(self) -> str:
        rate = f", {self.rows / self.seconds:,.0f} a second" if self.rows and self.seconds else ""
        return f"{self.stage}: {self.rows:,} rows in {self.seconds:,.1f} s{rate}"


@dataclass(frozen=True, slots=True)
class Backfilled:
    """What a backfill did.

    Attributes
    ----------
    read : int
        Rows of the source.
    added, changed : int
        Memories that are new, and memories that were known and are as the source has them now.
    settled : int
        Memories that the store had already as they came: of an earlier run, or of another one beside this.
    sensitive : int
        Those of the source that no model has read.
    set_aside : int
        Rows that no memory could be made of: `kb.set_aside()` lists them.
    repeated : int
        Rows whose id came again later in the same batch: the last one counts.
    embedded, linked : int
        Memories that got a vector, and memories that got an extraction.
    workers : int
        How many worked.
    seconds : float
        From the first row to the last edge.
    stages : tuple of StageRate
        How quickly each stage went.
    """

    read: int = 0
    added: int = 0
    changed: int = 0
    settled: int = 0
    sensitive: int = 0
    set_aside: int = 0
    repeated: int = 0
    embedded: int = 0
    linked: int = 0
    workers: int = 1
    seconds: float = 0.0
    stages: tuple[StageRate, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.read:,} rows: {self.added:,} memories are new, {self.changed:,} changed, {self.settled:,} were "
            f"there already, {self.set_aside:,} rows were set aside; {self.embedded:,} embedded, {self.linked:,} "
            f"linked, {self.sensitive:,} sensitive ones left unread; {self.seconds:,.1f} s with {self.workers} "
            f"worker{'s' if self.workers > 1 else ''}"
        )

    def plus(self, **more: int) -> Backfilled:
        """The summary with more of some counts.

        Examples
        --------
        >>> Backfilled(read=2).plus(read=3, added=1).read
        5
        """
        values = {name: getattr(self, name) + number for name, number in more.items()}
        return replace(self, **values)

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return asdict(self)
