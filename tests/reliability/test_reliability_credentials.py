"""Passwords and keys are neither stored nor printed, whoever repeats them."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from answering import answering
from cli_run import Runner
from reliability.canary import in_tables
from reliability.model_server import ModelServer

import hopgate
from hopgate import Memory
from hopgate.embed import embedder_from
from hopgate.extract.model.openai import OpenAI
from hopgate.http import RetryPolicy
from hopgate.kb import KnowledgeBase

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
    "postgres:hunter2",
)


def test_no_address_is_printed_with_its_password(bare: Runner, dsn: str) -> None:
    for address in ADDRESSES:
        said = bare("status", "--dsn", address, status=2).refused()
        assert "hunt" not in said and "er2" not in said, said
        read = bare("ingest", address, "--from-sql", "notes", "--dsn", dsn, status=None)
        assert "hunter2" not in read.out + read.err
