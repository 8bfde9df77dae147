"""Curation proposes and, when told to, supersedes; it hides no note that says anything else, and deletes none."""

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from graph_content import Scripted, version

from hopgate.demo import LAST_DAY, corpus
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.graph.build import curate
from hopgate.graph.build.curate import Action
from hopgate.memory import Memory
from hopgate.times import moment

DAY = datetime(2024, 1, 1, tzinfo=UTC)
TEXTS = {
    "attic": "Immich runs on the old tower.",
    "again": "immich runs on the old tower",
    "cat": "The cat sleeps in the cellar.",
    "moved": "Immich runs on the new server.",
    "secret": "Immich runs on the old tower, and its password is swordfish.",
    "more": "The cat sleeps in the cellar, behind the boiler.",
    "less": "the cat sleeps in the cellar",
    "other": "The cat sleeps in the attic of the cellar. It snores.",
}
SAID = {
    "attic": found([], [Fact("Immich", "runs on", "old tower")]),
    "again": found([], [Fact("Immich", "runs on", "old tower")]),
    "cat": found([], [Fact("cat", "sleeps in", "cellar")]),
    "moved": found([Mention("Immich")], [Fact("Immich", "runs on", "new server")]),
    "more": found([], [Fact("cat", "sleeps in", "cellar")]),
    "less": found([], [Fact("cat", "sleeps in", "cellar")]),
    "other": found([], [Fact("cat", "sleeps in", "cellar")]),
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


def hidden(kb) -> set[tuple[str, str]]:
    return {(one.memory, one.by) for one in kb.graph.superseded()}


def test_each_memory_gets_its_proposals_and_nothing_changes_until_they_are_applied(notes):
    before = version(notes)
    made = [(one.action.value, one.memory, one.older) for one in notes.graph.curate()]
    assert made == [
        ("ADD", "attic", None),
        ("ADD", "again", None),
        ("ADD", "cat", None),
        ("DELETE", "moved", "again"),
        ("DELETE", "moved", "attic"),
        ("UPDATE", "more", "cat"),
        ("NOOP", "less", "more"),
        ("ADD", "other", None),
    ]
    late = notes.graph.curate(since=DAY + timedelta(4))
    assert [(one.memory, one.older) for one in late] == [("more", "cat"), ("less", "more"), ("other", None)]
    assert version(notes) == before
    notes.graph.curate(apply=True)
    assert version(notes) == before + 1 and notes.get("attic") is not None
    assert hidden(notes) == {("again", "moved"), ("attic", "moved"), ("cat", "more"), ("less", "more")}
    assert all(one.action is Action.ADD for one in notes.graph.curate())


@pytest.mark.parametrize("legs", [("lexical",), ("graph",)])
def test_what_gave_way_leaves_recall_but_for_the_time_before(notes, legs):
    notes.graph.curate(apply=True)

    def seen(**when) -> set[str]:
        return ids(notes.recall("What does Immich run on?", legs=legs, k=50, **when)) & {"attic", "moved"}

    then = DAY + timedelta(2)
    assert seen() == seen(as_of=DAY + timedelta(9)) == {"moved"}
    assert "attic" in seen(as_of=then) and seen(known_at=then) == {"attic"}
    assert seen(include_superseded=True) == {"attic", "moved"}
    notes.upkeep.undo(notes.upkeep.log(limit=1)[0].id)
    assert "attic" in seen()


@pytest.mark.parametrize("vault", ["table", "markdown"])
def test_nothing_else_that_a_note_says_is_hidden(kb, vault):
    """Two vaults, of which each note that may give way names those to which it may."""
    rows = [json.loads(line) for line in Path(__file__).with_name("curated.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["vault"] == vault]
    kb.add(
        *(
            Memory(
                row["_id"], row["text"], row.get("title", ""), scope=row.get("scope"),
                created_at=moment(row["created_at"]),
            )
            for row in rows
        )
    )  # fmt: skip
    kb.build()
    kb.graph.curate(apply=True)
    allowed = {(row["_id"], other) for row in rows for other in row.get("may_give_way_to", ())}
    assert hidden(kb) <= allowed and len(hidden(kb)) >= {"table": 6, "markdown": 2}[vault]


def test_of_the_demo_only_notes_give_way_all_of_whose_facts_are_over(kb):
    told = defaultdict(list)
    for fact in corpus().facts:
        for key in fact.evidence:
            told[key].append(fact)
    kb.store_settings.set({"scopes": "shared"})
    kb.add(*corpus().memories)
    kb.build()
    kb.graph.curate(apply=True)
    for key, _ in hidden(kb):
        assert told[key] and not any(fact.holds(LAST_DAY) for fact in told[key]), key


def test_only_notes_of_one_scope_meet(kb):
    kb.add(
        *(Memory(f"theirs{n}", TEXTS["cat"], scope="b", created_at=DAY) for n in range(2)),
        Memory("mine", TEXTS["cat"], scope="a", created_at=DAY),
        Memory("later", TEXTS["cat"], scope="a", created_at=DAY + timedelta(hours=1)),
    )
    kb.build()
    kb.graph.curate(apply=True)
    assert hidden(kb) == {("later", "mine"), ("theirs1", "theirs0")}


@pytest.mark.parametrize("which", ["cat", "more"])
@pytest.mark.parametrize("change", [{"text": "The router is in the cellar."}, {"scope": "c"}])
def test_what_changes_meanwhile_keeps_its_place(notes, change, which):
    with notes.store.transaction() as connection:
        compared: dict[str, str] = {}
        made = list(curate.proposals(connection, compared=compared))
    notes.add(Memory(which, **{"text": TEXTS[which], "created_at": DAY, **change}))
    with notes.store.transaction() as connection:
        assert curate.apply(connection, made, compared) == {"again", "attic"} | ({"less"} if which == "cat" else set())


@pytest.mark.parametrize("how", ["delete", "change", "mark"])
def test_nothing_is_hidden_by_what_is_gone(notes, how):
    notes.graph.curate(apply=True)
    assert notes.get("cat").superseded_by == "more"
    if how == "delete":
        notes.delete(["more"])
    elif how == "change":
        notes.add(Memory("more", "The cat is called Minka.", created_at=DAY + timedelta(5)))
    else:
        notes.mark_sensitive(["more"])
    assert notes.get("cat").superseded_at is None
    assert "cat" in ids(notes.recall("cat cellar", legs=("lexical",)))
