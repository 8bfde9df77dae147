"""Pairs of writers, each paused before its locks: no error, nothing broken, and nobody had to begin again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from reliability.races import race, writers
from reliability.world import Databases
from word_endpoint import serving

from hopgate.store.server.process import EmbeddedServer


@pytest.fixture(scope="module")
def specs() -> Iterator[tuple[str, str]]:
    with serving() as first, serving("others") as second:
        yield first.spec, second.spec


@pytest.fixture(scope="module")
def databases(server: EmbeddedServer, specs: tuple[str, str]) -> Iterator[Databases]:
    made = Databases(server.dsn, specs[0])
    yield made
    made.close()


# `make soak` takes every pair and every lock; here are those that deadlocked or made facts twice, at one lock each.
@pytest.mark.filterwarnings("ignore::hopgate.store.build_lock.BuildWaitsWarning")
@pytest.mark.parametrize(
    ("one", "other", "pause"),
    [
        ("embed", "mark", 1),
        ("mark", "embed", 2),
        ("build", "catch up", 1),
        ("rebuild", "reembed", 4),
        ("load", "add", 2),
        ("delete", "rebuild", 1),
    ],
)
def test_a_pair(one: str, other: str, pause: int, databases: Databases, specs: tuple[str, str]) -> None:
    known = writers(*specs)
    with databases.of("grown") as dsn:
        raced = race(dsn, known[one], known[other], pause)
    assert raced.errors == ()
    assert raced.conflicts == 0
    assert raced.locks > pause, "the pause was never reached"
