"""What the audit and the verdict are given: arms, judgements, slices, and how the arms came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from functools import cached_property
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.arms.leg_lists import Blind, LegLists
from hopgate.eval.data.dataset import Query
from hopgate.eval.data.runs import Qrels, Run
from hopgate.eval.gate.plan import Policy
from hopgate.eval.measures import MRR, NDCG, Measure, Recall
from hopgate.eval.slices import All, Slice
from hopgate.recall.fuse import FUSERS, AnyFuser, Importance, parse, parse_value

GRAPH = "graph"
BASE_LEGS = ("lexical", "dense")
LEGS = (*BASE_LEGS, GRAPH)
MEASURES: tuple[Measure, ...] = (Recall(5), NDCG(10), MRR())
"""What must not be harmed, beside the primary measure."""


@dataclass(frozen=True)
class Arm:
    """One configuration and what it returned.

    Parameters
    ----------
    name : str
    run : Run
        The final rankings.
    fuser : str
        The fuser as it prints; empty for an arm that fuses nothing.
    legs : mapping of leg to Run
        The lists as fusion got them: each leg's scores of all that any leg found, and more.
    found : mapping of leg to Run
        The lists as the legs found them, after the filters all legs share (scope, already in context) and before any
        that one leg alone had. What is not given was fused as found.
    base, blind, into
        What recall's last steps take, see `LegLists`; `into` 0 for lists that were fused as they are.
    prior : str
        The importance prior as it prints; empty for none.
    bonus, matched
        The exact-match bonus as it prints, and the memories it went to, by query.
    read : Run
        What the cross-encoder scored of the first memories; empty where none read them.
    walked : Run
        What a walk from that found, which the final order follows; empty where none did.
    settings : mapping
        Everything else that was set: embedder, extractor, walk, depths.
    """

    name: str
    run: Run = member(repr=False)
    fuser: str = ""
    legs: Mapping[str, Run] = member(default_factory=dict, repr=False)
    found: Mapping[str, Run] = member(default_factory=dict, repr=False)
    prior: str = ""
    bonus: str = ""
    matched: Mapping[str, Sequence[str]] = member(default_factory=dict, repr=False)
    read: Run = member(default_factory=dict, repr=False)
    walked: Run = member(default_factory=dict, repr=False)
    settings: Mapping[str, Any] = member(default_factory=dict, repr=False)
    base: Run = member(default_factory=dict, repr=False)
    blind: Blind = member(default_factory=dict, repr=False)
    into: int = 0

    @cached_property
    def fuser_value(self) -> AnyFuser | None:
        """The fuser as a value; None where nothing is fused, or by something that is not known by name."""
        return parse(self.fuser) if self.fuser.split("(")[0] in FUSERS else None

    @property
    def uses_graph(self) -> bool:
        """Whether the graph leg is fused with a weight above 0."""
        return GRAPH in self.legs and (self.fuser_value is None or self.fuser_value.weights.get(GRAPH, 0) > 0)

    @cached_property
    def prior_value(self) -> Importance | None:
        """The importance prior as a value."""
        value = parse_value(self.prior) if self.prior else None
        return value if isinstance(value, Importance) else None

    def leg_lists(self, importance: Mapping[str, float] | None = None) -> LegLists:
        """Give the lists with all that recall's last steps take."""
        found = self.found if self.into else {}
        return LegLists(self.legs, found, self.base, self.blind, importance or {}, self.prior_value, self.into)

    def found_ids(self, leg: str, query: str) -> set[str]:
        """Give the ids that a leg found for a query, fused or not."""
        run = self.found.get(leg, self.legs.get(leg, {}))
        return {memory for memory, _ in run.get(query, ())}

    def found_by_others(self, leg: str, query: str) -> set[str]:
        """Give the ids that the legs other than this one found for a query."""
        others = {*self.legs, *self.found} - {leg}
        return set().union(*(self.found_ids(other, query) for other in others))

    @property
    def configuration(self) -> str:
        """The fuser, the prior and the settings, as one text."""
        parts = [
            self.fuser or self.name,
            self.prior,
            self.bonus,
            *(f"{key}={value}" for key, value in self.settings.items()),
        ]
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True)
class Tuning:
    """How an arm's configuration was chosen.

    Parameters
    ----------
    queries : frozenset of str
        The queries it was chosen on.
    tried : mapping of configuration to float
        Every configuration tried, with what it scored there.
    default : str
        The configuration declared beforehand, which is taken where the queries do not carry a choice.
    carries : bool, optional
        Whether they do; None where there was nothing to choose.
    gain, error : float
        What choosing brought on queries it had not seen, over the default, and its standard error.
    agreement : float
        The share of folds in which the choice was the same.
    """

    queries: frozenset[str] = frozenset()
    tried: Mapping[str, float] = member(default_factory=dict)
    default: str = ""
    carries: bool | None = None
    gain: float = 0.0
    error: float = 0.0
    agreement: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of a saved gate."""
        return {**vars(self), "queries": sorted(self.queries), "tried": dict(self.tried)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Tuning:
        """Make it from a saved gate's record."""
        return cls(**{**record, "queries": frozenset(record["queries"])})


@dataclass(frozen=True)
class GraphSource:
    """Where the graph under test came from.

    Parameters
    ----------
    fingerprint : str
        Names its facts.
    source : str
        The extractor or file.
    facts : frozenset of str
        The keys of its facts (`fact_keys.fact_key`), where questions were made from a graph.
    """

    fingerprint: str
    source: str = ""
    facts: frozenset[str] | None = member(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of a saved gate."""
        facts = None if self.facts is None else sorted(self.facts)
        return {"fingerprint": self.fingerprint, "source": self.source, "facts": facts}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> GraphSource:
        """Make it from a saved gate's record."""
        facts = record["facts"]
        return cls(record["fingerprint"], record["source"], None if facts is None else frozenset(facts))


@dataclass(frozen=True)
class Evidence:
    """Everything a verdict rests on.

    Parameters
    ----------
    queries, qrels
        The reported queries, and their gold.
    arms : mapping of name to Arm
    challenger, base : str
        The arm with the graph, and the strongest arm without, by the development queries.
    rivals : tuple of str
        Further arms without the graph that must be beaten too, where so few development queries cannot tell which of
        them is the strongest.
    shuffles : tuple of Arm
        The challenger on shuffled graphs, each tuned like it.
    primary : Measure
        Declared beforehand; `measures` are the others that must not be harmed.
    slices : mapping of Slice to frozenset of query ids
        The first is the one the claim is about.
    tuning : mapping of arm name to Tuning
    graph : GraphSource, optional
    space : str
        The embedding space under test.
    saved : mapping of arm name to per-query primary values, optional
        As recomputed from disk.
    corpus_size : int, optional
    importance : mapping of id to float
        For arms with an importance prior.
    sweep : mapping of graph weight to primary measure on the tuning queries
        For the report.
    looks : int
        How often the reported queries have been looked at, this time included.
    altered : tuple of str
        What was changed on disk since it was saved.
    given_runs : bool
        Whether the runs are somebody's own, with no legs to look at and no graph to shuffle.
    """

    queries: Mapping[str, Query]
    qrels: Qrels
    arms: Mapping[str, Arm]
    challenger: str
    base: str
    rivals: tuple[str, ...] = ()
    shuffles: tuple[Arm, ...] = member(default=(), repr=False)
    k: int = 10
    primary: Measure = Recall(10)  # noqa: RUF009 - a frozen value
    measures: tuple[Measure, ...] = MEASURES
    slices: Mapping[Slice, frozenset[str]] = member(default_factory=dict)
    tuning: Mapping[str, Tuning] = member(default_factory=dict)
    graph: GraphSource | None = None
    space: str = ""
    saved: Mapping[str, Mapping[str, float]] | None = None
    corpus_size: int | None = None
    importance: Mapping[str, float] = member(default_factory=dict)
    sweep: Mapping[float, float] = member(default_factory=dict)
    policy: Policy = Policy()  # noqa: RUF009 - a frozen value
    looks: int = 1
    altered: tuple[str, ...] = ()
    given_runs: bool = False

    def __post_init__(self) -> None:
        for role in (self.challenger, self.base, *self.rivals):
            if role not in self.arms:
                raise HopgateError(f"there is no arm {role!r}: the arms are {', '.join(self.arms)}")
        if not self.qrels:
            raise HopgateError("there is no judged query to report on")
        unknown = self.qrels.keys() - self.queries.keys()
        if unknown:
            raise HopgateError(f"the judged query {min(unknown)!r} is not among the queries")
        for part, names in self.slices.items():
            if not names <= self.qrels.keys():
                raise HopgateError(f"the slice {part!r} holds queries that are not reported on")

    @cached_property
    def selected(self) -> dict[Slice, frozenset[str]]:
        """The slices, or all queries where none is declared."""
        return dict(self.slices) or {All(): frozenset(self.qrels)}

    @property
    def first_slice(self) -> frozenset[str]:
        """The queries that the claim is about."""
        return next(iter(self.selected.values()))

    @property
    def challenger_arm(self) -> Arm:
        """The arm with the graph."""
        return self.arms[self.challenger]

    @property
    def base_arm(self) -> Arm:
        """The arm without it."""
        return self.arms[self.base]
