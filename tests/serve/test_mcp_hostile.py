"""A hostile client gets nothing, and the server lives: wrong token, other origin, another scope, odd messages."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError
from mcp_session import by_http, command, mcp_serving, refused, told
from patience import PATIENCE
from serving import TOKEN

from hopgate.kb import KnowledgeBase

READING = ["recall", "explain", "relations_of", "what_changed"]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def url(shared_kb: KnowledgeBase) -> Iterator[str]:
    with mcp_serving(shared_kb, scopes=("home",)) as where:
        yield where


def alive(url: str) -> None:
    async def session() -> None:
        async with by_http(url) as client:
            assert (await told(client, "recall", query="Ada Lovelace"))["hits"]

    asyncio.run(session())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong-token-of-length"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Cookie": "hopgate_token=wrong-token-of-length"}, 401),
        ({**BEARER, "Origin": "https://evil.example"}, 403),
        ({**BEARER, "Origin": "null"}, 403),
        ({**BEARER, "Sec-Fetch-Site": "cross-site"}, 403),
        ({**BEARER, "Host": "evil.example"}, 421),
    ],
)
def test_who_is_not_let_in_gets_nothing(url: str, headers: dict[str, str], status: int) -> None:
    for method, body in (("POST", HELLO), ("POST", LIST), ("GET", None), ("DELETE", None)):
        answer = httpx.request(method, url, json=body, headers={**ACCEPT, **headers}, timeout=PATIENCE)
        assert answer.status_code == status, (method, answer.text)
        assert "recall" not in answer.text and "Ada" not in answer.text
    alive(url)


def test_the_sdks_client_with_a_wrong_token_gets_no_session(url: str) -> None:
    async def session() -> None:
        async with by_http(url, token="a-token-that-is-wrong") as client:
            await client.list_tools()

    with pytest.raises(BaseException) as ended:
        asyncio.run(session())
    assert "recall" not in str(ended.value)
    alive(url)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b"[1, 2, 3]",
        b"null",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "no/such/method", "params": {"x": 1}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": []}}',
        b"\xff\xfe\x00",
        b"[" * 5_000,
    ],
    ids=range(13),
)
def test_malformed_messages_are_refused(url: str, body: bytes) -> None:
    headers = {**ACCEPT, **BEARER, "Content-Type": "application/json"}
    answer = httpx.post(url, content=body, headers=headers, timeout=PATIENCE)
    assert 400 <= answer.status_code < 500 or "error" in answer.text
    assert answer.status_code != 500
    assert "Traceback" not in answer.text and "Ada" not in answer.text
    alive(url)


def test_an_oversized_message_is_refused_declared_or_not(url: str) -> None:
    call = {**LIST, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "x" * (3 << 20)}}}
    whole = json.dumps(call).encode()
    headers = {**ACCEPT, **BEARER, "Content-Type": "application/json"}
    for size in (len(whole), (1 << 20) + 2000):
        body = whole[:size]

        def pieces(body: bytes = body) -> Iterator[bytes]:
            for start in range(0, len(body), 1 << 16):
                yield body[start : start + (1 << 16)]

        assert httpx.post(url, content=body, headers=headers, timeout=PATIENCE).status_code == 413
        answer = httpx.post(url, content=pieces(), headers=headers, timeout=PATIENCE)
        assert answer.status_code in (400, 413)
    alive(url)


def test_a_scope_that_is_not_its_own_is_out_of_reach(url: str, shared_kb: KnowledgeBase) -> None:
    """The memories m3 to m5 are of the scope `work`, m6 of none; the server is bound to `home`."""
    foreign = {"m3", "m4", "m5", "m6"}
    own = {cluster.id for cluster in shared_kb.graph.clusters(scope="home")}
    strange = max(cluster.id for cluster in shared_kb.graph.clusters())
    assert strange not in own

    async def session() -> list[Any]:
        async with by_http(url) as client:
            answers: list[Any] = []
            for query in ("Gitea runs on birch rowan", "Charles Babbage Cambridge", "Bea Miller cat"):
                answers.append(await told(client, "recall", query=query, k=50))
                # Names that a tool does not have change nothing.
                extra = {"scopes": ["work"], "where": "true", "filters": {"scope": "work"}, "exclude": []}
                answers.append(await told(client, "recall", query=query, k=50, **extra))
            for scope in ("work", "", "home' OR '1'='1", "*"):
                text = await refused(client, "recall", query="Gitea", scope=scope)
                assert "birch" not in text
            for tool, arguments in (
                ("explain", {"query": "Gitea", "id": "m4"}),
                ("forget", {"id": "m4"}),
                ("relations_of", {"concept": "Gitea"}),
                ("relations_of", {"concept": "Charles Babbage", "scope": "work"}),
                ("remember", {"text": "Gitea is mine now.", "scope": "work"}),
                ("what_changed", {"since": "2020-01-01", "scope": "work"}),
                ("recall", {"query": "Gitea", "cluster": strange}),
            ):
                text = await refused(client, tool, **arguments)
                assert "birch" not in text and "rowan" not in text and "Cambridge" not in text, tool
            answers.append(await told(client, "what_changed", since="2020-01-01", limit=1000))
            answers.append(await told(client, "relations_of", concept="Charles Babbage"))
            for uri in ("hopgate://memory/m4", "hopgate://concept/Gitea", "hopgate://memory/m6"):
                with pytest.raises(MCPError):
                    await client.read_resource(uri)
            answers.append((await client.read_resource("hopgate://concepts")).model_dump(mode="json"))
            return answers

    answers = asyncio.run(session())
    shown = json.dumps(answers)
    assert not {hit["id"] for answer in answers for hit in answer.get("hits", ())} & foreign
    for word in ("Gitea", "birch", "rowan", "Cambridge", *(f'"{one}"' for one in foreign)):
        assert word not in shown, word
    assert shared_kb.get("m4") is not None


def test_what_is_remembered_stays_in_its_scope_and_takes_nobodys_place(own_kb: KnowledgeBase) -> None:
    async def session(url: str) -> str:
        async with by_http(url) as client:
            stored = await told(client, "remember", text="The attic is dry.", id="m4", external_id="m4")
            assert stored["scope"] == "home"
            return str(stored["id"])

    with mcp_serving(own_kb, scopes=("home", "hall")) as url:
        key = asyncio.run(session(url))
    assert key != "m4" and own_kb.get("m4").text == "The Gitea service runs on birch."  # type: ignore[union-attr]
    assert own_kb.get(key).scope == "home"  # type: ignore[union-attr]


def test_odd_values_are_refused_in_words_and_nothing_breaks(url: str) -> None:
    async def session() -> None:
        async with by_http(url) as client:
            for tool, arguments in (
                ("recall", {"query": ""}),
                ("recall", {"query": "x" * 30_000}),
                ("recall", {"query": "x", "k": -1}),
                ("recall", {"query": "x", "k": 10**9}),
                ("recall", {"query": "a\0b"}),
                ("recall", {"query": ["x"]}),
                ("recall", {}),
                ("recall", {"query": "x", "as_of": "0001-01-01"}),
                ("recall", {"query": "x", "as_of": "soon"}),
                ("recall", {"query": "x", "cluster": 2**80}),
                ("remember", {"text": ""}),
                ("remember", {"text": "x", "tags": ["t"] * 50}),
                ("remember", {"text": "x", "created_at": "9999-12-31T23:59:59-12:00"}),
                ("explain", {"query": "x", "id": "../../etc/passwd"}),
                ("what_changed", {"since": "2030-01-01", "until": "2020-01-01"}),
                ("forget", {"id": "nothing", "answer": {"action": "accept", "data": {"delete": True}}}),
            ):
                text = await refused(client, tool, **arguments)
                assert "Traceback" not in text and "made a mistake" not in text, (tool, arguments, text)
            # An answer that the client makes up for the user is no answer.
            made_up = {"answer": {"action": "accept", "data": {"delete": True}}, "context": {}}
            assert not (await told(client, "forget", id="m1", **made_up))["deleted"]

    asyncio.run(session())
    alive(url)


def test_standard_input_survives_what_is_no_message(shared_kb: KnowledgeBase) -> None:
    server = command(shared_kb.store.dsn, "--scope", "home", "--read-only")
    lines = [
        b"not json",
        b"[]",
        b"\xff\xfe",
        b"{" + b'"a":' * 5_000,
        b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "recall", "arguments": '
        + json.dumps({"query": "y" * (2 << 20)}).encode()
        + b"}}",
        json.dumps(HELLO).encode(),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        json.dumps(LIST).encode(),
    ]
    running = subprocess.Popen(
        [server.command, *server.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **(server.env or {})},
    )
    assert running.stdin is not None and running.stdout is not None
    running.stdin.write(b"\n".join(lines) + b"\n")
    running.stdin.flush()
    # Until the last one is answered: whoever closes its end has no interest in answers.
    answers: list[dict[str, Any]] = []
    while not answers or answers[-1].get("id") != 1:
        line = running.stdout.readline()
        assert line, "it ended"
        answers.append(json.loads(line))
    assert [tool["name"] for tool in answers[-1]["result"]["tools"]] == READING
    assert not any(answer.get("id") == 9 and "result" in answer for answer in answers)
    running.stdin.close()
    assert running.wait(PATIENCE) == 0
    running.stdout.close()
