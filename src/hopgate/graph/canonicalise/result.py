"""What canonicalisation found, as an object to interrogate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from hopgate.errors import HopgateError
from hopgate.graph.canonicalise.cluster import Join, cut
from hopgate.graph.canonicalise.features import KINDS
from hopgate.graph.canonicalise.score import Scored
from hopgate.graph.canonicalise.units import IntArray, Units
from hopgate.graph.names.normal import normalise


@dataclass(frozen=True, slots=True)
class Cluster:
    """The names of one concept, the most mentioned first: that one is its canonical name."""

    label: int
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    mentions: int

    @property
    def canonical(self) -> str:
        """The name most mentions use; of equals the longest, then the first in the alphabet."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class MergeExplanation:
    """Why two names are, or are not, one concept.

    `direct` is the score of the two names themselves (None where no block proposed the pair), `evidence` what it is
    made of; `joined_at` is how alike the two groups were when they became one (None: never), and `link` the pair of
    names, one from each group, that spoke strongest for it.
    """

    merged: bool
    direct: float | None
    evidence: dict[str, float]
    joined_at: float | None
    link: tuple[str, str] | None


@dataclass(frozen=True)
class Canonicalisation:
    """Clusters of mentions at a threshold, with the pairs and merges that made them.

    Examples
    --------
    >>> from hopgate.graph.canonicalise import Canonicaliser, ContextMention
    >>> names = ["John Lennon", "John Lennon", "John Winston Lennon", "Lennon", "Berlin"]
    >>> result = Canonicaliser().fit([ContextMention(name) for name in names])
    >>> result.labels_.tolist(), result.why("Lennon", "John Lennon").evidence["expansion"]
    ([0, 0, 0, 0, 1], 1.0)
    >>> result.least_similar(0)
    ('John Winston Lennon', 'Lennon', 0.8333)
    >>> result.rethreshold(0.95).labels_.tolist()
    [0, 0, 0, 1, 2]
    """

    units: Units = field(repr=False)
    scored: Scored = field(repr=False)
    merges: tuple[Join, ...] = field(repr=False)
    threshold: float

    @cached_property
    def unit_labels(self) -> IntArray:
        """The cluster of each unit (name and kind)."""
        return cut(list(self.merges), len(self.units), self.threshold)

    @property
    def labels_(self) -> IntArray:
        """The cluster of each mention, numbered in order of first mention."""
        return self.unit_labels[self.units.of_mention] if len(self.units) else self.units.of_mention

    def rethreshold(self, threshold: float) -> Canonicalisation:
        """Cut the same tree elsewhere; nothing is scored again."""
        return replace(self, threshold=threshold)

    def clusters(self) -> list[Cluster]:
        """List the concepts, by label."""
        return [self._cluster(label, members) for label, members in enumerate(self._members)]

    def least_similar(self, label: int) -> tuple[str, str, float]:
        """Give the two names of a cluster that are least alike, and their score (0 where no block proposed them)."""
        members = self._members[label] if 0 <= label < len(self._members) else []
        if len(members) < 2:
            raise HopgateError(f"cluster {label} has fewer than two names: nothing to compare")
        worst = min(
            ((self._pairs.get((a, b), (0.0, -1))[0], a, b) for at, a in enumerate(members) for b in members[at + 1 :]),
        )
        return self.units.spellings[worst[1]], self.units.spellings[worst[2]], round(worst[0], 4)

    def why(self, first: str, second: str) -> MergeExplanation:
        """Explain why two names merged, or why they did not."""
        a, b = sorted((self._unit(first), self._unit(second)))
        score, row = self._pairs.get((a, b), (None, -1))
        found = {} if row < 0 else dict(zip(KINDS, self.scored.evidence[row].tolist(), strict=True))
        kept = {kind: round(value, 4) for kind, value in found.items() if value > 0}
        joined, link = self._joined(a, b) if a != b else (1.0, None)
        return MergeExplanation(bool(self.unit_labels[a] == self.unit_labels[b]), score, kept, joined, link)

    def __str__(self) -> str:
        several = sum(len(members) > 1 for members in self._members)
        return (
            f"{len(self.labels_)} mentions, {len(self.units)} names, {len(self._members)} concepts "
            f"({several} with several names) at threshold {self.threshold}"
        )

    @cached_property
    def _members(self) -> list[list[int]]:
        members: list[list[int]] = [[] for _ in range(int(self.unit_labels.max()) + 1)] if len(self.units) else []
        for unit, label in enumerate(self.unit_labels.tolist()):
            members[label].append(unit)
        return members

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], tuple[float, int]]:
        columns = zip(self.scored.i.tolist(), self.scored.j.tolist(), self.scored.score.tolist(), strict=True)
        return {(a, b): (score, row) for row, (a, b, score) in enumerate(columns)}

    def _cluster(self, label: int, members: list[int]) -> Cluster:
        units = self.units
        ranked = sorted(members, key=lambda at: (-units.counts[at], -len(units.spellings[at]), units.spellings[at]))
        weight: dict[str, float] = {}
        for unit in ranked:
            kind = units.kinds[unit]
            if kind is not None:
                weight[kind] = weight.get(kind, 0) + float(units.counts[unit])
        return Cluster(
            label,
            tuple(dict.fromkeys(units.spellings[unit] for unit in ranked)),
            tuple(sorted(weight, key=lambda kind: (-weight[kind], kind))),
            int(units.counts[members].sum()),
        )

    def _unit(self, name: str) -> int:
        wanted = normalise(name)
        if wanted not in self.units.names:
            raise HopgateError(f"no mention is called {name!r}")
        return self.units.names.index(wanted)

    def _joined(self, a: int, b: int) -> tuple[float | None, tuple[str, str] | None]:
        """Where in the tree two units meet, and the strongest pair across that merge."""
        groups: dict[int, set[int]] = {}
        count = len(self.units)

        def group(at: int) -> set[int]:
            return groups.pop(at, {at})

        for made, merge in enumerate(self.merges, start=count):
            left, right = group(merge.left), group(merge.right)
            if (a in left and b in right) or (a in right and b in left):
                across = max(self._across(left, right), default=None)
                if across is None:
                    return merge.score, None
                return merge.score, (self.units.spellings[across[1]], self.units.spellings[across[2]])
            groups[made] = left | right
        return None, None

    def _across(self, left: set[int], right: set[int]) -> Iterator[tuple[float, int, int]]:
        for a in left:
            for b in right:
                pair = self._pairs.get((min(a, b), max(a, b)))
                if pair is not None:
                    yield pair[0], a, b
