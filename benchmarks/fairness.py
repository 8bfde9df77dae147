"""Are memories that a leg cannot see found by their own words, with the graph on as well as with it off?

python benchmarks/fairness.py [--corpora demo,locomo] [--datasets FOLDER] [--share 0.05] [--seed 0] [--json]

A share of the memories is sensitive, another is added after embedding and building, so that it has no vector and is not
linked. Each is asked for by six words from the middle of its text, in its scope, through `kb.recall` with the default
settings, ten hits. What counts is the share within the first three. Graphs are those that `hopgate build` reads out of
the texts.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hopgate
from hopgate.corpus import read_corpus
from hopgate.memory import Memory

WORDS = 6
TOP = 3


def middle_words(text: str) -> str | None:
    """Six words from the middle of a text; none where it has fewer."""
    words = text.split()
    start = (len(words) - WORDS) // 2
    return " ".join(words[start : start + WORDS]) if start >= 0 else None


def demo() -> list[Memory]:
    """The synthetic corpus."""
    from hopgate.demo import corpus

    return list(corpus().memories)


def measure(memories: Sequence[Memory], share: float, seed: int) -> dict[str, Any]:
    """Fill a store of which a share is sensitive and another not embedded and not linked, and ask for both."""
    pick = random.Random(seed)
    asked = {memory.external_id: words for memory in memories if (words := middle_words(memory.content))}
    chosen = pick.sample(sorted(asked), min(len(asked), 2 * max(1, round(share * len(memories)))))
    sensitive, late = set(chosen[::2]), set(chosen[1::2])
    made = [replace(one, is_sensitive=one.is_sensitive or one.external_id in sensitive) for one in memories]
    scopes = {memory.external_id: memory.scope for memory in memories}
    with tempfile.TemporaryDirectory() as folder, hopgate.open(folder) as kb:
        kb.add(*(memory for memory in made if memory.external_id not in late))
        kb.embed()
        kb.build()
        kb.add(*(memory for memory in made if memory.external_id in late))

        def rank(key: str, **options: Any) -> int | None:
            hits = kb.recall(asked[key], scope=scopes[key], **options)
            return next((hit.rank for hit in hits if hit.external_id == key), None)

        on = {key: rank(key) for key in chosen}
        off = {key: rank(key, graph=0) for key in chosen}
        by_words = {key: rank(key, legs=("lexical",)) for key in chosen}
    return {
        "memories": len(memories),
        "asked": len(chosen),
        "top3_with_graph": within(on, chosen),
        "top3_without_graph": within(off, chosen),
        "top3_lexical": within(by_words, chosen),
        "sensitive": {"with_graph": within(on, sensitive), "without_graph": within(off, sensitive)},
        "waiting": {"with_graph": within(on, late), "without_graph": within(off, late)},
    }


def within(ranks: dict[str, int | None], keys: Sequence[str] | set[str]) -> float:
    """The share of the memories that are within the first three."""
    return round(sum((ranks[key] or TOP + 1) <= TOP for key in keys) / max(1, len(keys)), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default="demo,locomo")
    parser.add_argument("--datasets", type=Path, default=Path("shared/datasets"), help="where locomo is")
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("hopgate.recall").setLevel(logging.ERROR)
    results = {}
    for name in options.corpora.split(","):
        memories = demo() if name == "demo" else list(read_corpus(options.datasets / name / "corpus.jsonl"))
        results[name] = measure(memories, options.share, options.seed)
    if options.json:
        print(json.dumps(results))
        return
    for name, found in results.items():
        print(name)
        for key, value in found.items():
            print(f"  {key}: {value}")


if __name__ == "__main__":
    main()
