"""Two gates side by side: what each decided, and every arm's figures in both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def compare_gates(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Give arm → measure → both means and how much the second is above the first; None where a gate has no such arm.

    Parameters
    ----------
    one, other : mapping
        Judgements as `Judgement.to_dict` gives them.

    Examples
    --------
    >>> compare_gates({"arms": {"base": {"recall@10": 0.5}}}, {"arms": {"base": {"recall@10": 0.75}}})
    {'base': {'recall@10': {'one': 0.5, 'other': 0.75, 'difference': 0.25}}}
    """
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for arm in dict.fromkeys([*one["arms"], *other["arms"]]):
        first, second = one["arms"].get(arm, {}), other["arms"].get(arm, {})
        found[arm] = {
            measure: _beside(first.get(measure), second.get(measure)) for measure in dict.fromkeys([*first, *second])
        }
    return found


def _beside(first: float | None, second: float | None) -> dict[str, float | None]:
    difference = None if first is None or second is None else second - first
    return {"one": first, "other": second, "difference": difference}
