"""The page of a gate, and its words: what was found, what it costs, and what to do now."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from hopgate.eval.checks import Status
from hopgate.eval.evidence import CONCEPTS
from hopgate.eval.measures import Recall
from hopgate.eval.plan import plan_text
from hopgate.eval.verdict import Claim, Judgement, Verdict

TITLES: Mapping[str, str] = {
    "threads": "the order of turns",
    "titles": "titles that memories name",
    "names": "names that memories share",
    "facts": "typed facts",
    "statements": "statements about memories",
    CONCEPTS: "the concept graph",
    "runs": "the last run",
    "prototype": "the first test's graph",
}
WIDTH, MIDDLE = 360, 180
SHOWN_QUERIES = 200


def headline(judgement: Judgement) -> str:
    """Say in one paragraph what was found, about what, and at what cost; at most ten numbers."""
    main, evidence = judgement.main, judgement.evidence
    name = f"{TITLES.get(main.part, main.part)}, {main.arm}," if main.part == "runs" else _title(main)
    if main.verdict is Verdict.INVALID:
        return f"INVALID: {main.reason}. The figures mean nothing."
    measure = evidence.plan.primary
    low, high = main.interval
    gloss = ", the share of the answers that is found," if isinstance(measure, Recall) else ""
    said = {
        Verdict.OPEN: f"{name} earns its place",
        Verdict.CLOSED: f"{name} does not earn its place",
        Verdict.INCONCLUSIVE: f"whether {name} earns its place is not decided",
    }[main.verdict]
    parts = [
        f"{main.verdict.value}: {said}. {measure}{gloss} changes by {main.difference:+.3f} "
        f"({low:+.3f} to {high:+.3f}) over {main.over}, "
        f"on {main.queries} questions in {main.clusters} groups; {main.reason}."
    ]
    if main.part != "runs":
        parts.append(f"Cost: {main.cost}.")
    others = [_title(claim) for claim in judgement.claims if claim is not main and claim.verdict is Verdict.OPEN]
    if others:
        parts.append(f"What opened{', too' if main.verdict is Verdict.OPEN else ''}: {', '.join(others)}.")
    if evidence.plan.about == "these":
        parts.append("This is about further questions on these conversations, not about others.")
    if evidence.plan.deviations:
        parts.append(f"Declared: {', '.join(evidence.plan.deviations)}.")
    return " ".join(parts)


def todo(judgement: Judgement) -> str:
    """Say what to do now."""
    main, evidence = judgement.main, judgement.evidence
    failed = [check for check in judgement.checks if check.status is Status.FAIL]
    if failed:
        return f"mend what the check of {failed[0].name} found, and run the gate again"
    if judgement.opened:
        how = " (hopgate gate --store --apply sets it)" if evidence.arms[judgement.recommended].configuration else ""
        return f"use {judgement.recommended}{how}"
    if main.verdict is Verdict.CLOSED:
        return f"do without {_title(main)}: use {judgement.recommended}"
    queries, groups = main.needed
    return (
        f"go on with {judgement.recommended}; to decide about a gain of {evidence.plan.worthwhile:g}, judge some "
        f"{queries:,} new questions in {groups:,} groups"
    )


def _title(claim: Claim) -> str:
    return TITLES.get(claim.part, claim.part)


def looks(judgement: Judgement) -> str:
    """Say which look at these questions this was, as far as it is known."""
    look = judgement.evidence.look
    if not look:
        return "looks at these questions are not counted here"
    if look == 1:
        return "no look at these questions is recorded here before this one"
    return f"look {look} at these questions: the level that is left is {judgement.level:.3g}"


def page(judgement: Judgement) -> str:
    """Give the page; it holds no text of a memory, and the same judgement gives the same bytes."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("hopgate.eval", "."), autoescape=True, trim_blocks=True)
    evidence = judgement.evidence
    widest = max(0.1, *(abs(limit) for claim in judgement.claims for limit in claim.interval))
    text: str = environment.get_template("page.html.j2").render(
        judgement=judgement,
        evidence=evidence,
        headline=headline(judgement),
        todo=todo(judgement),
        looks=looks(judgement),
        rows=[_row(claim, widest) for claim in judgement.claims],
        arms=judgement.values,
        measures=[str(measure) for measure in evidence.measures],
        queries=_differences(judgement)[:SHOWN_QUERIES],
        plan=plan_text(evidence.plan),
        main=judgement.main,
    )
    return text + "\n"


def _row(claim: Claim, scale: float) -> dict[str, Any]:
    """A claim as the page shows it; intervals of all claims have one scale."""
    return {
        "claim": claim,
        "title": _title(claim),
        "gain": _interval(claim, scale),
        "clusters": _clusters(claim),
        "shuffles": _shuffles(claim),
    }


def _interval(claim: Claim, scale: float) -> str:
    """A line from the lower to the upper limit, a dot at the gain, and a mark at none."""
    low, high = claim.interval
    drawn = [
        f'<line x1="{MIDDLE}" y1="0" x2="{MIDDLE}" y2="18" class="none"/>',
        f'<line x1="{_x(low, scale)}" y1="9" x2="{_x(high, scale)}" y2="9" class="{claim.verdict.value}"/>',
        f'<circle cx="{_x(claim.difference, scale)}" cy="9" r="4" class="{claim.verdict.value}"/>',
    ]
    return _svg(18, f"{claim.difference:+.3f}, {low:+.3f} to {high:+.3f}", drawn)


def _clusters(claim: Claim) -> str:
    """A dot at each group's gain, where there are several."""
    gains = sorted(claim.by_cluster.values())
    if len(gains) < 2:
        return ""
    scale = max(0.1, abs(gains[0]), abs(gains[-1]))
    drawn = [f'<line x1="{MIDDLE}" y1="0" x2="{MIDDLE}" y2="18" class="none"/>']
    drawn += [f'<circle cx="{_x(gain, scale)}" cy="9" r="3" class="group"/>' for gain in gains]
    return _svg(18, f"gains by group from {gains[0]:+.3f} to {gains[-1]:+.3f}", drawn)


def _shuffles(claim: Claim) -> str:
    """A dot for each shuffled graph and one for the graph as it is."""
    control = claim.control
    if control is None:
        return ""
    values = [control.own, *control.shuffled]
    low, high = min(values), max(values)
    width = (high - low) or 1.0

    def place(value: float) -> float:
        return round(10 + (WIDTH - 20) * (value - low) / width, 1)

    drawn = [f'<circle cx="{place(value)}" cy="9" r="3" class="group"/>' for value in control.shuffled]
    drawn.append(f'<circle cx="{place(control.own)}" cy="9" r="5" class="{claim.verdict.value}"/>')
    return _svg(18, f"{control.own:.3f}; shuffled {min(control.shuffled):.3f} to {max(control.shuffled):.3f}", drawn)


def _x(value: float, scale: float) -> float:
    return round(MIDDLE + (MIDDLE - 10) * value / scale, 1)


def _svg(height: int, label: str, drawn: list[str]) -> str:
    said = escape(label)
    size = f'width="{WIDTH}" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{said}"'
    return f"<svg {size}><title>{said}</title>{''.join(drawn)}</svg>"


def _differences(judgement: Judgement) -> list[dict[str, Any]]:
    """Every question's figures, those that differ most first."""
    main, evidence = judgement.main, judgement.evidence
    ours, theirs = (evidence.values(evidence.arms[name].run) for name in (main.arm, main.over))
    rows = [
        {"id": name, "text": evidence.queries[name].text if name in evidence.queries else name,
         "ours": ours[name], "theirs": theirs[name], "difference": ours[name] - theirs[name]}
        for name in evidence.reported
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-abs(row["difference"]), row["id"]))
