"""The page of a gate, and its words: what was found, what it costs, and what to do now."""

from __future__ import annotations

from hopgate.eval.checks import Status
from hopgate.eval.evidence import RUNS
from hopgate.eval.measures import Recall
from hopgate.eval.plan import plan_text
from hopgate.eval.verdict import Judgement, Verdict

SHOWN_QUERIES = 200


def headline(judgement: Judgement) -> str:
    """Say in one paragraph what was found, about what, and at what cost; at most ten numbers."""
    main, evidence = judgement.main, judgement.evidence
    name = f"{main.title}, {main.arm}," if main.part == RUNS else main.title
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
    if main.part != RUNS:
        parts.append(f"Cost: {main.cost}.")
    others = [claim.title for claim in judgement.claims if claim is not main and claim.verdict is Verdict.OPEN]
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
        return f"do without {main.title}: use {judgement.recommended}"
    queries, groups = main.needed
    return (
        f"go on with {judgement.recommended}; to decide about a gain of {evidence.plan.worthwhile:g}, judge some "
        f"{queries:,} new questions in {groups:,} groups"
    )


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
    main, evidence = judgement.main, judgement.evidence
    ours, theirs = (evidence.values(name) for name in (main.arm, main.over))
    most_different = sorted(evidence.reported, key=lambda name: (-abs(ours[name] - theirs[name]), name))
    text: str = environment.get_template("page.html.j2").render(
        judgement=judgement,
        evidence=evidence,
        main=main,
        headline=headline(judgement),
        todo=todo(judgement),
        looks=looks(judgement),
        widest=max(0.1, *(abs(limit) for claim in judgement.claims for limit in claim.interval)),
        measures=[str(measure) for measure in evidence.measures],
        queries=[(evidence.queries[name].text, ours[name], theirs[name]) for name in most_different[:SHOWN_QUERIES]],
        plan=plan_text(evidence.plan),
    )
    return text + "\n"
