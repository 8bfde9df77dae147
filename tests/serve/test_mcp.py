"""The SDK's own client goes through all tools and resources; a hostile one gets nothing, and the server lives."""

import asyncio
import json
import os
import subprocess
from typing import Any
from urllib.parse import quote

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_session import User, command, in_session, refused, told
from patience import PATIENCE
from serve_store import CANARY, SECRET
from serving import TOKEN, serving

READING = ["recall", "context", "explain", "relations_of", "what_changed"]
WRITING = ["remember", "forget"]


async def through_all(client: Client, user: User) -> None:
    """Every tool and every resource, once."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == READING + WRITING
    for tool in tools.values():
        assert tool.description and len(tool.description) > 80
        assert tool.output_schema and tool.output_schema["type"] == "object"
        assert tool.annotations and tool.annotations.read_only_hint == (tool.name in READING)
    assert "recall" in (client.instructions or "")

    hits = (await told(client, "recall", query="where does Gitea run", k=3))["hits"]
    assert {"m4", "m5"} <= {hit["id"] for hit in hits}
    assert hits[0]["rank"] == 1 and hits[0]["why"] and hits[0]["content"]

    explained = await told(client, "explain", query="where does Gitea run", id="m5")
    assert explained["present"] and "lexical" in explained["legs"]

    found = await told(client, "relations_of", concept="gitea", limit=10)
    assert {one["target"] for one in found["relations"]} >= {"birch", "rowan"}
    assert "m4" in {memory for one in found["relations"] for memory in one["evidence"]}
    assert "no concept" in await refused(client, "relations_of", concept="Nobody Atall")

    changed = await told(client, "what_changed", since="2024-05-07T12:00:00Z", until="2024-05-20")
    assert [memory["id"] for memory in changed["memories"]] == ["new", "m5"]

    stored = await told(
        client, "remember", text="Dora Quill repairs the Heidelberg press.", title="Press", tags=["print shop"]
    )
    assert stored["new"] and stored["linked"]
    again = await told(client, "remember", text="Dora Quill repairs the Heidelberg press.", title="Press")
    assert again["id"] == stored["id"] and not again["new"]
    assert (await told(client, "recall", query="who repairs the press"))["hits"][0]["id"] == stored["id"]

    listed = await client.list_resource_templates()
    assert [one.uri_template for one in listed.resource_templates] == ["hopgate://memory/{id}"]
    read = await resource(client, f"hopgate://memory/{quote(stored['id'], safe='')}")
    assert read["content"].startswith("Press\nDora Quill") and read["tags"] == []
    assert (await resource(client, f"hopgate://memory/{quote('notes/a b.md#1', safe='')}"))["scope"] == "home"
    with pytest.raises(MCPError, match="no memory"):
        await client.read_resource("hopgate://memory/nothing")

    gone = await told(client, "forget", id=stored["id"])
    assert gone["deleted"] and len(user.asked) == 1 and "Heidelberg" in user.asked[0]
    assert "no memory" in await refused(client, "forget", id=stored["id"])


async def resource(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    return json.loads(content.text)


def test_every_tool_by_standard_input(own_kb):
    async def session() -> None:
        user = User("accept", delete=True)
        # As the assistants of today speak.
        async with Client(command(own_kb.store.dsn), mode="legacy", elicitation_callback=user) as client:
            await through_all(client, user)

    asyncio.run(session())
    assert own_kb.get("m1") is not None


def test_nothing_is_forgotten_unless_the_user_agrees(own_kb):
    async def forget(client: Client) -> None:
        answer = await told(client, "forget", id="m1")
        assert not answer["deleted"] and answer["confirm_token"] is None and "did not agree" in answer["message"]

    for user in (User("decline"), User("cancel"), User("accept", delete=False)):
        in_session(own_kb, forget, user=user)
        assert own_kb.get("m1") is not None and user.asked


def test_a_client_that_cannot_ask_confirms_in_a_second_step(own_kb):
    async def forget(client: Client) -> None:
        first = await told(client, "forget", id="m1")
        assert not first["deleted"] and "London" in first["message"]
        token = first["confirm_token"]
        for wrong in ("guessed", token[:-1], ""):
            assert not (await told(client, "forget", id="m1", confirm_token=wrong))["deleted"]
        assert not (await told(client, "forget", id="m2", confirm_token=token))["deleted"]
        assert own_kb.get("m1") is not None
        assert (await told(client, "forget", id="m1", confirm_token=token))["deleted"]

    in_session(own_kb, forget)
    assert own_kb.get("m1") is None and own_kb.get("m2") is not None


def test_it_stands_behind_what_stands_around_every_request(shared_kb):
    with serving(shared_kb, mcp=True, read_only=True, scopes=("home",)) as running:
        for headers in ({}, {"Authorization": "Bearer wrong-token-of-length"}):
            assert httpx.post(f"{running.url}/mcp", json=HELLO, headers=headers).status_code == 401
        large = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y" * (2 << 20)}}
        assert running.client.post("/mcp", json=large).status_code == 413
        assert running.get("health").status_code == 200

        async def session() -> list[str]:
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE) as http,
                Client(streamable_http_client(f"{running.url}/mcp", http_client=http)) as client,
            ):
                assert (await told(client, "recall", query="Ada Lovelace"))["hits"]
                return [tool.name for tool in (await client.list_tools()).tools]

        assert asyncio.run(session()) == READING
    with serving(shared_kb) as running:
        assert running.client.post("/mcp", json={}).status_code == 405


def test_sensitive_memories_are_not_there_unless_allowed(shared_kb):
    async def ask(client: Client) -> str:
        answers: list[Any] = [
            await told(client, "recall", query=f"code of the vault {CANARY}", k=20),
            await told(client, "what_changed", since="2020-01-01"),
            (await client.call_tool("explain", {"query": "vault", "id": SECRET[0]})).model_dump(),
            (await client.call_tool("forget", {"id": SECRET[0]})).model_dump(),
        ]
        try:
            answers.append((await client.read_resource(f"hopgate://memory/{SECRET[0]}")).model_dump())
        except MCPError as error:
            answers.append(str(error))
        return json.dumps(answers, default=str)

    shown = in_session(shared_kb, ask)
    assert CANARY not in shown and '"id": "secret-1"' not in shown
    assert CANARY in in_session(shared_kb, ask, show_sensitive=True)


def test_of_a_sensitive_text_nothing_is_told_not_even_whether_it_is_there(own_kb):
    async def remember(client: Client) -> None:
        text = "The wifi password is in the drawer."
        hidden = [await told(client, "remember", text=text, sensitive=True) for _ in range(2)]
        assert hidden[0]["id"] != hidden[1]["id"] and all(one["new"] for one in hidden)
        plain = await told(client, "remember", text=text)
        own_kb.mark_sensitive([plain["id"]])
        again = await told(client, "remember", text=text)
        assert again["id"] != plain["id"] and again["new"] and again["linked"] == plain["linked"]
        assert "no memory" in await refused(client, "explain", query="wifi", id=plain["id"])

    in_session(own_kb, remember)


def test_a_long_memory_is_cut_and_read_in_full_as_a_resource(own_kb):
    async def remember(client: Client) -> None:
        stored = await told(client, "remember", text="Zinnia sowing notes. " + "Water the bed. " * 400)
        hit = (await told(client, "recall", query="Zinnia sowing notes", k=1))["hits"][0]
        assert hit["id"] == stored["id"] and hit["cut"] and len(hit["content"]) <= 2000
        whole = await resource(client, f"hopgate://memory/{quote(stored['id'], safe='')}")
        assert len(whole["content"]) > 6000
        assert "at most" in await refused(client, "remember", text="x" * 60_000)

    in_session(own_kb, remember)


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}


def test_a_scope_that_is_not_its_own_is_out_of_reach(shared_kb):
    """The memories m3 to m5 are of the scope `work`, m6 of none; the server is bound to `home`."""
    foreign = {"m3", "m4", "m5", "m6"}
    own = {cluster.id for cluster in shared_kb.graph.clusters(scope="home")}
    strange = max(cluster.id for cluster in shared_kb.graph.clusters())
    assert strange not in own

    async def reach(client: Client) -> list[Any]:
        assert [tool.name for tool in (await client.list_tools()).tools] == READING + WRITING
        answers: list[Any] = []
        for query in ("Gitea runs on birch rowan", "Charles Babbage Cambridge", "Bea Miller cat"):
            answers.append(await told(client, "recall", query=query, k=50))
            # Names that a tool does not have change nothing.
            extra = {"scopes": ["work"], "filters": {"scope": "work"}, "exclude": []}
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
        for uri in ("hopgate://memory/m4", "hopgate://memory/m6"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
        return answers

    answers = in_session(shared_kb, reach, scopes=("home",))
    shown = json.dumps(answers)
    assert not {hit["id"] for answer in answers for hit in answer.get("hits", ())} & foreign
    for word in ("Gitea", "birch", "rowan", "Cambridge", *(f'"{one}"' for one in foreign)):
        assert word not in shown, word
    assert shared_kb.get("m4") is not None


def test_odd_values_are_refused_in_words_and_nothing_breaks(shared_kb):
    async def ask(client: Client) -> None:
        for tool, arguments in (
            ("recall", {"query": ""}),
            ("recall", {"query": "x" * 30_000}),
            ("recall", {"query": "x", "k": 10**9}),
            ("recall", {"query": "a\0b"}),
            ("recall", {"query": "x", "as_of": "0001-01-01"}),
            ("recall", {"query": "x", "cluster": 2**80}),
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

    in_session(shared_kb, ask, scopes=("home",))


def test_standard_input_survives_what_is_no_message(shared_kb):
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
