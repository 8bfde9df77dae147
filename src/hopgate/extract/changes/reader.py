"""Who says whether a later note ends what an earlier one says, and from which likelihood on that counts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import starmap
from typing import Protocol

from hopgate.bundled import cores
from hopgate.extract.changes.model import WEIGHTS_SHA256, Compared, compared, may_tell_change, tells_change

MOST_WORDS, MOST_CHARACTERS = 60, 1000
"""A note of more is not compared: the model was trained on short ones."""


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

    def refutes(self, later: str, compared: Compared) -> bool:
        """Whether a later note ends nothing of an earlier one, though facts of both contradict each other."""
        ...

    def may_tell_change(self, text: str) -> bool:
        """Whether a note is worth comparing with earlier ones."""
        ...

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Compared]:
        """Compare an earlier note and a later one, for each pair."""
        ...


@dataclass(frozen=True)
class TrainedChanges:
    """Compare short notes by the trained model that comes with hopgate.

    Parameters
    ----------
    threshold : float
        From this likelihood on a later note ends what the earlier one says.
    veto, told : float
        What rules take for an end is none where its likelihood is below `veto`, and that the later note tells of any
        change is less likely than `told`. On the tuning halves of benchmarks/notes that refutes 33 of 33 wrong ends of
        rules and none of 148 right ones.

    Examples
    --------
    >>> reader = TrainedChanges()
    >>> [pair] = reader.read([("Backups go to Backblaze.", "Backups go to Wasabi from now on.")])
    >>> pair.end > reader.threshold, pair.thing, pair.former, pair.value
    (True, 'Backups', 'Backblaze', 'Wasabi')
    """

    threshold: float = 0.98
    veto: float = 0.02
    told: float = 0.5

    @property
    def name(self) -> str:
        """The model's file and the thresholds."""
        return f"changes {WEIGHTS_SHA256[:8]} {self.threshold} {self.veto} {self.told}"

    def may_tell_change(self, text: str) -> bool:
        """Whether a note is short, and has words of notes that tell changes."""
        return is_short(text) and may_tell_change(text)

    def refutes(self, later: str, compared: Compared) -> bool:
        """Whether both the end and any change at all are unlikely."""
        return compared.end < self.veto and tells_change(later) < self.told

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Compared]:
        """Compare pairs, on all cores."""
        if len(pairs) == 1:
            return list(starmap(compared, pairs))
        with ThreadPoolExecutor(cores(), thread_name_prefix="hopgate-changes") as pool:
            return list(pool.map(compared, *zip(*pairs, strict=True))) if pairs else []


def is_short(text: str) -> bool:
    """Whether a note is one that the model reads.

    Examples
    --------
    >>> is_short("Backups go to Wasabi."), is_short("again and " * 50)
    (True, False)
    """
    return len(text) <= MOST_CHARACTERS and len(text.split()) <= MOST_WORDS
