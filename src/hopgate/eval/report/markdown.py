"""The same report as Markdown, for a pull request or a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from hopgate.eval.gate.next_step import chosen_in_words, looks_in_words, next_step
from hopgate.eval.report.page import Page
from hopgate.exports.memories import escaped_markdown

_COLUMNS = ("recall@2", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr")


def to_markdown(page: Page) -> str:
    """Write the verdict, the audit, the arms, the comparisons and what the graph contributes."""
    judgement, evidence = page.judgement, page.judgement.evidence
    decision = judgement.decision
    parts = [
        f"# {decision.verdict.value}: the graph leg on {escaped_markdown(page.notes.title)}",
        decision.reason,
        f"**What to do now:** {next_step(judgement)}.",
        f"**{chosen_in_words(judgement).capitalize()}:** `{decision.chosen}`",
        looks_in_words(judgement),
        "## Audit",
        _table(
            ("check", "status", "evidence"),
            [(check.name, check.status.value, check.detail) for check in judgement.checks],
        ),
        f"## Arms ({len(evidence.qrels)} queries)",
        _table(
            ("arm", *_COLUMNS, "configuration"),
            [
                (row.name, *(f"{row.means[name]:.3f}" for name in _COLUMNS), f"`{row.configuration}`")
                for row in page.arms
            ],
        ),
        "## Comparisons",
        _table(
            (
                "challenger",
                "base",
                "measure",
                "slice",
                "n",
                "difference",
                "interval",
                "p",
                "p (Holm)",
                "harm",
                "won/tied/lost",
            ),
            [
                (
                    c.challenger,
                    c.base,
                    c.measure,
                    c.slice,
                    str(c.n),
                    f"{c.difference:+.3f}",
                    f"{c.interval[0]:+.3f} to {c.interval[1]:+.3f}",
                    f"{c.p:.4f}",
                    f"{c.p_holm:.4f}",
                    c.state.value or "–",
                    f"{c.wins}/{c.ties}/{c.losses}",
                )
                for c in judgement.comparisons
            ],
        ),
    ]
    if judgement.contribution:
        added = judgement.contribution
        parts += [
            "## What the graph contributes",
            f"The graph alone found {added.alone:.1f} memories a query; {added.relevant_alone} of them in all are "
            f"relevant, on {added.queries_helped} of {added.queries} queries, and {added.reached} reached the top "
            f"{evidence.k}. The pool's recall, which the best imaginable fusion could reach, is "
            f"{added.pool_recall_without:.3f} without the graph and {added.pool_recall:.3f} with it.",
        ]
    if evidence.sweep:
        rows = [(f"{weight:g}", f"{value:.3f}") for weight, value in sorted(evidence.sweep.items())]
        parts += ["## Weight sweep on the tuning queries", _table(("graph weight", str(evidence.primary)), rows)]
    if page.notes.about:
        parts += ["## How it was made", _table(("what", "value"), [(k, str(v)) for k, v in page.notes.about.items()])]
    return "\n\n".join(parts) + "\n"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    # What is in backticks is code, where nothing but the table's own bar has a meaning.
    flat = " ".join(text.split())
    return flat.replace("|", "\\|") if flat.startswith("`") else escaped_markdown(flat)
