"""How a gate is run and what counts as enough for a verdict, declared as a file before anything is run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from hopgate.errors import HopgateError
from hopgate.eval.measures import Measure, Recall, parse_measure
from hopgate.options import check, from_toml, options_of, setting, to_toml

FILE = "plan.toml"
OWN_STATEMENTS = "own"
"""Build the graph with the data set's own statements.jsonl."""
LEAST_QUERIES, LEAST_CLUSTERS = 25, 6
"""With fewer reported questions or groups of questions nothing opens."""


@dataclass(frozen=True)
class Plan:
    """All that is declared about a gate.

    Examples
    --------
    >>> plan = Plan(k=5, alpha=0.01)
    >>> plan.primary, plan.deviations
    (recall@5, ('k = 5', 'alpha = 0.01'))
    """

    k: int = setting(10, "the top k that is judged", low=1)
    measure: str = setting("", "what is measured of the first k: recall, ndcg, mrr, map or success", shown="recall@k")
    relevant_from: int = setting(1, "the least grade that counts as an answer", low=1)
    worthwhile: float = setting(0.03, "the smallest gain worth having; CLOSED excludes it", above=0, below=1)
    alpha: float = setting(0.05, "the chance of an OPEN without an effect", above=0, high=0.2)
    tune: str = setting("dev", "the split that configurations are chosen on; none tunes nothing")
    split: str = setting("test", "the split that is reported")
    about: Literal["new", "these"] = setting("new", "decide about new conversations, or further questions on these")
    shuffles: int = setting(39, "shuffled graphs that each part is compared with", low=19, high=10_000)
    rerank: bool = setting(False, "order what is compared by a cross-encoder, each base also as it is")
    without_late: bool = setting(False, "leave late interaction out of the bases")
    slices: tuple[str, ...] = setting((), "guard this slice too, such as hops=2", called="slice")
    depth: int = setting(50, "how deep the legs go", low=1, high=1000)
    seed: int = setting(0, "seed of shuffles and randomisation", low=0, high=2**31 - 1)
    extractor: str = setting("", "what makes the graph, as for hopgate build", shown="triples.jsonl, else phrases")
    model: str = setting("", "the extractor's model, as for hopgate build")
    url: str = setting("", "the endpoint for openai")
    statements: str = setting("", "add a file of statements; alone the data set's own", alone=OWN_STATEMENTS)
    embedder: str = setting("", "what makes the vectors, as for hopgate embed", shown="bge-small")

    def __post_init__(self) -> None:
        check(self)
        if self.tune == "none":
            object.__setattr__(self, "tune", "")
        if self.tune == self.split:
            raise HopgateError(f"{self.tune!r} cannot be both tuned on and reported: name two splits")
        if self.primary.k != self.k:
            raise HopgateError(f"{self.measure} does not judge the first {self.k}: declare k = {self.primary.k}, too")
        if self.k > self.depth:
            raise HopgateError(f"k must be between 1 and {self.depth}, the depth of the legs, not {self.k}")

    @property
    def primary(self) -> Measure:
        """The measure that the claim is about, of the first k."""
        declared = parse_measure(self.measure) if self.measure else Recall()
        return replace(declared, k=declared.k or self.k)

    @property
    def deviations(self) -> tuple[str, ...]:
        """What is declared otherwise than by default and may move a verdict: the headline says it."""
        moving = takewhile(lambda option: option.name != "depth", options_of(Plan))
        values = {option.name: getattr(self, option.name) for option in moving}
        return tuple(f"{name} = {value or 'none'}" for name, value in values.items() if value != getattr(Plan, name))


def plan_of(values: Mapping[str, Any]) -> Plan:
    """Make a plan of what was declared; what was not has its default, and an unknown name is refused."""
    known = {option.name for option in options_of(Plan)}
    for name in values:
        if name not in known:
            raise HopgateError(f"a plan has no {name!r}: it has {', '.join(sorted(known))}")
    given: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in values.items()}
    return Plan(**given)


def plan_text(plan: Plan) -> str:
    """Write a plan as TOML, everything that was declared or left at its default."""
    return "# The plan of a gate, declared before it is run.\n" + to_toml(asdict(plan))


def declared(path: Path | None, given: Mapping[str, Any]) -> Plan:
    """Give the plan of a file, written where there is none, and of what the call says, which may not contradict it."""
    kept = from_toml(path) if path is not None and path.exists() else {}
    for name, value in given.items():
        if name in kept and kept[name] != (list(value) if isinstance(value, tuple) else value):
            problem = f"{path} declares {name} = {kept[name]!r}, not {value!r}"
            raise HopgateError(f"{problem}: change the plan, or leave it out")
    plan = plan_of({**kept, **given})
    if path is not None and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(plan_text(plan), encoding="utf-8")
    return plan
