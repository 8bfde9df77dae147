"""Goldens: the figures that must survive a change of the code, compared with those of `goldens.json`.

    python benchmarks/goldens.py [--only locomo,notes,…] [--data FOLDER] [--slow] [--write]

Everything is asked as a user asks: `hopgate.open`, `kb.ingest`, `kb.embed`, `kb.build`, `kb.recall`, `kb.graph`. A
section stands alone, and says how many seconds it took. `--write` puts what was measured into `goldens.json`, the
sections that ran alone; otherwise a table says what moved, and the exit status is 1 where a figure left its bounds.
The public data sets are read from `--data`, by default from `HOPGATE_DATA` or `../shared/datasets`.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import math
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from notes import note_figures
from speed_ratios import speed_figures

import hopgate

HERE = Path(__file__).parent
GOLDENS = HERE / "goldens.json"
# Of a longer test half so many questions are asked, the same ones each time.
SAMPLE = 300
Row = dict[str, Any]
Figures = dict[str, Any]

# The first pattern that a figure's name begins with says what may become of it: how far it may fall or rise, what it
# must be at most, or which share of what it was it must have at least or at most. Lists must be equal.
BOUNDS: dict[str, dict[str, float]] = {
    "musique rules": {"fall": 0.02},
    "three legs to two": {"most": 1.6},
    "build": {"least_share": 0.5},
    "remember": {"most_share": 1.5},
    ".*look-alikes wrong": {"rise": 0.01},
    "": {"fall": 0.01},
}


@contextlib.contextmanager
def store() -> Iterator[hopgate.KnowledgeBase]:
    with tempfile.TemporaryDirectory(prefix="goldens") as folder, hopgate.open(Path(folder) / "store") as kb:
        yield kb


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def questions(folder: Path, splits: Sequence[str]) -> list[tuple[str, str | None, set[str]]]:
    """The text, scope and relevant ids of a data set's questions, at most `SAMPLE` of them."""
    relevant: dict[str, set[str]] = defaultdict(set)
    for split in splits:
        with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                if int(row["score"]) > 0:
                    relevant[row["query-id"]].add(row["corpus-id"])
    asked = [row for row in rows(folder / "queries.jsonl") if row["_id"] in relevant]
    if len(asked) > SAMPLE:
        asked = random.Random(0).sample(asked, SAMPLE)
    return [(row["text"], (row.get("metadata") or {}).get("scope"), relevant[row["_id"]]) for row in asked]


def recall_figures(kb: hopgate.KnowledgeBase, folder: Path, title: str, splits: Sequence[str]) -> Figures:
    """Mean recall at 5 and 10 of the two legs without the graph, and of all three."""
    asked = questions(folder, splits)
    figures: Figures = {f"{title} questions": len(asked)}
    for arm, weights in (("base", {"graph": 0.0}), ("graph", {})):
        sums = dict.fromkeys((5, 10), 0.0)
        for text, scope, relevant in asked:
            ids = [hit.external_id for hit in kb.recall(text, scope=scope, k=10, **weights)]  # type: ignore[arg-type]
            for depth in sums:
                sums[depth] += len(relevant.intersection(ids[:depth])) / len(relevant)
        figures |= {f"{title} {arm} @{depth}": round(total / len(asked), 4) for depth, total in sums.items()}
    return figures


def data_set(folder: Path, models: Sequence[str] = ("rules",), splits: Sequence[str] = ("test",)) -> Figures:
    """Recall over a data set, by what the extractor without a model reads and by its triples."""
    figures: Figures = {}
    for model in models:
        with store() as kb:
            kb.ingest(folder / "corpus.jsonl")
            kb.embed()
            kb.build(**extractor(folder if model == "triples" else None))
            counts = kb.graph.counts()
            say(f"{folder.name} {model}: {counts['concepts']} concepts, {counts['edges']} edges")
            figures |= recall_figures(kb, folder, f"{folder.name} {model}", splits)
    return figures


def extractor(folder: Path | None) -> dict[str, Any]:
    """What `kb.build` is told: nothing, or to replay a data set's triples."""
    if folder is None:
        return {}
    from hopgate.extract.spec import extractor_from

    return {"extractor": extractor_from("replay", model=str(folder / "triples.jsonl"))}


def reverb(folder: Path) -> Figures:
    """F1 of the canonicalisation of ReVerb's labelled mentions, as `benchmarks/canonicalization.py` scores it."""
    figures: Figures = {}
    for name in ("base", "ambiguous"):
        command = [sys.executable, str(HERE / "canonicalization.py"), str(folder / f"reverb_{name}.jsonl")]
        scores = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        figures |= {f"reverb {name} {kind} f1": scores[f"{kind}_f1"] for kind in ("macro", "micro", "pair")}
    return figures


# The demo: twenty recalls, and its timeline.

DAYS = ("2024-07-01", "2025-01-01", "2025-07-01", "2025-12-01")


def demo() -> Figures:
    """The ids of twenty recalls of the demo's store, and what its graph says of some days."""
    from hopgate.demo import corpus

    made = corpus()
    figures: Figures = {}
    with store() as kb:
        # One person's memory, as `hopgate demo` has it.
        kb.store_settings.set({"scopes": "shared"})
        kb.add(*made.memories)
        kb.embed()
        kb.build()
        for query in list(made.queries)[:: len(made.queries) // 20][:20]:
            as_of = query.metadata.get("as_of")
            hits = kb.recall(query.text, as_of=moment(str(as_of)) if as_of else None)
            figures[f"demo recall {query.id}"] = [hit.external_id for hit in hits]
        for day in DAYS:
            edges = kb.graph.edges(as_of=moment(day))
            figures[f"demo as of {day}"] = sorted({plain(edge) for edge in edges})
        span = kb.graph.changes(moment("2020-01-01"), moment("2030-01-01"), limit=10_000)
        figures["demo began"] = sorted(f"{edge.valid_from:%F} {plain(edge)}" for edge in span.began)
        figures["demo ended"] = sorted(f"{edge.valid_to:%F} {plain(edge)}" for edge in span.ended)
        figures["demo conflicts"] = sorted(
            f"{plain(pair.older)} / {pair.newer.target}{'' if pair.settled else ' (open)'}"
            for pair in kb.graph.conflicts(limit=10_000)
        )
    return figures


def moment(day: str) -> datetime:
    return datetime.fromisoformat(day[:10]).replace(tzinfo=UTC)


def plain(edge: Any) -> str:
    return f"{edge.source} | {edge.relation} | {edge.target}"


SECTIONS: dict[str, Callable[[argparse.Namespace], Figures]] = {
    "demo": lambda _: demo(),
    "notebooks": lambda _: data_set(HERE / "notebooks"),
    "locomo": lambda options: data_set(options.data / "locomo"),
    "2wiki": lambda options: data_set(options.data / "2wiki", ("rules", "triples"), ("dev", "test")),
    "musique": lambda options: data_set(options.data / "musique", ("rules", "triples"), ("dev", "test")),
    "notes": lambda _: note_figures(store),
    "reverb": lambda options: reverb(options.data / "canonicalization"),
    "speed": lambda options: speed_figures(store, slow=options.slow),
}


def compared(before: Any, now: Any, name: str) -> tuple[bool, str]:
    """Whether a figure is within its bounds, and what is to be said about it: nothing where it is equal."""
    bounds = next(bounds for prefix, bounds in BOUNDS.items() if re.match(prefix, name))
    if isinstance(now, list):
        gone, new = (sorted(set(some) - set(others)) for some, others in ((before or [], now), (now, before or [])))
        lines = [f"- {each}" for each in gone] + [f"+ {each}" for each in new]
        said = "\n    ".join(["", *lines]) if lines else "another order" * (now != before)
        return now == before, said
    if before is None:
        return True, f"{now} (new)"
    within = (
        now >= before - bounds.get("fall", math.inf) - 1e-9
        and now <= before + bounds.get("rise", math.inf) + 1e-9
        and now <= bounds.get("most", math.inf)
        and ("least_share" not in bounds or now >= before * bounds["least_share"])
        and ("most_share" not in bounds or now <= before * bounds["most_share"])
    )
    return within, "" if now == before else f"{before} -> {now} ({now - before:+.4g})"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def where() -> dict[str, str]:
    """The commit of the code that ran, and the machine in words."""
    git = ["git", "-C", str(Path(hopgate.__file__).parent), "describe", "--always", "--dirty", "--exclude", "*"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    words = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return {"commit": commit, "machine": words, "day": f"{datetime.now(UTC):%F}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="these sections, with commas: " + ", ".join(SECTIONS))
    shared = HERE.parent.parent / "shared" / "datasets"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("HOPGATE_DATA", shared)))
    parser.add_argument("--slow", action="store_true", help="the ratio of speed at 200,000 memories as well")
    parser.add_argument("--write", action="store_true", help="put what was measured into goldens.json")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    if unknown := sorted(set(chosen) - set(SECTIONS)):
        parser.error(f"there is no section {unknown[0]!r}: there are {', '.join(SECTIONS)}")
    for name in [name for name in os.environ if name.startswith("HOPGATE_") and name != "HOPGATE_CACHE"]:
        # The defaults are measured, not what this machine's user has set.
        del os.environ[name]
    goldens = json.loads(GOLDENS.read_text("utf-8")) if GOLDENS.exists() else {}
    outside = 0
    for section in chosen:
        began, busy = time.perf_counter(), time.process_time()
        figures = SECTIONS[section](options)
        took = f"{time.perf_counter() - began:.0f} s, {time.process_time() - busy:.0f} s of the processor here"
        before = goldens.get(section, {}).get("figures", {})
        results = {name: compared(before.get(name), value, name) for name, value in figures.items()}
        if section != "speed" or options.slow:
            results |= {name: (False, "was not measured") for name in before if name not in figures}
        wrong = [name for name, (within, _) in results.items() if before and not within]
        moved = {name: said for name, (_, said) in results.items() if said}
        outside += len(wrong)
        say(f"{section}: {took}; {len(results)} figures, {len(moved)} moved, {len(wrong)} out of bounds")
        for name, said in moved.items():
            print(f"{'!' if name in wrong else ' '} {name:34} {said}", flush=True)
        if options.write:
            goldens = json.loads(GOLDENS.read_text("utf-8")) if GOLDENS.exists() else {}
            figures = before | figures if section == "speed" else figures
            goldens[section] = {"measured": where(), "figures": figures}
            GOLDENS.write_text(json.dumps(goldens, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    return 1 if outside and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
