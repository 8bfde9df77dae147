"""Curation proposes and, when told to, supersedes; it never deletes and is never on by default."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from graph_content import Scripted, version

import hopgate
from hopgate.errors import HopgateError
from hopgate.extract.extraction import Fact, Mention, found
from hopgate.extract.model.judge import Action, Neighbour
from hopgate.graph.build.curate import Proposal, propose
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


NAS = ("The NAS is in the attic.", "The NAS is in the attic, behind the chimney.")


@pytest.fixture
def second(kb):
    """Another process, as far as the store knows."""
    with hopgate.open(kb.store.dsn) as opened:
        yield opened


def nas(kb, *texts):
    kb.add(*(Memory(f"m{n}", text, created_at=DAY + timedelta(n)) for n, text in enumerate(texts, start=1)))
    kb.build()


def test_what_is_marked_meanwhile_is_not_shown(kb, second):
    nas(kb, *(f"The NAS number {n} is in the attic." for n in range(4)), "The SECRETWORD NAS is in the attic.", NAS[1])
    shown = []

    def decide(text, near):
        if "number 1" in text:
            second.mark_sensitive(["m5"])
        shown.extend([text, *(one.text for one in near)])

    kb.graph.curate(decide=decide)
    assert shown and not any("SECRETWORD" in text for text in shown)


@pytest.mark.parametrize("change", [{"text": "The router is in the cellar."}, {"scope": "c"}])
@pytest.mark.parametrize("which", ["m1", "m2"])
def test_what_changes_meanwhile_keeps_its_place(kb, second, change, which):
    nas(kb, *NAS, "The cat sleeps.")

    def decide(text, near):
        if "chimney" in text:
            return Action.UPDATE, "m1", "it says more"
        if "cat" in text:
            old = NAS[0] if which == "m1" else NAS[1]
            created = DAY + timedelta(1 if which == "m1" else 2)
            second.add(Memory(which, **{"text": old, "created_at": created, **change}))
        return Action.ADD, None, ""

    assert not [one for one in kb.graph.curate(apply=True, decide=decide) if one.gives_way]
    assert kb.graph.superseded() == []


def test_two_never_give_way_to_each_other(kb, second):
    nas(kb, NAS[0], NAS[0])

    def slow(text, near):
        if not near:
            return Action.ADD, None, ""
        second.graph.curate(apply=True)
        return Action.UPDATE, near[0].external_id, "the model: it is newer"

    kb.graph.curate(apply=True, decide=slow)
    assert ids(kb.recall("NAS attic", legs=("lexical",))) == {"m1"}
    one = Proposal(Action.UPDATE, "m2", "m1", "")
    with pytest.raises(HopgateError, match="look again"):
        kb.graph.supersede([one])


def test_a_row_without_an_external_id_gives_way_too(kb):
    nas(kb, NAS[0])
    with kb.store.transaction() as connection:
        connection.execute(
            "INSERT INTO memories (content, is_sensitive, created_at) VALUES (%s, false, %s)",
            (NAS[0], DAY + timedelta(2)),
        )
    kb.build()
    (one,) = (one for one in kb.graph.curate(apply=True) if one.gives_way)
    assert kb.get(one.gives_way).superseded_by == "m1"


def test_a_reason_goes_with_any_memory_that_the_model_saw(kb):
    nas(kb, NAS[0], "The NAS in the attic has the password SECRETWORD.", NAS[1], "Bought Lamp7.", "Bought Lamp7.")
    told = "the model: unlike the one about SECRETWORD it says more"

    def decide(text, near):
        return (Action.UPDATE, "m1", told) if "chimney" in text else None

    kb.graph.curate(apply=True, decide=decide)

    def reasons():
        with kb.store.transaction() as connection:
            rows = connection.execute(
                "SELECT external_id, superseded_reason FROM memories WHERE superseded_at IS NOT NULL"
            )
            return dict(rows.fetchall())

    assert reasons()["m1"] == told
    kb.mark_sensitive(["m2"])
    assert reasons() == {"m1": None, "m5": "the older memory says all of it"}


@pytest.mark.parametrize("how", ["delete", "change", "mark"])
def test_nothing_is_hidden_by_what_is_gone(kb, how):
    nas(kb, *NAS)
    kb.graph.curate(apply=True)
    assert kb.get("m1").superseded_by == "m2"
    if how == "delete":
        kb.delete(["m2"])
    elif how == "change":
        kb.add(Memory("m2", "The cat is called Minka.", created_at=DAY + timedelta(2)))
    else:
        kb.mark_sensitive(["m2"])
    assert kb.get("m1").superseded_at is None
    assert "m1" in ids(kb.recall("NAS attic", legs=("lexical",)))
