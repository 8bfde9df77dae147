"""Many clients at once, each a process of its own, doing everything that can be done to a store."""

from __future__ import annotations

import json
import os
import random
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psycopg
from reliability.oracle import broken

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

HOSTS = ("cedar", "alder", "birch", "hazel", "rowan")
SERVICES = ("Immich", "Caddy", "Jellyfin", "Redis", "Postgres", "Grafana", "Gitea")


class Client:
    """One user of a store: what it wrote it may change, mark and delete; it reads everything."""

    def __init__(self, kb: KnowledgeBase, number: int, embedder: str) -> None:
        self._kb, self._number, self._embedder = kb, number, embedder
        self._random = random.Random(number)
        self._own: list[str] = []
        self._made = 0

    def step(self) -> str:
        """Do one thing; give its name."""
        one: list[tuple[int, Callable[[], object]]] = [
            (30, self.recall), (10, self.explain), (20, self.add), (4, self.add_several), (10, self.link),
            (6, self.change), (6, self.delete), (4, self.mark), (3, self.embed), (2, self.build), (2, self.settle),
        ]  # fmt: skip
        (chosen,) = self._random.choices([work for _, work in one], [weight for weight, _ in one])
        chosen()
        return chosen.__name__

    def _memory(self) -> Memory:
        self._made += 1
        key = f"c{self._number}-{self._made}"
        service, host = self._random.choice(SERVICES), self._random.choice(HOSTS)
        return Memory(key, f"{service} runs on {host}. Note {self._made} of {self._number}.")

    def add(self) -> None:
        memory = self._memory()
        self._kb.add(memory)
        self._own.append(memory.external_id)

    def add_several(self) -> None:
        several = [self._memory() for _ in range(5)]
        self._kb.add(*several)
        self._own += [memory.external_id for memory in several]

    def link(self) -> None:
        self.add()
        self._kb.upkeep.catch_up(self._own[-1:])

    def change(self) -> None:
        if self._own:
            key = self._random.choice(self._own)
            self._kb.add(Memory(key, f"{self._random.choice(SERVICES)} moved to {self._random.choice(HOSTS)}."))

    def delete(self) -> None:
        if self._own:
            self._kb.delete([self._own.pop(self._random.randrange(len(self._own)))])

    def mark(self) -> None:
        if self._own:
            self._kb.mark_sensitive([self._random.choice(self._own)])

    def embed(self) -> None:
        self._kb.embed(self._embedder)

    def build(self) -> None:
        self._kb.build()

    def settle(self) -> None:
        self._kb.store_settings.set({"k": self._random.randint(5, 15)})

    def recall(self) -> None:
        self._kb.recall(f"where does {self._random.choice(SERVICES)} run")

    def explain(self) -> None:
        self._kb.recall(f"what runs on {self._random.choice(HOSTS)}", explain=True, legs=("lexical", "graph"))


def _client(where: str | Path, number: int, seconds: float, embedder: str, out: Path) -> None:
    warnings.simplefilter("ignore")
    done, errors = Counter[str](), Counter[str]()
    deadline = time.monotonic() + seconds
    try:
        with hopgate.open(where) as kb:
            client = Client(kb, number, embedder)
            while time.monotonic() < deadline:
                try:
                    done[client.step()] += 1
                except Exception as error:
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    errors[f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"[:300]] += 1
            kept = client._own
    except Exception as error:
        errors[f"{type(error).__name__}: {error}"[:300]] += 1
        kept = []
    out.write_text(json.dumps({"done": done, "errors": errors, "kept": kept}))


def load(where: str | Path, dsn: str, clients: int, seconds: float, embedder: str, folder: Path) -> dict[str, object]:
    """Let so many clients work for so long; give what they did, what they saw, and what is wrong with the store."""
    children = []
    for number in range(clients):
        child = os.fork()
        if child == 0:
            try:
                _client(where, number, seconds, embedder, folder / f"{number}.json")
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    told = [json.loads((folder / f"{number}.json").read_text()) for number in range(clients)]
    done, errors = Counter[str](), Counter[str]()
    for one in told:
        done.update(one["done"])
        errors.update(one["errors"])
    with hopgate.open(where) as kb:
        kb.build()
        there = {memory.external_id for memory in kb.export()}
        twice = 0
        with kb.store.transaction() as connection:
            wrong = broken(connection)
            twice = len(wrong.get("a memory states a fact once", []))
        lost = sum(key not in there for one in told for key in one["kept"])
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()
    return {
        "operations": sum(done.values()), "errors": sum(errors.values()), "examples": list(errors)[:5], "lost": lost,
        "facts twice": twice, "broken": wrong, "deadlocks": row[0] if row else 0, "done": dict(done),
    }  # fmt: skip
