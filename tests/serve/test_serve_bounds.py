"""What a server does not show and not do: sensitive texts, other scopes, changes where it is read-only."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from serve_store import CANARY, SECRET
from serving import Running, serving
from word_endpoint import embed

from hopgate.errors import HopgateError
from hopgate.guard import SensitivityRules
from hopgate.memory import Memory
from hopgate.serve.mcp import AssistantStore
from hopgate.serve.settings import Bounds

# What the explorer's pages ask for when they are opened.
PAGES = (
    "graph/clusters",
    "graph/view?limit=100",
    "graph/view?cluster=1",
    "timeline/span",
    "timeline/changes?since=2000-01-01&until=2100-01-01",
    "timeline/changes?since=2000-01-01&until=2100-01-01&axis=known",
    "timeline/conflicts",
    "timeline/superseded",
)


def everything(running: Running) -> Iterator[httpx.Response]:
    """One answer, or several, of every endpoint that can show a memory."""
    for query in ("the code of the vault", "vault", "Gitea printer London"):
        for further in ({}, {"legs": ["lexical"]}, {"graph": 0}, {"include_superseded": True}):
            yield running.post("recall", {"query": query, "k": 50, **further})
    yield running.post("recall:batch", {"queries": ["the code of the vault", "vault"], "explain": True})
    yield running.post("context", {"query": "the code of the vault"})
    for key in (*SECRET, "m1"):
        yield running.post("explain", {"query": "the code of the vault", "id": key})
        yield running.get(f"memories/{quote(key)}")
        yield running.post(f"memories/{quote(key)}/sensitive", {"sensitive": False})
    yield running.get("memories?limit=100")
    yield running.get("concepts?limit=100")
    for concept in range(1, 20):
        yield running.get(f"concepts/{concept}")
    yield running.get("edges?limit=100")
    yield running.get("clusters?members=100")
    for cluster in range(1, 8):
        yield running.get(f"clusters/{cluster}")
    for path in ("health", "openapi.json", *PAGES):
        yield running.get(path)
    for concept in range(1, 14):
        yield running.get(f"graph/view?concept={concept}&depth=3")
        yield running.get(f"timeline/concepts/{concept}")


def test_the_canary_of_sensitive_memories_is_in_no_answer(writing):
    answers = list(everything(writing))
    assert len(answers) > 40
    for answer in answers:
        assert CANARY not in answer.text, answer.request.url
        assert CANARY not in str(answer.headers)
    unmarked = writing.post(f"memories/{SECRET[0]}/sensitive", {"sensitive": False})
    assert unmarked.status_code == 403 and "--show-sensitive" in unmarked.json()["detail"]
    hits = writing.post("recall", {"query": "vault", "legs": ["lexical"]}).json()["hits"]
    assert {hit["memory"]["id"] for hit in hits} == set(SECRET)
    for hit in hits:
        memory = hit["memory"]
        assert memory["is_sensitive"] and memory["title"] is memory["content"] is hit["passage"] is None
    # A text that comes in is not said back either.
    new = writing.post("memories", {"text": f"another {CANARY}", "is_sensitive": True})
    assert new.status_code == 201 and CANARY not in new.text


def test_a_rule_holds_before_anybody_has_applied_it(own_kb):
    own_kb.add_sensitivity(SensitivityRules(patterns=("PIN",)))
    with own_kb.store.transaction() as connection:
        # As another program writes, which does not know the rules.
        connection.execute(
            "INSERT INTO memories (external_id, content, is_sensitive) "
            "VALUES ('raw', 'The PIN of the gate is 4711.', false)"
        )
    with serving(own_kb) as running:
        assert running.get("memories/raw").json()["content"] is None
        (hit, *_) = running.post("recall", {"query": "the PIN of the gate"}).json()["hits"]
        memory = hit["memory"]
        assert memory["id"] == "raw" and memory["content"] is None and memory["is_sensitive"]


def test_sensitive_texts_are_shown_where_the_server_was_started_so(own_kb):
    with serving(own_kb, show_sensitive=True) as running:
        assert CANARY in running.get(f"memories/{SECRET[0]}").text
        assert CANARY in running.post("recall", {"query": "vault"}).text
        changed = running.post(f"memories/{SECRET[0]}/sensitive", {"sensitive": False})
        assert changed.json()["is_sensitive"] is False and CANARY in changed.text


WRITES: tuple[tuple[str, str, Any], ...] = (
    ("PATCH", "settings", {"k": 5}),
    ("POST", "memories", {"text": "x"}),
    ("POST", "memories:batch", {"memories": [{"text": "x"}]}),
    ("DELETE", "memories/m1", None),
    ("POST", "memories/m1/sensitive", {"sensitive": True}),
)


def test_nothing_is_changed_where_the_server_is_read_only(shared_kb):
    before = list(shared_kb.export())
    with serving(shared_kb, read_only=True) as running:
        for method, path, body in WRITES:
            answer = running.client.request(method, f"/api/v1/{path}", json=body)
            assert answer.status_code == 403 and "read-only" in answer.json()["detail"], (path, answer.text)
        assert running.post("recall", {"query": "who lives in London"}).status_code == 200
    assert list(shared_kb.export()) == before


def test_a_server_that_is_bound_to_a_scope_shows_and_changes_nothing_of_another(own_kb):
    before = {memory.external_id: memory for memory in own_kb.export() if memory.scope != "home"}
    with serving(own_kb, scopes=("home",)) as running:
        for answer in everything(running):
            # m3, m4 and m5 are of "work", m6 of none; what they alone tell of is these.
            for word in ("Gitea", "birch", "Cambridge", "notes/secret 2", "m3", "m4", "m5", "m6", "Bea Miller feeds"):
                if word != "notes/secret 2" or answer.request.url.path.endswith(("recall", "memories")):
                    assert word not in answer.text, (answer.request.url, answer.text)
        for method, path, body in (
            ("GET", "memories/m3", None),
            ("DELETE", "memories/m3", None),
            ("POST", "memories/m3/sensitive", {"sensitive": True}),
            ("POST", "explain", {"query": "x", "id": "m3"}),
        ):
            answer = running.client.request(method, f"/api/v1/{path}", json=body)
            assert answer.status_code == 404 and answer.json()["detail"].startswith("there is no memory 'm3'")
        for method, path, body in (
            ("POST", "recall", {"query": "x", "scope": "work"}),
            ("GET", "memories?scope=work", None),
            ("POST", "memories", {"text": "x", "scope": "work"}),
            ("PATCH", "settings", {"k": 5}),
        ):
            assert running.client.request(method, f"/api/v1/{path}", json=body).status_code == 403, path
        mine = {"id": "m3", "text": "mine"}
        assert running.post("memories", mine).status_code == 409
        assert running.post("memories:batch", {"memories": [{"text": "x"}, mine]}).status_code == 409
        own = running.post("memories", {"text": "The kettle is new.", "link": False})
        assert own.json()["memory"]["scope"] == "home"
        assert running.get("health").json()["store"] == {}
    assert {memory.external_id: memory for memory in own_kb.export() if memory.scope != "home"} == before


def test_the_explorers_pages_work_within_a_scope_or_say_what_to_do(own_kb):
    with serving(own_kb, scopes=("home",)) as running:
        view = running.get("graph/view?limit=100").json()
        names = {node["name"]: node["id"] for node in view["concepts"]}
        assert {"Ada Lovelace", "London", "Charles Babbage"} <= names.keys() and "Gitea" not in names
        around = running.get(f"graph/view?concept={names['Ada Lovelace']}&depth=1").json()
        assert {"London", "Charles Babbage"} <= {node["name"] for node in around["concepts"]}
        detail = running.get(f"concepts/{names['Ada Lovelace']}?limit=1").json()
        assert [memory["id"] for memory in detail["memories"]] == ["m2"] and len(detail["edges"]) == 1
        assert running.get("timeline/span").json()["known_from"].startswith("2024-05-01")
        (edge,) = running.get(f"timeline/concepts/{names['London']}").json()
        assert (edge["source"], edge["evidence"]) == ("Ada Lovelace", ["m1"])
        began = running.get("timeline/changes?since=2024-04-30&until=2024-05-03&axis=known").json()["began"]
        assert {"m1", "old"} <= {key for edge in began for key in edge["evidence"]}
        (gone,) = running.get("timeline/superseded").json()
        assert (gone["memory"], gone["by"]) == ("old", "new")
        refused = running.patch("settings", {"k": 5})
        assert refused.status_code == 403 and "bound to home: start hopgate serve without --scope" in refused.text
        assert running.post("memories/m1/sensitive", {"sensitive": True}).json()["is_sensitive"]


def test_ids_of_another_scopes_memories_are_not_named(own_kb):
    gone = datetime(2024, 6, 1, tzinfo=UTC)
    own_kb.add(
        Memory("gone", "The kettle is in the hall.", scope="home", superseded_by="m4", superseded_at=gone),
        Memory("reply", "Yes, the kettle is there.", scope="home", thread="t", reply_to="m4"),
        Memory("own", "No, in the attic.", scope="home", thread="t", reply_to="reply"),
    )
    own_kb.upkeep.catch_up()
    assert own_kb.get("gone").superseded_by == "m4"
    with serving(own_kb, scopes=("home",)) as running:
        for answer in (
            running.get("memories/gone"),
            running.get("memories/reply"),
            running.get("memories?limit=100"),
            running.post("explain", {"query": "where is the kettle", "id": "gone"}),
            running.get("timeline/superseded"),
        ):
            assert answer.status_code == 200 and "m4" not in answer.text, answer.text
        assert running.get("memories/own").json()["reply_to"] == "reply"
        assert running.get("memories/old").json()["superseded_by"] == "new"
    with serving(own_kb) as running:
        assert running.get("memories/gone").json()["superseded_by"] == "m4"
        assert "'m4'" in running.post("explain", {"query": "where is the kettle", "id": "gone"}).json()["sentence"]
    bound = AssistantStore(own_kb, Bounds(scopes=("home",)))
    assert bound.named(bound.memory("gone").superseded_by) is None
    assert bound.named(bound.memory("old").superseded_by) == "new"


def test_who_is_bound_learns_nothing_of_what_waits_in_other_scopes(kb, endpoint):
    """Neither how many were embedded along, nor what an embedder said about one of them."""
    kb.add(Memory("b", "Bob fed the cat.", scope="bob"))
    kb.embed(endpoint.spec)
    kb.build()
    with serving(kb, scopes=("bob",)) as running:
        kb.add(*(Memory(f"a{number}", f"Alice hid note {number}.", scope="alice") for number in range(3)))
        new = running.post("memories", {"id": "b1", "text": "Bob keeps the key."}).json()
        assert (new["embedded"], new["linked"]) == (1, 1)
        kb.add(Memory("a9", f"Alice hid {CANARY}.", scope="alice"))
        endpoint.vector = lambda text: [] if CANARY in text else embed(text)
        failed = running.post("memories", {"id": "b2", "text": "Bob lent the key."})
        assert failed.status_code == 503 and CANARY not in failed.text and "http" not in failed.json()["detail"]
        assert running.get("memories/b2").status_code == 200
        again = running.post("memories", {"id": "b1", "text": "Bob keeps the key."})
        assert again.status_code == 503
        assistant = AssistantStore(kb, Bounds(scopes=("bob",)))
        with pytest.raises(HopgateError, match="it is stored and waits"):
            assistant.remember("Bob sold the key.", title="", tags=(), scope=None, created_at=None, sensitive=False)
