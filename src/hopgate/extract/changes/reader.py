"""Who says whether a later note ends what an earlier one says, and from which likelihood on that counts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import starmap
from typing import Protocol

from hopgate.bundled import cores
from hopgate.extract.changes.model import WEIGHTS_SHA256, Compared, compared, may_tell_change


class ChangeReader(Protocol):
    """Compares earlier notes with later ones."""

    @property
    def name(self) -> str:
        """By what a memory that was compared is marked, so that each is compared once."""
        ...

    @property
    def threshold(self) -> float:
        """From this likelihood on a later note ends what the earlier one says."""
        ...

    @property
    def told(self) -> float:
        """From this likelihood on that it tells of a change by itself a note is compared with earlier ones."""
        ...

    def refutes(self, compared: Compared, alone: Compared) -> bool:
        """Whether a later note ends nothing of an earlier one, though facts of both contradict each other."""
        ...

    def may_tell_change(self, text: str) -> bool:
        """Whether a note is worth reading by itself."""
        ...

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Compared]:
        """Compare an earlier note and a later one, for each pair; a note by itself has an empty one before it."""
        ...


@dataclass(frozen=True)
class TrainedChanges:
    """Compare short notes by the trained model that comes with hopgate.

    Parameters
    ----------
    threshold : float
        From this likelihood on a later note ends what the earlier one says.
    told : float
        From this likelihood on that it tells of a change by itself a note is compared with earlier ones: on the tuning
        halves of benchmarks/notes that loses none of 206 changes, and spares most of the comparisons.
    veto : float
        What rules take for an end is none where its likelihood is below, and that of any change is below `told`. On the
        same halves that refutes 33 of 33 wrong ends of rules and none of 148 right ones.

    Examples
    --------
    >>> reader = TrainedChanges()
    >>> [pair] = reader.read([("Backups go to Backblaze.", "Backups go to Wasabi from now on.")])
    >>> pair.end > reader.threshold, pair.thing, pair.former, pair.value
    (True, 'Backups', 'Backblaze', 'Wasabi')
    """

    threshold: float = 0.98
    told: float = 0.5
    veto: float = 0.02

    @property
    def name(self) -> str:
        """The model's file and the thresholds."""
        return f"changes {WEIGHTS_SHA256[:8]} {self.threshold} {self.told} {self.veto}"

    def may_tell_change(self, text: str) -> bool:
        """Whether a note has words of notes that tell changes."""
        return may_tell_change(text)

    def refutes(self, compared: Compared, alone: Compared) -> bool:
        """Whether both the end and any change at all are unlikely."""
        return compared.end < self.veto and alone.change < self.told

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Compared]:
        """Compare pairs, on all cores."""
        if len(pairs) < 2 or cores() == 1:
            return list(starmap(compared, pairs))
        with ThreadPoolExecutor(cores(), thread_name_prefix="hopgate-changes") as pool:
            return list(pool.map(compared, *zip(*pairs, strict=True)))
