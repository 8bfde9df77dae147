"""Canonicalisation against labelled mentions, scored as CESI defines it; and its time on a synthetic input.

    python benchmarks/canonicalization.py FILE.jsonl [--later] [--errors]
    python benchmarks/canonicalization.py --scale 35000
    python benchmarks/canonicalization.py --names 200000 --later

Asked for: a time per name at 200,000 names within 1.5 times that at 20,000 (`us_per_name`; on a busy machine
`cpu_us_per_name`). `labels` is a fingerprint of the clusters.
A row of FILE is a mention: `phrase`, `relation`, `object` and the gold `cluster`, which is used for scoring only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopgate.errors import HopgateError
from hopgate.graph.canonicalise import Canonicaliser, ContextMention


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def cesi(found: Sequence[Any], gold: Sequence[Any]) -> dict[str, float]:
    """Macro, micro and pairwise precision, recall and F1 over mentions (Vashishth et al., WWW 2018, §7.1.2).

    Macro precision is the share of found clusters whose mentions are all of one gold cluster, micro precision the share
    of mentions in the largest gold cluster of their found cluster; recall is precision with the roles changed.
    Pairwise: of the pairs in one found cluster, those in one gold cluster; recall, of the pairs in one gold cluster.
    """
    cells = Counter(zip(found, gold, strict=True))
    sides = (Counter(found), Counter(gold))
    figures: dict[str, float] = {}
    together = sum(_pairs(count) for count in cells.values())
    for which, name in enumerate(("precision", "recall")):
        parts: dict[Any, list[int]] = {}
        for cell, count in cells.items():
            parts.setdefault(cell[which], []).append(count)
        figures[f"macro_{name}"] = sum(len(counts) == 1 for counts in parts.values()) / len(parts)
        figures[f"micro_{name}"] = sum(map(max, parts.values())) / len(gold)
        all_pairs = sum(_pairs(count) for count in sides[which].values())
        figures[f"pair_{name}"] = together / all_pairs if all_pairs else 1.0
    for kind in ("macro", "micro", "pair"):
        figures[f"{kind}_f1"] = f1(figures[f"{kind}_precision"], figures[f"{kind}_recall"])
    return figures


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def read(path: Path) -> tuple[list[ContextMention], list[str]]:
    """Mentions and their gold clusters; a bad row is refused with file, line and reason."""
    mentions, gold = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            located = row.get("relation") in ("located in", "is located in", "in")
            mentions.append(ContextMention(row["phrase"], None, (row["object"],) if located else ()))
            gold.append(str(row["cluster"]))
        except (json.JSONDecodeError, KeyError, AttributeError) as reason:
            raise HopgateError(f"{path}:{number}: not a mention with phrase and cluster ({reason!r})") from reason
    return mentions, gold


def synthetic(count: int, seed: int = 0) -> tuple[list[ContextMention], list[int]]:
    """Mentions of made-up people and places: each of several names, frequencies by Zipf's law, surnames shared."""
    random = np.random.default_rng(seed)
    syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "or", "el")]
    drawn = random.integers(0, len(syllables), size=(4600, 3)).tolist()
    words = ["".join(syllables[at] for at in row).capitalize() for row in drawn]
    firsts, lasts = words[:600], words[600:]
    concepts = max(1, count // 4)
    rank = np.minimum(
        random.zipf(1.6, size=count) - 1 + random.integers(0, concepts, size=count), concepts - 1
    ).tolist()
    parts = np.stack([random.integers(0, size, size=concepts) for size in (600, 600, 4000, 4000)], axis=1).tolist()
    chosen = random.choice(5, size=count, p=[0.5, 0.2, 0.15, 0.1, 0.05]).tolist()
    mentions = []
    for concept, form in zip(rank, chosen, strict=True):
        one, two, three, four = parts[concept]
        first, middle, last, other = firsts[one], firsts[two], lasts[three], lasts[four]
        forms = (f"{first} {last}", last, f"{first} {middle} {last}", f"{first[0]}. {last}", f"{last} {other}")
        mentions.append(ContextMention(forms[form]))
    return mentions, rank


def people(count: int, seed: int = 0) -> tuple[list[ContextMention], list[int]]:
    """So many distinct names of made-up people, four to a person, whose words grow with them as a language's do."""
    random = np.random.default_rng(seed)
    syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "or", "el")]
    sizes = (max(40, count // 20), max(80, count // 4))
    drawn = random.integers(0, len(syllables), size=(sum(sizes), 4)).tolist()
    words = ["".join(syllables[at] for at in row).capitalize() for row in drawn]
    firsts, lasts = words[: sizes[0]], words[sizes[0] :]
    mentions: list[ContextMention] = []
    gold: list[int] = []
    seen: set[str] = set()
    person = 0
    while len(seen) < count:
        one, two = (firsts[at] for at in random.integers(0, len(firsts), 2))
        last = lasts[random.integers(0, len(lasts))]
        misspelt = last[:-2] + last[-1]
        for name in (f"{one} {last}", f"{one} {two} {last}", f"{one[0]}. {last}", f"{one} {misspelt}"):
            if len(seen) < count and name.lower() not in seen:
                seen.add(name.lower())
                mentions.append(ContextMention(name, "person"))
                gold.append(person)
        person += 1
    return mentions, gold


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--scale", type=int, metavar="N", help="time a synthetic input of N mentions instead")
    parser.add_argument("--names", type=int, metavar="N", help="N distinct names of made-up people, with known truth")
    parser.add_argument("--later", action="store_true", help="compare names as strings only")
    parser.add_argument("--errors", action="store_true", help="list clusters that mix gold clusters")
    options = parser.parse_args(arguments)
    if sum(given is not None for given in (options.file, options.scale, options.names)) != 1:
        parser.error("give a FILE, --scale N or --names N")
    try:
        mentions, gold = _input(options)
    except (HopgateError, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    start, spent = time.perf_counter(), time.process_time()
    result = Canonicaliser().fit(mentions, None if options.later else _embed)
    seconds = time.perf_counter() - start
    figures: dict[str, Any] = {key: round(value, 4) for key, value in cesi(result.labels_.tolist(), gold).items()}
    figures |= {
        "mentions": len(mentions),
        "names": len(result.units),
        "clusters": len(result.clusters()),
        "gold_clusters": len(set(gold)),
        "seconds": round(seconds, 2),
        "us_per_name": round(1e6 * seconds / len(result.units), 1),
        "cpu_us_per_name": round(1e6 * (time.process_time() - spent) / len(result.units), 1),
        "labels": hashlib.sha256(result.labels_.tobytes()).hexdigest()[:16],
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20), 2),
        "settings": repr(Canonicaliser()),
        "embedded": not options.later,
    }
    print(json.dumps(figures, indent=1))
    if options.errors:
        _print_errors(result.labels_, mentions, gold)
    return 0


def _input(options: argparse.Namespace) -> tuple[list[ContextMention], Sequence[Any]]:
    if options.file:
        return read(options.file)
    return synthetic(options.scale) if options.scale else people(options.names)


def _embed(names: Sequence[str]) -> NDArray[np.float32]:
    from hopgate.embed.bundled import BgeSmall
    from hopgate.memory import Cleared

    return BgeSmall().documents([Cleared(name) for name in names])


def _print_errors(labels: NDArray[np.int64], mentions: Sequence[ContextMention], gold: Sequence[Any]) -> None:
    mixed: dict[int, Counter[tuple[Any, str]]] = {}
    for label, mention, cluster in zip(labels.tolist(), mentions, gold, strict=True):
        mixed.setdefault(label, Counter())[cluster, mention.name] += 1
    for counts in mixed.values():
        if len({cluster for cluster, _ in counts}) > 1:
            print(dict(counts), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
