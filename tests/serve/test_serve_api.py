"""The endpoints: what the Python API gives, by the same names."""

import re
from urllib.parse import quote

import pytest


def test_recall_gives_the_hits_of_the_python_api_with_their_legs_and_paths(reading, shared_kb):
    query = "who works with somebody from Cambridge"
    answer = reading.post("recall", {"query": query, "k": 5}).json()
    hits = shared_kb.recall(query, k=5, explain=True)
    assert [hit["memory"]["id"] for hit in answer["hits"]] == [hit.external_id for hit in hits]
    for given, hit in zip(answer["hits"], hits, strict=True):
        assert given["score"] == hit.score and given["memory"]["content"] == hit.memory.content
        assert {name: leg["rank"] for name, leg in given["legs"].items()} == {
            name: part.rank for name, part in hit.legs.items()
        }
        assert [part["text"] for part in given["path"]] == list(hit.path)
    path = next(hit["path"] for hit in answer["hits"] if hit["path"])
    assert path[-1]["kind"] == "memory" and path[-1]["id"] in {hit["memory"]["id"] for hit in answer["hits"]}
    assert answer["origin"] == "this call: k" and "k=5" in answer["settings"] and answer["took_ms"] > 0


def test_recall_takes_filters_weights_and_legs(reading):
    def ids(**asked: object) -> list[str]:
        answer = reading.post("recall", {"query": "printer London Gitea", "explain": False, **asked})
        assert answer.status_code == 200, answer.text
        return [hit["memory"]["id"] for hit in answer.json()["hits"]]

    assert set(ids(scope="work")) <= {"m3", "m4", "m5", "notes/secret 2"}
    assert "m1" in ids(scope=["home", "work"]) and "m1" not in ids(exclude=["m1"])
    assert "old" not in ids() and "old" in ids(include_superseded=True)
    assert "m5" not in ids(known_at="2024-05-05") and "old" in ids(known_at="2024-05-05")
    assert ids(dense=0, graph=0) == ids(legs=["lexical"])
    assert ids(min_score=1000.0) == [] and len(ids(k=2)) == 2
    newest = ids(sort_by="recency")
    assert newest[0] == "new"


def test_many_are_recalled_and_remembered_at_once(writing, own_kb):
    queries = ["who lives in London", "where is the printer", "who lives in London"]
    answers = writing.post("recall:batch", {"queries": queries, "k": 3, "scope": "home"}).json()["answers"]
    alone = [own_kb.recall(query, k=3, scope="home") for query in queries]
    assert [[(hit["memory"]["id"], hit["score"]) for hit in hits] for hits in answers] == [
        [(hit.external_id, hit.score) for hit in hits] for hits in alone
    ]
    assert own_kb.recall_many([]) == []
    new = [{"text": "Cyd Moore sails the harbour."}, {"id": "m1", "text": "Ada Lovelace lives in Paris."}]
    written = writing.post("memories:batch", {"memories": new}).json()
    assert [written[name] for name in ("added", "updated", "embedded", "linked")] == [1, 1, 2, 2]
    assert [memory["content"] for memory in written["memories"]] == [memory["text"] for memory in new]
    # All or none.
    twice = writing.post("memories:batch", {"memories": [{"id": "n1", "text": "x"}, {"id": "n1", "text": "y"}]})
    assert twice.status_code == 422 and own_kb.get("n1") is None
    assert writing.post("recall:batch", {"queries": []}).status_code == 422


def test_settings_are_given_and_changed_from_the_next_request_on(writing):
    def rows() -> dict[str, dict[str, object]]:
        return {row["name"]: row for row in writing.get("settings").json()["settings"]}

    assert rows()["k"]["source"] == "default" and rows()["graph"]["limits"] == "between 0 and 5"
    answer = writing.patch("settings", {"k": 2, "graph": 0, "walk": {"damping": 0.5}})
    assert answer.status_code == 200, answer.text
    assert (rows()["k"]["value"], rows()["graph"]["value"], rows()["k"]["source"]) == (2, 0, "hopgate settings")
    recalled = writing.post("recall", {"query": "printer London"}).json()
    assert len(recalled["hits"]) == 2 and not any("graph" in hit["legs"] for hit in recalled["hits"])
    assert writing.patch("settings", {"k": None}).status_code == 200 and rows()["k"]["source"] == "default"
    for wrong in ({"graph": 5.1}, {"graph": -1}, {"colour": 1}, {"fuser": "XYZ()"}, {"sort_by": "size"}):
        assert writing.patch("settings", wrong).status_code == 422, wrong


def test_explain_says_why_a_memory_is_not_here(reading):
    gone = reading.post("explain", {"query": "where is the printer", "id": "old"}).json()
    assert not gone["present"] and gone["removed_by"][0].startswith("superseded: it is superseded by 'new' since 2024")
    here = reading.post("explain", {"query": "who lives in London", "id": "m1"}).json()
    assert here["present"] and here["rank"] == 1 and here["legs"]["lexical"]["rank"] == 1
    assert reading.post("explain", {"query": "x", "id": "nobody"}).status_code == 404


def test_memories_are_listed_page_by_page(reading, shared_kb):
    found = [memory["id"] for memory in reading.get("memories?limit=4").json()]
    while page := reading.get("memories", params={"limit": 4, "after": found[-1]}).json():
        found += [memory["id"] for memory in page]
    assert found == [memory.external_id for memory in shared_kb.export()]
    home = reading.get("memories", params={"scope": ["home"], "limit": 100}).json()
    assert {memory["scope"] for memory in home} == {"home"}
    assert reading.get("memories?after=nobody").status_code == 404


def test_a_memory_is_added_found_changed_marked_and_deleted(writing, own_kb):
    new = writing.post("memories", {"text": "Cyd Moore sails the harbour.", "scope": "home", "tags": ["boat"]})
    assert new.status_code == 201 and new.json()["new"] and new.json()["embedded"] == 1 and new.json()["linked"] == 1
    key = new.json()["memory"]["id"]
    hits = writing.post("recall", {"query": "who sails the harbour"}).json()["hits"]
    assert hits[0]["memory"]["id"] == key and hits[0]["legs"]["dense"]
    again = writing.post("memories", {"id": key, "text": "Cyd Moore left the harbour.", "link": False})
    assert again.status_code == 200 and not again.json()["new"]
    marked = writing.post(f"memories/{quote(key)}/sensitive", {"sensitive": True}).json()
    assert (marked["id"], marked["is_sensitive"], marked["content"]) == (key, True, None)
    assert writing.get(f"memories/{quote(key)}").json()["content"] is None
    memory = own_kb.get(key)
    assert memory is not None and memory.is_sensitive
    assert writing.client.delete(f"/api/v1/memories/{quote(key)}").json() == {"deleted": 1}
    assert own_kb.get(key) is None


def test_concepts_are_listed_searched_and_looked_at(reading):
    listed = reading.get("concepts", params={"limit": 100}).json()
    assert "London" in {concept["name"] for concept in listed}
    assert reading.get("concepts?limit=2&offset=1").json() == listed[1:3]
    (london,) = reading.get("concepts?search=LONDO&scope=home").json()
    detail = reading.get(f"concepts/{london['id']}").json()
    assert {memory["id"] for memory in detail["memories"]} == {"m1"}
    assert ("Ada Lovelace", "lives in") in {(edge["source"], edge["relation"]) for edge in detail["edges"]}
    assert reading.get("concepts/999999999").status_code == 404
    assert reading.get(f"concepts/{2**70}").status_code == 422
    assert reading.get("concepts?kind=nothing-of-the-kind").json() == []


def test_edges_are_listed_by_concept_relation_and_time(reading):
    (london,) = reading.get("concepts?search=london&scope=home").json()
    by_name = reading.get("edges?concept=London&scope=home").json()
    assert by_name and by_name == reading.get(f"edges?concept={london['id']}").json()
    assert {edge["relation"] for edge in reading.get("edges?relation=lives in").json()} == {"lives in"}
    runs = reading.get("edges", params={"relation": "runs on", "as_of": "2024-05-05"}).json()
    assert [edge["target"] for edge in runs] == ["birch"]
    assert reading.get("edges?concept=nobody").status_code == 422


def test_clusters_are_listed_looked_at_and_recalled_within(reading, shared_kb):
    listed = reading.get("clusters").json()
    expected = shared_kb.graph.clusters()
    assert [cluster["id"] for cluster in listed["clusters"]] == [cluster.id for cluster in expected]
    largest = listed["clusters"][0]
    assert largest["size"] == len(expected.clusters[0]) and largest["members"] and largest["label"]
    one = reading.get(f"clusters/{largest['id']}").json()
    assert one["label"] == largest["label"] and len(one["members"]) == largest["size"]
    ada = shared_kb.graph.clusters().of("Ada Lovelace").id
    hits = reading.post("recall", {"query": "London Gitea printer", "cluster": ada}).json()["hits"]
    assert hits and "m4" not in {hit["memory"]["id"] for hit in hits}
    assert reading.get("clusters/999999").status_code == 404
    assert reading.post("recall", {"query": "x", "cluster": 999999}).status_code == 422


def test_the_document_says_how_one_is_let_in_and_what_an_error_is(reading):
    document = reading.get("openapi.json").json()
    assert set(document["components"]["securitySchemes"]) == {"bearer", "cookie"}
    assert "Problem" in document["components"]["schemas"]
    for path, methods in document["paths"].items():
        assert path.startswith("/api/v1/")
        for endpoint in methods.values():
            assert endpoint["responses"]["422"]["content"].keys() == {"application/problem+json"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "recall", 405),
        ("GET", "recall", 405),
        *(("GET", path, 404) for path in ("x", "gates", "mend/log", "timeline/concepts/99999")),
        *(("GET", f"graph/view?{part}=1000000000", 404) for part in ("concept", "cluster")),
    ],
)
def test_what_there_is_not_is_a_problem(reading, method, path, status):
    answer = reading.client.request(method, f"/api/v1/{path}")
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert status != 405 or answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["memories?limt=5", "concepts?scopes=home", "health?x=1", "clusters/1?level=2", "settings?k=1"]
)
def test_a_parameter_that_there_is_not_is_refused(reading, path):
    answer = reading.get(path)
    assert answer.status_code == 422 and "there is no parameter" in answer.json()["detail"], path


def test_the_reference_loads_nothing_from_elsewhere(reading):
    page = reading.client.get("/api/docs")
    assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert address.startswith("/") and reading.client.get(address).status_code == 200, address
    assert reading.client.get("/api/docs/..%2fapi.html").status_code == 404
