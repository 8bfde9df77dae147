"""The words of the report, each explained in a sentence for someone who is not a statistician."""

from __future__ import annotations

GLOSSARY = {
    "base": "The strongest way to recall without the graph, chosen on other queries.",
    "challenger": "Recall with the graph, as it would be used.",
    "control": "The same graph with its links dealt out at random: as many of them, in other places.",
    "interval": "Where the true difference lies, with the chance of error that was declared. A wide one means that "
    "there are too few queries to say.",
    "recall": "The share of the relevant memories that are among the first k.",
    "ndcg": "Like recall, but a relevant memory counts for more the higher it stands.",
    "mrr": "One over the place of the first relevant memory: 1 is first, 0.5 second.",
    "p": "How often chance alone would give a difference this large. Small speaks against chance.",
    "worthwhile": "The smallest gain that was declared to be worth having, before anything was run.",
    "margin": "The largest loss that was declared to be put up with elsewhere.",
    "slice": "A part of the queries, such as those that take two memories to answer.",
    "harm": "A loss of more than the margin: shown, excluded, or open where the queries cannot tell.",
    "pool": "All memories that any leg found: what no fusion can do better than.",
    "audit": "Checks of the test itself. A test that fails one says nothing about the graph.",
    "look": "Each time the reported queries are used, chance gets another try.",
}
"""Word → what it means."""
