"""The result of a check: pass, fail or not applicable, with the figures it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """How a check came out."""

    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class Check:
    """One check of the audit.

    Parameters
    ----------
    name : str
    status : Status
    detail : str
        One sentence with the figures it rests on.
    figures : mapping
        The same, for a program.
    undecided : bool
        It failed for want of queries and not because something is wrong: the verdict is then inconclusive, not
        invalid.
    """

    name: str
    status: Status
    detail: str
    figures: Mapping[str, Any] = field(default_factory=dict, hash=False)
    undecided: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Give it in the shape of the report."""
        return {"status": self.status.value, "detail": self.detail, "figures": dict(self.figures)}


def passed(name: str, detail: str, **figures: Any) -> Check:
    """Make a check that passed."""
    return Check(name, Status.PASS, detail, figures)


def failed(name: str, detail: str, *, undecided: bool = False, **figures: Any) -> Check:
    """Make a check that failed."""
    return Check(name, Status.FAIL, detail, figures, undecided)


def skipped(name: str, detail: str, **figures: Any) -> Check:
    """Make a check that does not apply."""
    return Check(name, Status.NOT_APPLICABLE, detail, figures)
