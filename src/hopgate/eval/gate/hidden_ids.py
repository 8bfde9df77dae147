"""Sensitive memories by a label instead of their ids, in all that a gate keeps: an id may tell what a text says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from hopgate.eval.data.runs import Run
from hopgate.eval.gate.evidence import Arm, Evidence

# Below every character that an id is written with, so that a label sorts right after the id before it: ties are broken
# by id, and a run that is made again from its lists comes out the same.
_AFTER = "\x01"

Value = TypeVar("Value")


def hidden_ids(ids: Iterable[str], sensitive: Collection[str]) -> dict[str, str]:
    r"""Give each sensitive id a label that sorts where it does and tells nothing but the id before it.

    Examples
    --------
    >>> hidden_ids(["a", "b", "c"], {"b"})
    {'b': 'a\x01sensitive 000001'}
    """
    labels: dict[str, str] = {}
    before = ""
    for name in sorted(set(ids)):
        if name in sensitive:
            labels[name] = f"{before}{_AFTER}sensitive {len(labels) + 1:06d}"
        else:
            before = name
    return labels


def with_hidden_ids(evidence: Evidence, sensitive: Collection[str]) -> Evidence:
    """Give the evidence with labels in the place of these ids."""
    known = {*evidence.importance, *(name for gold in evidence.qrels.values() for name in gold)}
    for arm in (*evidence.arms.values(), *evidence.shuffles):
        for run in (arm.run, arm.read, arm.base, *arm.legs.values(), *arm.found.values()):
            known |= {name for ranking in run.values() for name, _ in ranking}
    labels = hidden_ids(known, sensitive)
    if not labels:
        return evidence
    return replace(
        evidence,
        qrels={query: _renamed(gold, labels) for query, gold in evidence.qrels.items()},
        importance=_renamed(evidence.importance, labels),
        arms={name: _arm(arm, labels) for name, arm in evidence.arms.items()},
        shuffles=tuple(_arm(arm, labels) for arm in evidence.shuffles),
    )


def labelled(evidence: Evidence) -> frozenset[str]:
    """The labels that stand for sensitive memories."""
    names = {name for gold in evidence.qrels.values() for name in gold}
    for arm in evidence.arms.values():
        names |= {name for ranking in arm.run.values() for name, _ in ranking}
    return frozenset(name for name in names if _AFTER in name)


def _arm(arm: Arm, labels: Mapping[str, str]) -> Arm:
    return replace(
        arm,
        run=_run(arm.run, labels),
        read=_run(arm.read, labels),
        base=_run(arm.base, labels),
        legs={leg: _run(run, labels) for leg, run in arm.legs.items()},
        found={leg: _run(run, labels) for leg, run in arm.found.items()},
        matched={query: [labels.get(name, name) for name in names] for query, names in arm.matched.items()},
        blind={query: [labels.get(name, name) for name in names] for query, names in arm.blind.items()},
    )


def _run(run: Run, labels: Mapping[str, str]) -> Run:
    return {query: [(labels.get(name, name), score) for name, score in ranking] for query, ranking in run.items()}


def _renamed(values: Mapping[str, Value], labels: Mapping[str, str]) -> dict[str, Value]:
    return {labels.get(name, name): value for name, value in values.items()}
