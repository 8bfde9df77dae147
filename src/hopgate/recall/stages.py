"""What a ranking passes through after the legs, as a value: fuse, re-rank, walk from what the re-ranker believes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from hopgate.errors import HopgateError

MOST_DEPTH = 1000
_STEP = re.compile(r"(rerank)(?:\((\d{1,9})\))?|(walk)")


class Stage(NamedTuple):
    """One step after fusion: `rerank`, with how many it reads (none: what `rerank_depth` says), or `walk`."""

    name: str
    depth: int | None = None

    def __str__(self) -> str:
        return self.name if self.depth is None else f"{self.name}({self.depth})"


@dataclass(frozen=True, slots=True, repr=False)
class Stages:
    """The stages of a query after its legs; prints as itself, and states its cost.

    Parameters
    ----------
    text : str
        The stages in their order: `fuse` first, then `rerank`, `rerank(20)` and `walk`. A walk starts from what the
        cross-encoder believes, so that it follows a `rerank`; a second `rerank` reads only what it has not read.

    Examples
    --------
    >>> stages = Stages("fuse>rerank > walk")
    >>> stages, stages.at_depth(30)
    (Stages('fuse > rerank > walk'), Stages('fuse > rerank(30) > walk'))
    >>> Stages("fuse > rerank(30) > walk > rerank(30)").pairs
    60
    >>> Stages("walk")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: stages begin with fuse, as in 'fuse > rerank > walk', not 'walk'
    """

    text: str = "fuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", " > ".join(["fuse", *map(str, self.after)]))

    def __repr__(self) -> str:
        return f"Stages({self.text!r})"

    def __str__(self) -> str:
        return self.text

    @property
    def after(self) -> tuple[Stage, ...]:
        """The stages that follow fusion."""
        first, *rest = [step.strip() for step in self.text.split(">")]
        if first != "fuse":
            raise HopgateError(f"stages begin with fuse, as in 'fuse > rerank > walk', not {self.text!r}")
        found: list[Stage] = []
        for step in rest:
            match = _STEP.fullmatch(step)
            if match is None:
                raise HopgateError(f"a stage after fuse is rerank, rerank(N) or walk, not {step!r}")
            stage = Stage(match[1] or match[3], int(match[2]) if match[2] else None)
            if stage.depth is not None and not 1 <= stage.depth <= MOST_DEPTH:
                raise HopgateError(f"a cross-encoder reads between 1 and {MOST_DEPTH} candidates, not {stage.depth}")
            if stage.name == "walk" and (not found or found[-1].name != "rerank"):
                raise HopgateError(
                    f"a walk starts from what was re-ranked, so that rerank comes before it: {self.text!r}"
                )
            found.append(stage)
        return tuple(found)

    @property
    def pairs(self) -> int:
        """How many pairs the cross-encoder reads of a query at most, where no memory is long."""
        return sum(stage.depth or 0 for stage in self.after)

    @property
    def deepest(self) -> int:
        """How many of a ranking the stages look at."""
        return max((stage.depth or 0 for stage in self.after), default=0)

    @property
    def walks(self) -> bool:
        """Whether a walk is among them."""
        return any(stage.name == "walk" for stage in self.after)

    def at_depth(self, depth: int) -> Stages:
        """Give these stages with a depth for each re-ranking that states none."""
        steps = (Stage(s.name, s.depth or depth if s.name == "rerank" else None) for s in self.after)
        return Stages(" > ".join(["fuse", *map(str, steps)]))
