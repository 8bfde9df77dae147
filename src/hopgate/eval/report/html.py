"""The page as HTML: one file, no network, no script."""

from __future__ import annotations

from typing import Any

from hopgate.eval.audit import Status
from hopgate.eval.gate.compare import Comparison, Harm
from hopgate.eval.gate.evidence import GRAPH
from hopgate.eval.gate.judge import Judgement
from hopgate.eval.gate.next_step import chosen_in_words, looks_in_words, next_step
from hopgate.eval.report import charts
from hopgate.eval.report.glossary import GLOSSARY
from hopgate.eval.report.page import Page

MARKS = {Status.PASS: "✓", Status.FAIL: "✗", Status.NOT_APPLICABLE: "–"}


def to_html(page: Page) -> str:
    """Draw the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("hopgate.eval.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        page=page,
        judgement=page.judgement,
        evidence=page.judgement.evidence,
        decision=page.judgement.decision,
        primary=page.judgement.comparisons[0],
        marks=MARKS,
        measures=list(page.arms[0].means),
        tuning=_tuning(page.judgement),
        meaning=GLOSSARY,
        next_step=next_step(page.judgement),
        chosen_in_words=chosen_in_words(page.judgement),
        looks=looks_in_words(page.judgement),
        open_harms=_open_harms(page.judgement),
        **_charts(page),
    )


def _charts(page: Page) -> dict[str, Any]:
    judgement, evidence = page.judgement, page.judgement.evidence
    measure = str(evidence.primary)
    anchors = {detail.id: detail.anchor for detail in page.details}
    return {
        "arms": charts.intervals([(row.name, "", row.means[measure], row.interval, row.kind) for row in page.arms]),
        "slices": _slices(judgement),
        "sweep": _sweep(judgement),
        "among": _among(page),
        "gains": charts.gains(
            [
                (anchors.get(query, ""), value, f"{evidence.queries[query].text} ({value:+.3f})")
                for query, value in page.changed
            ]
        ),
        "pool": charts.share(judgement.contribution.pool_recall, judgement.contribution.pool_recall_without)
        if judgement.contribution
        else "",
    }


def _slices(judgement: Judgement) -> charts.Chart:
    """Challenger minus base, for the claim first and then everything that must not be harmed."""
    policy = judgement.evidence.policy
    rows = []
    for comparison in judgement.comparisons:
        if comparison.role not in ("primary", "harm"):
            continue
        low, high = comparison.interval
        kind = "win" if low > 0 else "loss" if comparison.state is Harm.SHOWN or high < 0 else "even"
        name = comparison.measure if comparison.slice == "all" else f"{comparison.measure} · {comparison.slice}"
        note = f"{comparison.n} queries · {comparison.wins} won, {comparison.ties} tied, {comparison.losses} lost"
        note = f"the claim · {note}" if comparison.role == "primary" else f"harm {comparison.state} · {note}"
        rows.append((name, note, comparison.difference, comparison.interval, kind))
    return charts.differences(rows, margin=policy.margin, worthwhile=policy.worthwhile)


def _among(page: Page) -> str:
    """The challenger among its shuffles, and the base beside them."""
    judgement, measure = page.judgement, str(page.judgement.evidence.primary)
    if judgement.among is None:
        return ""
    means = {row.kind: row.means[measure] for row in page.arms if row.kind in ("challenger", "base")}
    return charts.among(means["challenger"], judgement.among.means, means["base"], measure)


def _open_harms(judgement: Judgement) -> list[Comparison]:
    """What is neither shown to be harmed nor excluded, those first that look worst."""
    harms = [each for each in judgement.comparisons if each.state is Harm.OPEN]
    return sorted(harms, key=lambda harm: harm.interval[0])


def _sweep(judgement: Judgement) -> str:
    evidence = judgement.evidence
    if not evidence.sweep:
        return ""
    fuser = evidence.challenger_arm.fuser_value
    return charts.sweep(
        evidence.sweep,
        needed=needed_weight(judgement),
        chosen=fuser.weights.get(GRAPH) if fuser else None,
        base=evidence.sweep.get(0.0),
        measure=str(evidence.primary),
    )


def needed_weight(judgement: Judgement) -> float | None:
    """Give the graph weight to exceed for a graph-only memory to enter on half of the queries, where known."""
    reach = next(check for check in judgement.checks if check.name == "reachability")
    lists = reach.figures.get("lists")
    needed = lists["needed"]["half"] if lists else None
    return None if needed is None else float(needed)


def _tuning(judgement: Judgement) -> list[tuple[str, int, int]]:
    return [(arm, len(tuning.tried), len(tuning.queries)) for arm, tuning in judgement.evidence.tuning.items()]
