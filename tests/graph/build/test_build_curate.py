"""Curation proposes and, when told to, supersedes; it never deletes and is never on by default."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from graph_content import Scripted, version

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.graph.build.curate import Action, Neighbour, propose
from hopgate.memory import Cleared, Memory

DAY = datetime(2024, 1, 1, tzinfo=UTC)
TEXTS = {
    "attic": "Immich runs on the old tower.",
    "again": "immich runs on the old tower",
    "cat": "The cat sleeps in the cellar.",
    "moved": "Immich runs on the new server since March.",
    "secret": "Immich runs on the old tower, and its password is swordfish.",
    "more": "The cat sleeps in the cellar behind the boiler.",
}
SAID = {
    "attic": found([], [Fact("Immich", "runs on", "old tower")]),
    "again": found([], [Fact("Immich", "runs on", "old tower")]),
    "cat": found([Mention("cat"), Mention("cellar")], []),
    "moved": found([], [Fact("Immich", "runs on", "new server")]),
    "more": found([Mention("cat"), Mention("cellar")], []),
}


@pytest.fixture
def notes(kb):
    kb.add(
        *(
            Memory(key, text, created_at=DAY + timedelta(n), is_sensitive=key == "secret")
            for n, (key, text) in enumerate(TEXTS.items())
        )
    )
    kb.build(Scripted(SAID), single_valued=["runs on"])
    return kb


def ids(hits) -> set[str]:
    return {hit.external_id for hit in hits}


def test_each_memory_gets_its_proposal_and_nothing_changes(notes):
    before = version(notes)
    made = {one.memory: (one.action.value, one.older) for one in notes.graph.curate()}
    assert made == {
        "attic": ("ADD", None),
        "again": ("NOOP", "attic"),
        "cat": ("ADD", None),
        "moved": ("DELETE", "attic"),
        "more": ("UPDATE", "cat"),
    }
    assert version(notes) == before
    assert ids(notes.recall("immich tower", legs=("lexical",))) >= {"attic", "again"}


def test_applied_the_superseded_keep_a_tombstone_and_leave_recall(notes):
    before = version(notes)
    notes.graph.curate(apply=True)
    assert version(notes) == before + 1
    assert notes.get("attic") is not None
    for legs in (("lexical",), ("graph",)):
        assert not ids(notes.recall("Immich", legs=legs, k=50)) & {"attic", "again"}
    assert "attic" in ids(notes.recall("Immich", legs=("lexical",), k=50, include_superseded=True))
    then = DAY + timedelta(2)
    assert "attic" in ids(notes.recall("Immich", legs=("lexical",), k=50, known_at=then))
    with notes.store.transaction() as connection:
        rows = connection.execute(
            "SELECT m.external_id, b.external_id FROM memories m JOIN memories b ON b.id = m.superseded_by"
        ).fetchall()
    assert set(rows) == {("again", "attic"), ("attic", "moved"), ("cat", "more")}
    assert notes.graph.curate() and all(one.action is Action.ADD for one in notes.graph.curate())
    assert notes.graph.restore(["attic"]) == 1 and notes.graph.restore(["attic"]) == 0
    assert "attic" in ids(notes.recall("Immich", legs=("lexical",), k=50))
    with pytest.raises(HopgateError, match="no memory"):
        notes.graph.restore(["nobody"])


def test_only_what_is_new_is_judged(notes):
    assert {one.memory for one in notes.graph.curate(since=DAY + timedelta(3))} == {"moved", "more"}


def test_a_model_may_decide_and_never_sees_what_is_sensitive(notes):
    seen: list[str] = []

    def decide(text, neighbours):
        seen.extend([text, *(one.text for one in neighbours)])
        return (Action.ADD, None, "the model says so") if "Immich" in text else None

    made = {one.memory: one for one in notes.graph.curate(decide=decide)}
    assert made["moved"].reason == "the model says so" and made["more"].action is Action.UPDATE
    assert seen and not any("swordfish" in text for text in seen)


def test_words_in_another_order_say_something_else():
    old = Neighbour("a", Cleared("Ada pays Bea"))
    assert propose("b", Cleared("Bea pays Ada"), [old]).action is Action.ADD
    assert propose("b", Cleared("The NAS has 8 disks"), [Neighbour("a", Cleared("The NAS has 4 disks"))]).older is None


def test_what_others_say_does_not_hide_what_a_scope_said_before(kb):
    kb.add(
        *(Memory(f"theirs{n}", TEXTS["cat"], scope="b", created_at=DAY) for n in range(20)),
        *(Memory(f"newer{n}", TEXTS["cat"], scope="a", created_at=DAY + timedelta(2)) for n in range(20)),
        Memory("mine", TEXTS["cat"], scope="a", created_at=DAY),
        Memory("later", TEXTS["cat"], scope="a", created_at=DAY + timedelta(1)),
    )
    kb.embed()
    (one,) = (one for one in kb.graph.curate() if one.memory == "later")
    assert (one.action, one.older) == (Action.NOOP, "mine")


def test_more_memories_than_are_compared_together(kb):
    kb.add(*(Memory(f"m{n}", f"Bought Lamp{n // 2} today.", created_at=DAY + timedelta(n)) for n in range(200)))
    kb.build()
    gone = [(one.memory, one.older) for one in kb.graph.curate() if one.gives_way]
    assert gone == [(f"m{n + 1}", f"m{n}") for n in range(0, 200, 2)]
