"""Passwords and keys are neither stored nor printed, whoever repeats them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any, cast

import pytest
from answering import answering
from canary import in_tables
from cli_run import Runner
from model_server import ModelServer

import hopgate
from hopgate import Memory
from hopgate.embed import embedder_from
from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extraction, ExtractorIdentity, Source
from hopgate.extract.model.openai import OpenAI
from hopgate.http import RetryPolicy
from hopgate.kb import KnowledgeBase
from hopgate.scale.engine import Engine
from hopgate.scale.ray_cluster import ray_session

SECRET = "hunter2hunter2"


@pytest.fixture
def bare(capsys: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capsys)


def test_an_embedders_password_is_sent_and_not_stored(
    kb: KnowledgeBase, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = models.embedder.replace("http://", f"http://me:{SECRET}@")
    kb.add(Memory("m", "Ada keeps the key."))
    assert kb.embed(spec) == 1
    assert in_tables(kb.store.dsn, SECRET) == []
    made = embedder_from(spec)
    assert SECRET not in repr(made) + str(made.identity.to_dict())
    kb.add(Memory("n", "Bea feeds the cat."))
    assert kb.embed(spec) == 1  # the store knows its embedder, with a password or without
    monkeypatch.setenv("HOPGATE_EMBEDDER", spec)
    with hopgate.open(kb.store.dsn) as again:
        assert again.recall("key")


def test_an_extractors_password_is_in_no_identity() -> None:
    extractor = OpenAI("m", f"http://me:{SECRET}@localhost:1/v1", api_key=SECRET)
    assert SECRET not in repr(extractor) + str(extractor.identity)


@pytest.fixture
def echo() -> Iterator[str]:
    """A server that repeats what it was sent, key and all."""

    def repeat(asked: BaseHTTPRequestHandler, _: str) -> tuple[int, Any]:
        said = f"Incorrect key {asked.headers['Authorization']} sent to {asked.path}, use {SECRET[:10]}***"
        return 400, {"error": {"message": said}}

    with answering(repeat) as url:
        yield url


def test_a_key_that_a_server_repeats_is_not_printed(
    kb: KnowledgeBase, echo: str, dsn: str, bare: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    kb.add(Memory("m", "Ada keeps the key."))
    said = bare("embed", "--embedder", f"openai:m@{echo}#dimension=8", "--dsn", dsn, status=2).refused()
    assert "Incorrect key" in said and "hunter" not in said
    kb.build(OpenAI("m", echo, api_key=SECRET, retry=RetryPolicy(retries=0)))
    assert in_tables(kb.store.dsn, "hunter") == []


ADDRESSES = (
    "postgresql://me:hunter2@nowhere.invalid/db",
    "postgresql://me:hunter2:5432@127.0.0.1:1/db",
    "postgresql://me:hunt/er2@127.0.0.1:1/db",
    "postgresql://me:hunt er2@127.0.0.1:1/db",
    "postgresql://me:hunt%er2@127.0.0.1:1/db",
    "postgresql://me:hunter2@127.0.0.1:port/db",
    "postgresql://me@127.0.0.1:1/db?password=hunter2&x",
    "host=127.0.0.1 port=1 password=hunter2 user=me nonsense=1",
    "host=127.0.0.1 port=1 password='hunter2",
)


def test_no_address_is_printed_with_its_password(bare: Runner, dsn: str) -> None:
    for address in ADDRESSES:
        said = bare("status", "--dsn", address, status=2).refused()
        assert "hunt" not in said and "er2" not in said, said
        read = bare("ingest", address, "--from-sql", "notes", "--dsn", dsn, status=None)
        assert "hunter2" not in read.out + read.err


def test_a_misspelt_embedder_is_refused_without_its_password(kb: KnowledgeBase, bare: Runner, dsn: str) -> None:
    kb.add(Memory("m", "Ada keeps the key."))
    said = bare("embed", "--embedder", f"openai:m@ftp://me:{SECRET}@host/v1", "--dsn", dsn, status=2).refused()
    assert SECRET not in said
    assert os.environ.get("HOPGATE_EMBEDDER") is None


@pytest.mark.parametrize("address", [f"ray://me:{SECRET}@127.0.0.1:1", f"ray://{'x' * 96}:{SECRET}@127.0.0.1:1"])
def test_a_clusters_address_is_printed_without_its_password(address: str, monkeypatch: pytest.MonkeyPatch) -> None:

    def refuse(**options: Any) -> None:
        raise ConnectionError(f"could not connect to {options['address']}\nand more")

    monkeypatch.setitem(sys.modules, "ray", cast("Any", SimpleNamespace(init=refuse, is_initialized=lambda: False)))
    with pytest.raises(HopgateError) as said, ray_session(Engine("ray", address)):
        pass
    assert SECRET[:6] not in str(said.value) and "no Ray cluster" in str(said.value)


class Failing:
    """An extractor whose error holds an address, which a reason of 200 characters would cut."""

    identity = ExtractorIdentity("failing")

    def extract(self, sources: Sequence[Source]) -> list[Extraction]:
        raise ValueError("x" * 170 + f" https://me:{SECRET * 3}@host/v1")


def test_a_reason_is_redacted_before_it_is_cut(kb: KnowledgeBase) -> None:
    kb.add(Memory("m", "Ada keeps the key."))
    with contextlib.suppress(HopgateError):
        kb.build(Failing())
    assert in_tables(kb.store.dsn, "hunter") == []
