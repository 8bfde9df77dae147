"""The graph leg and late interaction over the graph's arcs: in words, against brute force, and with the real models."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from graph_content import of_triples
from hypothesis import given
from hypothesis import strategies as st
from reliability.watch import watched

import hopgate
from hopgate import Memory
from hopgate.cli.recall import why
from hopgate.graph.walk.config import PARTS
from hopgate.kb import KnowledgeBase
from hopgate.recall.evidence import DISCOUNT, Arcs, Evidence, arcs_between
from hopgate.recall.filters import Filters, Query
from hopgate.recall.graph_leg import turns_beside
from hopgate.recall.legs import tokens_of

NOON = datetime(2025, 5, 1, 12, tzinfo=UTC)

# The graph leg.

TRIPLES = (
    {"doc_id": "owner", "subject": "Quillon", "relation": "looks after", "object": "Immich"},
    {"doc_id": "host", "subject": "Immich", "relation": "runs on", "object": "whimbrel"},
    {"doc_id": "rack", "subject": "whimbrel", "relation": "stands in", "object": "attic"},
)


def test_it_reaches_what_shares_no_word_with_the_query_and_tells_the_path(kb):
    kb.add(
        Memory("owner", "Quillon looks after Immich."),
        Memory("host", "Immich was put on whimbrel."),
        Memory("rack", "whimbrel stands in the attic."),
    )
    kb.build(of_triples(TRIPLES))
    assert "rack" not in {hit.external_id for hit in kb.recall("Quillon", legs=("lexical",))}
    paths = {hit.external_id: hit.path for hit in kb.recall("Quillon", legs=("graph",), explain=True)}
    assert paths["rack"][0] == "Quillon" and paths["rack"][-1] == "rack"
    assert any("looks after [owner]" in step for step in paths["rack"])
    assert any("runs on" in step for step in paths["rack"])
    assert kb.recall("zzz", legs=("graph",)) == []
    kb.delete(["owner", "host", "rack"])
    assert kb.recall("Quillon", legs=("graph",)) == []


def test_an_answer_is_found_beside_its_question_in_its_scope_and_not_through_a_sensitive_turn(kb):
    turns = ("Where did you put the ladder?", "Behind the shed.", "Thanks, found it.", "Bye!")
    for scope in ("ann", "bea"):
        for n, text in enumerate(turns):
            kb.add(Memory(f"{scope}{n}", text, scope=scope, thread="evening", created_at=NOON + timedelta(minutes=n)))
    kb.build("phrases")
    hits = kb.recall("ladder", legs=("lexical", "graph"), scope="ann", explain=True)
    assert [hit.external_id for hit in hits] == ["ann0", "ann1", "ann2", "ann3"]
    assert hits[1].path[-3:] == ("ann0", "said just before", "ann1")
    kb.mark_sensitive(["ann1"])
    assert [hit.external_id for hit in kb.recall("ladder", scope="ann")] == ["ann0"]


# Late interaction.

CHAT = ("Shall we celebrate your birthday?", "Saturday at the lake.", "I bring the cake.", "The boiler hums again.")


@pytest.fixture(scope="module")
def late(module_kb: KnowledgeBase) -> KnowledgeBase:
    """A chat and notes with a title, with the bundled models and a graph."""
    module_kb.store_settings.set({"late": "bundled"})
    times = [NOON + timedelta(minutes=n) for n in range(len(CHAT))]
    module_kb.add(
        *(Memory(f"t{n}", text, thread="a", created_at=times[n]) for n, text in enumerate(CHAT)),
        Memory("title", "Immich Server\nIt keeps the photos of everybody.", title="Immich Server"),
        Memory("names", "Quillon rebooted the Immich Server on Monday."),
        Memory("also", "Quillon plays chess."),
        Memory("pin", "The PIN of the lake house is 4711.", is_sensitive=True),
    )
    module_kb.embed()
    module_kb.build()
    return module_kb


@given(st.data())
def test_evidence_is_the_best_of_a_memorys_own_and_what_arcs_bring(data):
    tokens, memories = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    cells = tokens * memories
    drawn = data.draw(st.lists(st.floats(-1, 1, width=16), min_size=cells, max_size=cells))
    own = np.array(drawn, np.float32).reshape(tokens, memories)
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, memories - 1)] * 2, st.floats(0, 1, width=16)), max_size=8))
    rows = sorted(pairs)
    columns = [np.array([row[at] for row in rows], kind) for at, kind in ((0, int), (1, int), (2, np.float32))]
    evidence = Evidence(own, Arcs(*columns, np.array(["names"] * len(rows))))
    special = own - own.mean(axis=1, keepdims=True)
    for memory in range(memories):
        best = [
            max(0, special[token, memory], *(DISCOUNT * w * special[token, to] for at, to, w in rows if at == memory))
            for token in range(tokens)
        ]
        assert evidence.scores[memory] == pytest.approx(np.mean(best) + own.mean(), abs=1e-4)
        told = [match.score for match in evidence.matches(memory)]
        assert [max(0, score) for score in told] == pytest.approx(best, abs=1e-4)


def test_arcs_are_those_of_turns_titles_and_names(late):
    ids = {name: key for key, name in late.id_map().items()}
    matrix = late.graph_leg.look_up(Query("x", Filters())).matrix
    names = ["t0", "t1", "t2", "title", "names", "also", "pin"]
    arcs = arcs_between(matrix, [ids[name] for name in names])
    found = {(names[at], names[to], part): weight for at, to, weight, part in zip(*arcs, strict=True)}
    assert found["t0", "t1", "threads"] == pytest.approx(1, abs=0.01)
    assert found["t0", "t2", "threads"] == pytest.approx(0.9, abs=0.01)
    assert found["title", "names", "titles"] == found["names", "title", "titles"] == 1
    assert 0.5 < found["names", "also", "names"] < 1
    assert not any("pin" in pair for pair in found)
    assert set(turns_beside(matrix, [ids["t0"]])) == {ids["t1"], ids["t2"]}


def test_what_a_turn_does_not_say_the_turn_before_says(late):
    hits = {hit.external_id: hit for hit in late.recall("where is the birthday party?", explain=True)}
    alone = {hit.external_id: hit for hit in late.recall("where is the birthday party?", explain=True, parts=())}
    assert hits["t1"].rank < alone["t1"].rank or hits["t1"].rank <= 2
    (match,) = [match for match in hits["t1"].matches if match.word == "birthday"]
    assert (match.by, match.part) == ("t0", "threads")
    assert "birthday ← t0 (threads)" in why(hits["t1"])
    assert match.to_dict() in hits["t1"].to_dict()["matches"]
    assert all(match.by == "t1" for match in alone["t1"].matches)
    assert all("graph" not in hit.legs and hit.path == () for hit in alone.values())


def test_parts_are_switched_one_by_one(late):
    for parts in ((), ("threads",), ("titles", "names"), PARTS):
        hits = late.recall("who rebooted the photo server?", explain=True, parts=parts)
        over = {match.part for hit in hits for match in hit.matches if match.part}
        assert over <= set(parts)
    with pytest.raises(hopgate.HopgateError, match="parts is one of threads"):
        late.recall("x", parts=("hops",))


def test_sensitive_memories_have_no_tokens_and_are_found_by_words(late):
    (hit,) = [hit for hit in late.recall("PIN of the lake house", explain=True) if hit.external_id == "pin"]
    assert hit.rank <= 3 and hit.matches == () and "late" in hit.unseen
    (asked,) = [key for key, name in late.id_map().items() if name == "pin"]
    with late.store.transaction() as connection:
        assert tokens_of(connection, [asked]) == {}


@pytest.mark.parametrize("weight", [0, 1])
def test_weight_0_reads_no_tokens(late, weight):
    statements = []
    with watched(lambda _, statement: statements.append(statement)):
        late.recall("birthday", late=weight)
    assert any("memory_tokens" in statement for statement in statements) == bool(weight)
