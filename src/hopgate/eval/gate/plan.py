"""How a gate is run, and what counts as enough for a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from hopgate.eval.data.dataset import Dataset

Arms = Literal["quick", "default", "full"]
ARMS: tuple[str, ...] = get_args(Arms)


@dataclass(frozen=True)
class GateOptions:
    """How a gate is run; saved beside its result.

    Parameters
    ----------
    tune : str
        The split that configurations are chosen on; empty for none.
    split : str
        The split that is reported.
    k : int
        The top k that is judged.
    depth : int
        How deep the legs go.
    arms : {"quick", "default", "full"}
        How many arms; `full` adds a graph made by no model, k of RRF swept, and the exact-match bonus.
    seed : int
        Of the shuffled control and the statistics.

    Examples
    --------
    >>> GateOptions(arms="quick")
    GateOptions(tune='dev', split='test', k=10, depth=50, arms='quick', seed=0)
    """

    tune: str = "dev"
    split: str = "test"
    k: int = 10
    depth: int = 50
    arms: Arms = "default"
    seed: int = 0


@dataclass(frozen=True)
class Policy:
    """What counts as enough.

    Parameters
    ----------
    alpha : float
        The level of the test, after Holm's correction.
    worthwhile : float
        The smallest gain at the primary measure that would be worth a graph leg; CLOSED needs it excluded.
    harm : float
        The largest loss that is accepted elsewhere.
    fewest : int
        With fewer queries there is no verdict: no bootstrap interval of so few can be trusted.
    reachable : float
        The share of queries on which a graph-only candidate must have been able to enter the top k.
    permutations, resamples, seed : int
        Of the randomisation test and the bootstrap.

    Examples
    --------
    >>> Policy.from_dict(Policy(alpha=0.01).to_dict()).alpha
    0.01
    """

    alpha: float = 0.05
    worthwhile: float = 0.03
    harm: float = 0.02
    fewest: int = 10
    reachable: float = 0.5
    permutations: int = 10_000
    resamples: int = 5_000
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of a saved gate."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Policy:
        """Make it from a saved gate's record."""
        return cls(**record)


def plan_problems(dataset: Dataset, options: GateOptions) -> list[str]:
    """Give the reasons why a gate with these options cannot run on a data set, none where it can."""
    problems = []
    for split in dict.fromkeys(name for name in (options.split, options.tune) if name):
        path = dataset.folder / "qrels" / f"{split}.tsv"
        hint = " (--tune none tunes nothing)" if split == options.tune else ""
        if split not in dataset.splits:
            problems.append(f"{path} is missing: the splits there are {', '.join(dataset.splits)}{hint}")
        elif not dataset.splits[split]:
            problems.append(f"{path} judges no query{hint}")
    if options.tune == options.split:
        problems.append(f"{options.tune!r} cannot be both tuned on and reported: name two splits")
    return problems
