"""Ratios of speed within one run, which hold on any machine: each of two things is done in turns, and medians divided.

- *three legs to two*: `kb.recall` with the graph leg over the same without it, in a store of 20,000 memories, 60,000
  facts and the names in them; of 200,000 with `--slow`. Vectors come from an endpoint of this script's, near one of
  300 centres; a query's takes 5 ms there, which is what the bundled model takes.
- *remember to embed*: `kb.add` and `kb.upkeep.catch_up` of one note, over `kb.embed` of one in a store without a graph.
- *build to loop*: the notes that a first build of 3,000 reads in the time that a fixed loop of Python takes.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate

import numpy as np

import hopgate

Open = Callable[[], AbstractContextManager[hopgate.KnowledgeBase]]
DIMENSION, CENTRES = 384, 300
QUERY_S = 0.005
QUERIES, TURNS = 60, 3
SYLLABLES = [a + b + c for a in "bdfgklmnprstvz" for b in ("a", "e", "io", "ou") for c in ("rk", "nd", "l", "")]
WEIGHTS = list(accumulate(1 / (rank + 5) for rank in range(len(SYLLABLES) ** 2)))


def name(pick: random.Random) -> str:
    drawn = pick.choices(range(len(WEIGHTS)), cum_weights=WEIGHTS, k=2)
    return " ".join((SYLLABLES[at % 224] + SYLLABLES[at // 224 % 224]).capitalize() for at in drawn)


PLACES = [name(random.Random(f"place {number}")) for number in range(200)]
SHARES = list(accumulate(1 / (rank + 1) for rank in range(200)))


def note(number: int) -> hopgate.Memory:
    """A note of four names and three facts: one name of its own, one of ten notes, two of two hundred places."""
    pick = random.Random(number)
    own, shared = name(pick), name(random.Random(f"shared {number // 10}"))
    first, second = pick.choices(PLACES, cum_weights=SHARES, k=2)
    text = f"{own} works at {first} and lives in {second}. {shared} is a friend of {own}."
    return hopgate.Memory(f"m{number}", text, created_at=datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=number))


def speed_figures(store: Open, *, slow: bool) -> dict[str, float]:
    """Give the three ratios; with `slow` the first also at 200,000 memories."""
    with tempfile.TemporaryDirectory() as folder:
        # Texts of an earlier run would be embedded already.
        kept, os.environ["HOPGATE_CACHE"] = os.environ.get("HOPGATE_CACHE"), folder
        try:
            figures = {"build to loop": build_to_loop(store), "remember to embed": remember_to_embed(store)}
            for size in (20_000, 200_000)[: 1 + slow]:
                figures[f"three legs to two at {size:,}"] = three_to_two(store, size)
        finally:
            del os.environ["HOPGATE_CACHE"]
            os.environ |= {"HOPGATE_CACHE": kept} if kept else {}
    return figures


def three_to_two(store: Open, size: int) -> float:
    with endpoint() as embedder, store() as kb:
        began = time.perf_counter()
        kb.load(map(note, range(size)))
        kb.embed(embedder)
        kb.build("rules")
        print(f"{size:,} memories: {time.perf_counter() - began:.0f} s, {kb.graph.counts()}", file=sys.stderr)
        pick, taken = random.Random(0), dict[str, list[float]](two=[], three=[])
        weights = {"two": {"graph": 0.0}, "three": {}}
        for number in range(10 + QUERIES):
            words = note(pick.randrange(size)).text.split()
            text = f"who works at {words[4]} with {words[0]} {words[1]} number {number}"
            for arm in random.Random(number).sample(list(weights) * TURNS, 2 * TURNS):
                start = time.perf_counter()
                kb.recall(text, **weights[arm])  # type: ignore[arg-type]
                if number >= 10:
                    taken[arm].append(time.perf_counter() - start)
    two, three = (statistics.median(taken[arm]) for arm in ("two", "three"))
    print(f"{size:,} memories: two legs {1000 * two:.1f} ms, three {1000 * three:.1f} ms", file=sys.stderr)
    return round(three / two, 3)


def remember_to_embed(store: Open) -> float:
    with store() as kb, store() as bare:
        for each in (kb, bare):
            each.add(*map(note, range(500)))
            each.embed()
        kb.build()
        remembering, embedding = [], []
        for number in range(500, 540):
            start = time.perf_counter()
            kb.add(note(number))
            kb.upkeep.catch_up([f"m{number}"])
            remembering.append(time.perf_counter() - start)
            bare.add(note(1000 + number))
            start = time.perf_counter()
            bare.embed()
            embedding.append(time.perf_counter() - start)
    one, other = (statistics.median(times[10:]) for times in (remembering, embedding))
    print(f"remember {1000 * one:.1f} ms, embed {1000 * other:.1f} ms", file=sys.stderr)
    return round(one / other, 3)


def build_to_loop(store: Open) -> float:
    ratios = []
    for _ in range(TURNS):
        with store() as kb:
            kb.load(map(note, range(3_000)))
            loops = [loop() for _ in range(3)]
            start = time.perf_counter()
            kb.build()
            built = time.perf_counter() - start
            loops += [loop() for _ in range(3)]
        ratios.append(3_000 / built * statistics.median(loops))
        print(f"build {3_000 / built:.0f} notes a second, loop {statistics.median(loops):.3f} s", file=sys.stderr)
    return round(statistics.median(ratios), 1)


def loop() -> float:
    """The seconds of some work in Python such as a build does: words, counts, sorting, JSON, arrays."""
    start = time.perf_counter()
    text = " ".join(note(number).text for number in range(1000))
    for _ in range(5):
        counts = Counter(word.casefold() for word in re.findall(r"[^\W\d_]+", text))
        json.loads(json.dumps(sorted(counts.items())))
        np.linalg.norm(np.ones((400, 400)) @ np.ones((400, 400)))
    return time.perf_counter() - start


@contextlib.contextmanager
def endpoint() -> Iterator[str]:
    """An endpoint of made-up vectors in a process of its own: the embedder that asks it."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"openai:made-up@http://127.0.0.1:{server.stdout.readline().strip()}/v1#dimension={DIMENSION}&key=none"
        finally:
            server.kill()


class Vectors(BaseHTTPRequestHandler):
    """Answers each text with a vector near the centre that its first name stands for."""

    protocol_version = "HTTP/1.1"
    centres = np.random.default_rng(0).standard_normal((CENTRES, DIMENSION))

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        if len(texts) == 1:
            time.sleep(QUERY_S)
        seeds = [random.Random(text).randrange(1 << 30) for text in texts]
        rows = [self.centres[seed % CENTRES] + np.random.default_rng(seed).standard_normal(DIMENSION) for seed in seeds]
        data = [{"index": at, "embedding": np.round(row, 3).tolist()} for at, row in enumerate(rows)]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


if __name__ == "__main__":
    made_up = ThreadingHTTPServer(("127.0.0.1", 0), Vectors)
    print(made_up.server_port, flush=True)
    made_up.serve_forever()
