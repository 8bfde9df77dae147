"""Everything the report shows of a judgement, figures and lists, and nothing of a sensitive memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hopgate.eval.audit import Case
from hopgate.eval.data.runs import ordered, relevant
from hopgate.eval.gate.compare import SHUFFLED
from hopgate.eval.gate.evidence import Arm, Evidence
from hopgate.eval.gate.judge import Judgement
from hopgate.eval.measures import score_all
from hopgate.eval.statistics import mean_interval
from hopgate.memory import Cleared

HIDDEN = "a sensitive memory"
# A page with the lists of more queries than this is slow on a phone; the JSON has them all.
MAX_DETAILS = 60
# So many characters of a memory.
MAX_SHOWN = 150


@dataclass(frozen=True)
class Notes:
    """What the report shows beside the judgement.

    Parameters
    ----------
    title : str
        The data set's name.
    about : mapping
        Versions, fingerprints, seeds: shown as a table.
    texts : mapping of id to cleared text
        From the sensitivity guard, and from nowhere else.
    sensitive : frozenset of ids
        Shown as that and no more.
    paths : mapping of query to memory to text
        How the graph leg came to a memory: seed concept → relation → concept → memory.
    """

    title: str = "your data"
    about: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, Cleared] = field(default_factory=dict)
    sensitive: frozenset[str] = frozenset()
    paths: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportHit:
    """One line of a list: a memory, whether it is gold, and where each leg had it."""

    id: str
    text: str
    gold: bool
    ranks: tuple[tuple[str, int], ...]
    path: str

    @property
    def graph_only(self) -> bool:
        """Whether no other leg found it."""
        return [leg for leg, _ in self.ranks] == ["graph"]


@dataclass(frozen=True)
class QueryDetail:
    """A query that changed: its gold and the two arms' lists."""

    anchor: str
    id: str
    text: str
    difference: float
    values: tuple[float, float]
    base: tuple[ReportHit, ...]
    challenger: tuple[ReportHit, ...]
    missing: tuple[ReportHit, ...]


@dataclass(frozen=True)
class ArmRow:
    """An arm with its figures; the interval is of the primary measure."""

    name: str
    configuration: str
    kind: str
    interval: tuple[float, float]
    means: Mapping[str, float]


@dataclass(frozen=True)
class Page:
    """Everything the report shows."""

    judgement: Judgement
    notes: Notes
    arms: tuple[ArmRow, ...]
    details: tuple[QueryDetail, ...]
    changed: tuple[tuple[str, float], ...]


def page(judgement: Judgement, notes: Notes | None = None) -> Page:
    """Gather what the report shows."""
    notes = notes or Notes()
    evidence = judgement.evidence
    case = Case(evidence)
    values = case.values
    ours, theirs = (values[name][evidence.primary] for name in (evidence.challenger, evidence.base))
    changed = changed_queries(evidence)
    shown = detailed_queries(evidence)
    means = judgement.arms()
    kinds = {evidence.challenger: "challenger", evidence.base: "base"}
    rows = [
        ArmRow(name, arm.configuration, kinds.get(name, ""), _interval(values[name][evidence.primary]), means[name])
        for name, arm in evidence.arms.items()
    ]
    if evidence.shuffles:
        shuffled = case.shuffles.mean(axis=0).tolist()
        told = f"the mean of {len(evidence.shuffles)} shuffled graphs, each tuned like the challenger"
        rows.append(ArmRow(SHUFFLED, told, "control", _interval(dict(enumerate(shuffled))), means[SHUFFLED]))
    rows.sort(key=lambda row: -row.means[str(evidence.primary)])
    details = [
        _detail(judgement, notes, query, (ours[query], theirs[query]), f"q{number}")
        for number, (query, _) in enumerate(changed)
        if query in shown
    ]
    return Page(judgement, notes, tuple(rows), tuple(details), changed)


def changed_queries(evidence: Evidence) -> tuple[tuple[str, float], ...]:
    """The queries on which the challenger and the base differ at the primary measure, the largest gain first."""
    arms = (evidence.challenger_arm, evidence.base_arm)
    ours, theirs = (score_all(evidence.primary, arm.run, evidence.qrels) for arm in arms)
    gains = sorted(((query, ours[query] - theirs[query]) for query in evidence.qrels), key=lambda g: (-g[1], g[0]))
    return tuple((query, gain) for query, gain in gains if abs(gain) > 1e-9)


def detailed_queries(evidence: Evidence) -> set[str]:
    """Those of them whose lists the report shows: the largest changes."""
    largest = sorted(changed_queries(evidence), key=lambda g: (-abs(g[1]), g[0]))
    return {query for query, _ in largest[:MAX_DETAILS]}


def _interval(values: Mapping[Any, float]) -> tuple[float, float]:
    return mean_interval(list(values.values()), floor=0.0, ceiling=1.0)


def _detail(judgement: Judgement, notes: Notes, query: str, values: tuple[float, float], anchor: str) -> QueryDetail:
    evidence = judgement.evidence
    gold = relevant(evidence.qrels[query])
    base, challenger = evidence.base_arm, evidence.challenger_arm

    def hits(arm: Arm, ids: list[str]) -> tuple[ReportHit, ...]:
        ranks = {leg: [name for name, _ in run.get(query, ())] for leg, run in (arm.found or {}).items()}
        ranks = {**{leg: [name for name, _ in run.get(query, ())] for leg, run in arm.legs.items()}, **ranks}
        # A path belongs where the graph put a memory: an arm without a graph has none.
        paths = notes.paths.get(query, {}) if arm.uses_graph else {}
        return tuple(_hit(notes, name, name in gold, ranks, paths) for name in ids)

    first, second = (ordered(arm.run.get(query, ()))[: evidence.k] for arm in (base, challenger))
    missing = sorted(gold.difference(first, second))
    return QueryDetail(
        anchor,
        query,
        evidence.queries[query].text,
        values[0] - values[1],
        values,
        hits(base, first),
        hits(challenger, second),
        hits(challenger, missing),
    )


def _hit(notes: Notes, name: str, gold: bool, ranks: Mapping[str, list[str]], paths: Mapping[str, str]) -> ReportHit:
    places = tuple((leg, ids.index(name) + 1) for leg, ids in ranks.items() if name in ids)
    if name in notes.sensitive:
        return ReportHit("", HIDDEN, gold, places, "")
    return ReportHit(name, short(notes.texts.get(name, "")), gold, places, paths.get(name, ""))


def short(text: str) -> str:
    r"""The beginning of a text, on one line.

    Examples
    --------
    >>> short("Ada keeps\nthe key."), len(short("word " * 99)) <= MAX_SHOWN
    ('Ada keeps the key.', True)
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_SHOWN else flat[: MAX_SHOWN - 1].rsplit(" ", 1)[0] + "…"
