"""How a gate is run and what counts as enough for a verdict; both as a file that is declared before anything is run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from hopgate.errors import HopgateError
from hopgate.eval.data.dataset import Dataset
from hopgate.eval.measures import Measure, Recall, parse_measure
from hopgate.options import check, from_toml, options_of, setting, to_toml

Arms = Literal["quick", "default", "full"]
# With 20 shuffles the real graph is first of 21 by chance with 1/21 = .048.
SHUFFLES = 20
OWN_STATEMENTS = "own"
"""Build the graph with the data set's own statements.jsonl."""


@dataclass(frozen=True)
class GateOptions:
    """How a gate is run; saved beside its result.

    Examples
    --------
    >>> GateOptions(arms="quick").split
    'test'
    """

    tune: str = setting("dev", "the split that configurations are chosen on; none tunes nothing")
    split: str = setting("test", "the split that is reported")
    k: int = setting(10, "the top k that is judged", low=1)
    depth: int = setting(50, "how deep the legs go", low=1, high=1000)
    arms: Arms = setting(
        "default",
        "how many arms; full adds the graph without each of its parts, one made by no model, the prototype's own, k of "
        "RRF swept, and the exact-match bonus",
    )
    seed: int = setting(0, "seed of the shuffles and the statistics", low=0, high=2**31 - 1)
    shuffles: int = setting(
        SHUFFLES, "shuffled graphs that the real one is compared with; below 19 none can pass", low=0, high=10_000
    )
    rerank: bool = setting(False, "compare every base and the challenger with a cross-encoder over them, too")
    extractor: str = setting(
        "", "what makes the graph: phrases, rules, llama, openai or replay", shown="triples.jsonl, else phrases"
    )
    model: str = setting("", "the extractor's model, as for hopgate build")
    url: str = setting("", "the endpoint for openai")
    statements: str = setting(
        "",
        "a file of statements that the graph is built with, too; alone the data set's statements.jsonl",
        alone=OWN_STATEMENTS,
    )
    embedder: str = setting("", "what makes the vectors, as for hopgate embed", shown="bge-small")
    measure: str = setting("", "the measure that the claim is about", shown="recall@k")
    slices: tuple[str, ...] = setting((), "watch only this slice, such as hops=2", called="slice", shown="all")

    def __post_init__(self) -> None:
        check(self)
        if self.tune == "none":
            object.__setattr__(self, "tune", "")
        if self.k > self.depth:
            raise HopgateError(f"k must be between 1 and {self.depth}, the depth of the legs, not {self.k}")

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
    rank_alpha : float, optional
        The level of the real graph's rank among its shuffles; `alpha` where not given.
    seed : int
        Of the randomisation test.

    Examples
    --------
    >>> Policy.from_dict(Policy(alpha=0.01).to_dict()).alpha
    0.01
    """

    alpha: float = setting(
        0.05, "the chance of any wrong decision: half for the claim, half for all harms together", above=0, below=1
    )
    worthwhile: float = setting(
        0.03, "the smallest gain that would be worth a graph leg; CLOSED needs it excluded", above=0, below=1
    )
    margin: float = setting(0.02, "the largest loss that is put up with elsewhere", above=0, below=1)
    every_harm_excluded: bool = setting(False, "whether OPEN needs every harm excluded, and not only none shown")
    reachable: float = setting(
        0.5,
        "the share of queries on which a graph-only candidate must be able to enter the top k",
        low=0,
        high=1,
    )
    rank_alpha: float | None = None
    permutations: int = setting(10_000, "permutations of the randomisation test", low=1)
    seed: int = 0

    def __post_init__(self) -> None:
        check(self)

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


OPTIONS = {option.name: option for kind in (Policy, GateOptions) for option in options_of(kind)}
"""All that a plan can declare, by its name."""
FILE = "plan.toml"


def make_plan(declared: Mapping[str, Any]) -> tuple[GateOptions, Policy]:
    """Make options and policy of what was declared; what was not has its default.

    Examples
    --------
    >>> options, policy = make_plan({"alpha": 0.01, "k": 5, "slices": ["hops=2"]})
    >>> policy.alpha, options.k, options.slices
    (0.01, 5, ('hops=2',))
    """
    for name in declared:
        if name not in OPTIONS:
            raise HopgateError(f"a plan has no {name!r}: it has {', '.join(sorted(OPTIONS))}")
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in declared.items()
    }
    policy = {option.name for option in options_of(Policy)}
    options = GateOptions(**{name: value for name, value in given.items() if name not in policy})
    return options, Policy(seed=options.seed, **{name: value for name, value in given.items() if name in policy})


def plan_text(options: GateOptions, policy: Policy) -> str:
    """Write the plan as TOML, everything that was declared or left at its default.

    Examples
    --------
    >>> print(plan_text(GateOptions(), Policy()).splitlines()[1])
    alpha = 0.05
    """
    values = {**asdict(options), **{option.name: getattr(policy, option.name) for option in options_of(Policy)}}
    return "# The plan of a gate, declared before it is run.\n" + to_toml({name: values[name] for name in OPTIONS})


def plan_hash(text: str) -> str:
    """Name a plan by its content.

    Examples
    --------
    >>> plan_hash("alpha = 0.05")
    '32b2450880c2'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def declared(path: Path | None, given: Mapping[str, Any]) -> tuple[GateOptions, Policy, str]:
    """Give options, policy and the plan's text: from its file where there is one, which is written where there is none.

    Parameters
    ----------
    path : Path, optional
        The plan's file.
    given : mapping
        What the call itself says: it may not contradict the file.
    """
    if path is not None and path.exists():
        plan = from_toml(path)
        for name, value in given.items():
            if name in plan and plan[name] != (list(value) if isinstance(value, tuple) else value):
                raise HopgateError(
                    f"{path} declares {name} = {plan[name]!r}, not {value!r}: change the plan, or leave it out"
                )
        return *make_plan({**plan, **given}), path.read_text(encoding="utf-8")
    options, policy = make_plan(given)
    text = plan_text(options, policy)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return options, policy, text


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
