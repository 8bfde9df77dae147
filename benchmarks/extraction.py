"""An extractor's mentions and facts against a reference `triples.jsonl`, and its speed beside plain tokenisation.

Names are compared after folding case and punctuation, exactly, as sets per memory. The reference's mentions are its
`entity` rows, or the subjects and objects of its facts where it has none; a pair is the unordered (subject, object) of
a fact. Figures are micro-averages over the memories that the reference has rows for.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from hopgate.extract.extraction import Extraction, Extractor, Source
from hopgate.extract.model.answer import fold
from hopgate.extract.rules.phrases import Phrases
from hopgate.memory import Cleared

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HOPGATE_DATA") or ROOT.parent / "shared" / "datasets")
CAPITALS = re.compile(r"[A-Z]\w*(?:[ -][A-Z]\w*)*")
WORD = re.compile(r"\w+")
Sets: TypeAlias = Mapping[str, set[str]]


def main() -> None:
    options = parsed()
    folder = Path(options.dataset) if Path(options.dataset).is_dir() else DATA / options.dataset
    names, pairs = reference(folder / "triples.jsonl")
    sources = [source for source in corpus(folder / "corpus.jsonl") if source.memory_id in names]
    sources = sources[: options.limit or len(sources)]
    extractor = chosen(options)
    extractor.extract(sources[:1])  # dictionaries and models are loaded once, before the clock starts
    began, busy = time.perf_counter(), time.process_time()
    extractions = extractor.extract(sources)
    seconds, cpu = time.perf_counter() - began, time.process_time() - busy
    result: dict[str, object] = {
        "dataset": folder.name,
        "extractor": repr(extractor),
        "memories": len(sources),
        **scores("mention", found_names(sources, extractions), names),
        **scores("pair", found_pairs(sources, extractions), pairs),
        **{f"capitals_{key}": value for key, value in scores("mention", capitals(sources), names).items()},
        "mentions_per_memory": sum(len(one.mentions) for one in extractions) / len(sources),
        "facts_per_memory": sum(len(one.facts) for one in extractions) / len(sources),
        "states": {state: sum(one.state == state for one in extractions) for state in ("complete", "empty")},
        "truncated": sum(one.state == "truncated" for one in extractions),
        "failed": sum(one.state == "failed" for one in extractions),
        "tokens": sum(one.tokens for one in extractions),
        "memories_per_second": len(sources) / seconds,
        "memories_per_cpu_second": len(sources) / cpu,
        **(plain := tokenisation(sources)),
        "cost_in_tokenisations": plain["tokenised_per_cpu_second"] * cpu / len(sources),
    }
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:28} {value:.3f}" if isinstance(value, float) else f"{key:28} {value}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="a folder with corpus.jsonl and triples.jsonl, or its name among the data sets")
    parser.add_argument("--extractor", choices=("phrases", "llama", "openai", "replay"), default="phrases")
    parser.add_argument("--model", default="", help="a GGUF file, a model's name, or a triples.jsonl to replay")
    parser.add_argument("--base-url", default="http://localhost:8000/v1")
    parser.add_argument("--limit", type=int, default=0, help="the first N memories only")
    parser.add_argument("--max-tokens", type=int, default=400, help="the most a local model writes about one memory")
    parser.add_argument("--json", action="store_true")
    options: argparse.Namespace = parser.parse_args()
    return options


def chosen(options: argparse.Namespace) -> Extractor:
    if options.extractor == "llama":
        from hopgate.extract.model.llama import Llama

        return Llama(options.model, window=2048, max_tokens=options.max_tokens)
    if options.extractor == "openai":
        from hopgate.extract.model.openai import OpenAI

        return OpenAI(options.model, options.base_url, api_key=os.environ.get("OPENAI_API_KEY", ""))
    if options.extractor == "replay":
        from hopgate.extract.files import Replay

        return Replay(options.model)
    return Phrases()


def corpus(path: Path) -> list[Source]:
    rows = map(json.loads, path.read_text().splitlines())
    return [Source(row["_id"], Cleared("\n".join(filter(None, (row["title"], row["text"]))))) for row in rows]


def reference(path: Path) -> tuple[Sets, Sets]:
    entities: defaultdict[str, set[str]] = defaultdict(set)
    ends: defaultdict[str, set[str]] = defaultdict(set)
    pairs: defaultdict[str, set[str]] = defaultdict(set)
    for row in map(json.loads, path.read_text().splitlines()):
        if "entity" in row:
            entities[row["doc_id"]].add(fold(row["entity"]))
        else:
            ends[row["doc_id"]].update((fold(row["subject"]), fold(row["object"])))
            pairs[row["doc_id"]].add(pair(row["subject"], row["object"]))
    return entities or ends, pairs


def pair(one: str, other: str) -> str:
    return " | ".join(sorted((fold(one), fold(other))))


def found_names(sources: Sequence[Source], extractions: Sequence[Extraction]) -> Sets:
    both = zip(sources, extractions, strict=True)
    return {str(source.memory_id): {fold(mention.name) for mention in one.mentions} - {""} for source, one in both}


def found_pairs(sources: Sequence[Source], extractions: Sequence[Extraction]) -> Sets:
    both = zip(sources, extractions, strict=True)
    return {str(source.memory_id): {pair(fact.subject, fact.object) for fact in one.facts} for source, one in both}


def capitals(sources: Sequence[Source]) -> Sets:
    return {str(source.memory_id): {fold(name) for name in CAPITALS.findall(source.text)} for source in sources}


def scores(what: str, found: Sets, wanted: Sets) -> dict[str, float]:
    hits = sum(len(names & wanted.get(memory, set())) for memory, names in found.items())
    precision = hits / max(1, sum(map(len, found.values())))
    recall = hits / max(1, sum(len(wanted.get(memory, ())) for memory in found))
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return {f"{what}_precision": precision, f"{what}_recall": recall, f"{what}_f1": f1}


def tokenisation(sources: Sequence[Source]) -> dict[str, float]:
    """The cost of cutting the same texts into words and doing nothing with them: the least any extractor pays."""
    began, busy = time.perf_counter(), time.process_time()
    for source in sources:
        WORD.findall(source.text)
    seconds, cpu = time.perf_counter() - began, time.process_time() - busy
    return {"tokenised_per_second": len(sources) / seconds, "tokenised_per_cpu_second": len(sources) / max(cpu, 1e-9)}


if __name__ == "__main__":
    main()
