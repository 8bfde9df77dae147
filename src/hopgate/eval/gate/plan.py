"""How a gate is run, and what counts as enough for a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.measures import Measure, Recall, parse_measure

Arms = Literal["quick", "default", "full"]
ARMS: tuple[str, ...] = get_args(Arms)
# With 20 shuffles the real graph is first of 21 by chance with 1/21 = .048.
SHUFFLES = 20
OWN_STATEMENTS = "own"
"""Build the graph with the data set's own statements.jsonl."""


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
        How many arms; `full` adds the graph without each of its parts, a graph made by no model, the prototype's own
        graph, k of RRF swept, and the exact-match bonus.
    seed : int
        Of the shuffled control and the statistics.
    shuffles : int
        How many shuffled graphs the real one is compared with; fewer than 19 can never pass at a level of .05.
    rerank : bool
        Whether every base and the challenger are compared with a cross-encoder over them too.
    extractor, model, url : str
        What makes the graph, as for `hopgate build`; empty for triples.jsonl, or the no-model extractor without one.
    statements : str
        A file of statements that the graph is built with; "own" for the data set's statements.jsonl, empty for none.
    embedder : str
        What makes the vectors; empty for the default.
    measure : str
        The primary measure; empty for recall@k.
    slices : tuple of str
        The slices to watch, by their names; empty for all there are.

    Examples
    --------
    >>> GateOptions(arms="quick").split
    'test'
    """

    tune: str = "dev"
    split: str = "test"
    k: int = 10
    depth: int = 50
    arms: Arms = "default"
    seed: int = 0
    shuffles: int = SHUFFLES
    rerank: bool = False
    extractor: str = ""
    model: str = ""
    url: str = ""
    statements: str = ""
    embedder: str = ""
    measure: str = ""
    slices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.arms not in ARMS:
            raise HopgateError(f"--arms is one of {', '.join(ARMS)}, not {self.arms!r}")
        if not 1 <= self.k <= self.depth:
            raise HopgateError(f"--k must be between 1 and {self.depth}, the depth of the legs, not {self.k}")
        if self.shuffles < 0:
            raise HopgateError(f"--shuffles counts from 0, not {self.shuffles}")

    @property
    def shuffle_seeds(self) -> range:
        """The seed of each shuffled graph."""
        return range(self.seed, self.seed + self.shuffles)

    @property
    def primary(self) -> Measure:
        """The measure that the claim is about."""
        return parse_measure(self.measure) if self.measure else Recall(self.k)


@dataclass(frozen=True)
class Policy:
    """What counts as enough; declared before anything is run.

    Parameters
    ----------
    alpha : float
        The family-wise level over everything that can decide: half for the claim, half for all harms together.
    worthwhile : float
        The smallest gain at the primary measure that would be worth a graph leg; CLOSED needs it excluded.
    margin : float
        The largest loss that is put up with elsewhere.
    every_harm_excluded : bool
        Whether OPEN needs every harm excluded, and not only none shown.
    reachable : float
        The share of queries on which a graph-only candidate must have been able to enter the top k.
    rank_alpha : float, optional
        The level of the real graph's rank among its shuffles; `alpha` where not given.
    permutations, seed : int
        Of the randomisation test.

    Examples
    --------
    >>> Policy.from_dict(Policy(alpha=0.01).to_dict()).alpha
    0.01
    """

    alpha: float = 0.05
    worthwhile: float = 0.03
    margin: float = 0.02
    every_harm_excluded: bool = False
    reachable: float = 0.5
    rank_alpha: float | None = None
    permutations: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise HopgateError(f"alpha must lie between 0 and 1, not {self.alpha}")
        for name in ("worthwhile", "margin"):
            if not 0 < getattr(self, name) < 1:
                raise HopgateError(f"{name} is a difference between 0 and 1, not {getattr(self, name)}")

    @property
    def rank_level(self) -> float:
        """The level of the rank among the shuffles."""
        return self.alpha if self.rank_alpha is None else self.rank_alpha

    def after(self, looks: int) -> Policy:
        """Give the policy whose level is shared out over so many looks at the same queries.

        The rank among the shuffles keeps its level: it is about the shuffles, and so few of them cannot give less.

        Examples
        --------
        >>> Policy().after(5).alpha, Policy().after(5).rank_level
        (0.01, 0.05)
        """
        return replace(self, alpha=self.alpha / max(1, looks), rank_alpha=self.rank_level)

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
