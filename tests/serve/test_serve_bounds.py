"""What a server does not show and not do: sensitive texts, other scopes, changes where it is read-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from serve_store import CANARY, SECRET
from serving import Running, serving

from hopgate.kb import KnowledgeBase
from hopgate.sensitivity import SensitivityRules


def everything(running: Running) -> Iterator[httpx.Response]:
    """One answer, or several, of every endpoint that can show a memory."""
    for query in ("the code of the vault", "vault", "Gitea printer London"):
        for further in ({}, {"legs": ["lexical"]}, {"weights": {"graph": 0}}, {"include_superseded": True}):
            yield running.post("recall", {"query": query, "k": 50, **further})
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
    for path in ("gates", "health", "metrics", "openapi.json"):
        yield running.get(path)


def test_the_canary_of_sensitive_memories_is_in_no_answer(writing: Running) -> None:
    answers = list(everything(writing))
    assert len(answers) > 40
    for answer in answers:
        assert CANARY not in answer.text, answer.request.url
        assert CANARY not in str(answer.headers)
    hits = writing.post("recall", {"query": "vault", "legs": ["lexical"]}).json()["hits"]
    assert {hit["id"] for hit in hits} == set(SECRET)
    assert all(hit["is_sensitive"] and hit["title"] is hit["content"] is hit["passage"] is None for hit in hits)
    # A text that comes in is not said back either.
    new = writing.post("memories", {"text": f"another {CANARY}", "is_sensitive": True})
    assert new.status_code == 201 and CANARY not in new.text


def test_a_rule_holds_before_anybody_has_applied_it(own_kb: KnowledgeBase) -> None:
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
        assert hit["id"] == "raw" and hit["content"] is None and hit["is_sensitive"]


def test_sensitive_texts_are_shown_where_the_server_was_started_so(own_kb: KnowledgeBase) -> None:
    with serving(own_kb, show_sensitive=True) as running:
        assert CANARY in running.get(f"memories/{SECRET[0]}").text
        assert CANARY in running.post("recall", {"query": "vault"}).text
        changed = running.post(f"memories/{SECRET[0]}/sensitive", {"sensitive": False})
        assert changed.json() == {"id": SECRET[0], "is_sensitive": False, "changed": True}


def test_the_mark_is_not_taken_away_where_that_would_show_the_text(writing: Running, own_kb: KnowledgeBase) -> None:
    answer = writing.post(f"memories/{SECRET[0]}/sensitive", {"sensitive": False})
    assert answer.status_code == 403 and "--show-sensitive" in answer.json()["detail"]
    memory = own_kb.get(SECRET[0])
    assert memory is not None and memory.is_sensitive


WRITES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "memories", {"text": "x"}),
    ("DELETE", "memories/m1", None),
    ("POST", "memories/m1/sensitive", {"sensitive": True}),
    ("POST", "gates", {}),
    ("POST", "gates/20240101-000000-abcd/cancel", None),
    ("POST", "gates/20240101-000000-abcd/apply", {}),
)


def test_nothing_is_changed_where_the_server_is_read_only(shared_kb: KnowledgeBase) -> None:
    before = list(shared_kb.export())
    with serving(shared_kb, read_only=True) as running:
        for method, path, body in WRITES:
            answer = running.client.request(method, f"/api/v1/{path}", json=body)
            assert answer.status_code == 403 and "read-only" in answer.json()["detail"], (path, answer.text)
        assert running.post("recall", {"query": "who lives in London"}).status_code == 200
    assert list(shared_kb.export()) == before


def test_a_server_that_is_bound_to_a_scope_shows_and_changes_nothing_of_another(own_kb: KnowledgeBase) -> None:
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
            assert answer.status_code == 404 and answer.json()["detail"] == "there is no memory 'm3'"
        for method, path, body in (
            ("POST", "recall", {"query": "x", "scope": "work"}),
            ("GET", "memories?scope=work", None),
            ("POST", "memories", {"text": "x", "scope": "work"}),
            ("GET", "gates", None),
        ):
            assert running.client.request(method, f"/api/v1/{path}", json=body).status_code == 403, path
        taken = running.post("memories", {"id": "m3", "text": "mine"})
        assert taken.status_code == 409
        own = running.post("memories", {"text": "The kettle is new.", "link": False})
        assert own.json()["memory"]["scope"] == "home"
        assert running.get("health").json()["store"] == {}
    assert {memory.external_id: memory for memory in own_kb.export() if memory.scope != "home"} == before


@pytest.mark.parametrize("key", ["../../etc/passwd", "x", "20240101-000000-abcd", "..%2f..%2frun.json"])
def test_a_gate_is_looked_for_by_its_id_alone(reading: Running, key: str) -> None:
    assert reading.get(f"gates/{key}").status_code == 404
    assert reading.get(f"gates/{key}/report").status_code == 404
