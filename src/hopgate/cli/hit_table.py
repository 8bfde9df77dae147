"""The hits of a recall as a person reads them: a table, and what put each where it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hopgate.cli.columns import TextColumn, lines
from hopgate.cli.output import one_line, say

if TYPE_CHECKING:
    from hopgate.recall.hit import Hit

SNIPPET = 200


def show_hits(query: str, hits: list[Hit], explain: bool) -> None:
    """Print hits as a table, and below it what holds for all of them."""
    columns = [TextColumn("", right=True), TextColumn("memory"), TextColumn("score", right=True), TextColumn("content")]
    rows = []
    for hit in hits:
        # Of a long memory the passage that speaks for it, from where it speaks of the query's words.
        shown = one_line(hit.memory) if hit.passage is None else fitting_part(hit.passage.text, query)
        content = " ".join(shown.split())
        snippet = content if len(content) <= SNIPPET else content[: SNIPPET - 1] + "…"
        rows.append([str(hit.rank), hit.external_id, marked_score(hit), snippet, *([why(hit)] if explain else [])])
    for line in lines([*columns, *([TextColumn("why")] if explain else [])], rows):
        say(line)
    if any(hit.lifted for hit in hits):
        say("↑ lifted: a leg, or lexical and dense together, has it first")
    # A query has one mixture of walks and one date, whatever the hit.
    for what, said in (("walks from", [hit.mixture for hit in hits]), ("as of", [hit.as_of for hit in hits])):
        if any(said):
            say(f"{what} {max(said)}")


def marked_score(hit: Hit) -> str:
    """A hit's score, marked where the hit stands higher than it says: else the column would look out of order.

    Examples
    --------
    >>> from hopgate.memory import Memory
    >>> from hopgate.recall.hit import Hit
    >>> memory = Memory("m1", "The NAS moved to the cellar.")
    >>> [marked_score(Hit(3, "m1", 0.91, memory, {}, lifted=lifted)) for lifted in (False, True)]
    ['0.9100', '↑ 0.9100']
    """
    return f"{'↑ ' if hit.lifted else ''}{hit.score:.4f}"


def fitting_part(text: str, query: str) -> str:
    """Cut a text before the sentence from which on a snippet holds most words of the query.

    Examples
    --------
    >>> fitting_part("It rained. " * 40 + "The key is in the shed.", "where is the key")
    'The key is in the shed.'
    """
    words = set(re.findall(r"\w{3,}", query.lower()))
    starts = [0, *(match.end() for match in re.finditer(r"[.!?]\s+|\n+", text))]

    def shared(start: int) -> int:
        return len(words.intersection(re.findall(r"\w+", text[start : start + SNIPPET].lower())))

    return text[max(reversed(starts), key=shared) :]


def why(hit: Hit) -> str:
    """Say in a few lines what put a hit where it is."""
    lines = [f"{name} #{part.rank} ({part.score:.3f}) +{part.contribution:.4f}" for name, part in hit.legs.items()]
    if hit.unseen:
        lines += [f"{name} could not see it +{granted:.4f}" for name, granted in hit.unseen.items()]
        lines.append(f"scaled ×{hit.scale:.2f} for that")
    if hit.bonus:
        lines.append(f"exact match +{hit.bonus:.4f}")
    lines.append(f"prior ×{hit.prior:.2f}")
    if not hit.in_graph:
        lines.append("the graph does not have it: scored by its place in the base")
    if hit.lifted:
        lines.append("lifted: first in a leg or in the base")
    if hit.rerank_score is not None:
        lines.append(f"reranked {hit.rerank_score:.2f}")
    if hit.rerank_cost is not None and hit.rank == 1:
        lines.append(f"({hit.rerank_cost})")
    if hit.walk_score is not None:
        lines.append(f"walk {hit.walk_score:.4f}")
    if hit.passage is not None:
        lines.append(f"characters {hit.passage.start}–{hit.passage.end}")
    if hit.path:
        lines.append(" → ".join(hit.path))
    return "\n".join(lines)
