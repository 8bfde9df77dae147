"""Changes that two memories tell: written for both, gone with either, and read once more where one of them is gone."""

from datetime import UTC, datetime

import pytest

import hopgate
from hopgate.extract.changes import model
from hopgate.extract.changes.model import Compared, Span
from hopgate.extract.rules.phrases import Phrases
from hopgate.graph.build.changes import change_of, read_changes
from hopgate.memory import Memory
from hopgate.store.graph.fact_rows import NamedFact
from hopgate.times import moment

NOTES = {
    "was": ("2024-01-05", "Piano for Edie is with Mrs Lathom."),
    "idle": ("2024-02-01", "Bought two lemons and a bag of flour."),
    "now": ("2024-03-05", "From this week on Edie has piano with Mr Dube instead."),
}
PIANO = {("Piano", "is", "Mrs Lathom", "2024-03-05"), ("Piano", "is", "Mr Dube", None)}


def note(name: str, *, scope: str | None = None) -> Memory:
    day, text = NOTES[name]
    key = f"{scope} {name}" if scope else name
    return Memory(key, text, created_at=datetime.fromisoformat(day).replace(tzinfo=UTC), scope=scope)


def piano(kb: hopgate.KnowledgeBase, scope: str | None = None) -> set[tuple[str, str, str, str | None]]:
    return {
        (edge.source, edge.relation, edge.target, edge.valid_to and f"{edge.valid_to:%Y-%m-%d}")
        for edge in kb.graph.edges(scope=scope)
        if edge.relation == "is"
    }


def test_a_change_is_read_whether_notes_come_together_or_one_by_one(kb):
    one_by_one = [[one] for one in NOTES]
    for scope, parts in (("together", [list(NOTES)]), ("apart", one_by_one), ("late", one_by_one[::-1])):
        for part in parts:
            kb.add(*(note(name, scope=scope) for name in part))
            kb.build()
        assert piano(kb, scope) == PIANO
        edges = kb.graph.edges(scope=scope)
        [over] = [edge for edge in edges if edge.target == "Mrs Lathom" and edge.relation == "is"]
        assert over.evidence == (f"{scope} was",)


@pytest.mark.parametrize("gone", ["was", "now"])
def test_it_goes_with_either_memory_and_is_read_again(kb, gone):
    kb.add(*map(note, NOTES))
    kb.build()
    kb.delete([gone])
    assert piano(kb) == set()
    with kb.store.transaction() as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM concept_names")}
        facts = connection.execute("SELECT count(*) FROM facts WHERE read_with IS NOT NULL").fetchone()
    assert "Piano" not in names and facts == (0,)
    kb.add(note(gone))
    kb.build()
    assert piano(kb) == PIANO


def test_what_is_marked_sensitive_takes_the_change_along(kb):
    kb.add(*map(note, NOTES))
    kb.build()
    kb.mark_sensitive(["was"])
    assert piano(kb) == set()


def test_scopes_are_read_apart_and_rules_alone_compare_nothing(kb):
    kb.add(note("was", scope="home"), note("now", scope="work"))
    kb.build()
    assert piano(kb, "home") == piano(kb, "work") == set()
    kb.add(note("now", scope="home"))
    kb.build("rules", rebuild=True)
    assert piano(kb, "home") == set()


def test_rules_end_nothing_that_the_model_refutes(kb):
    day = datetime(2024, 1, 5, tzinfo=UTC)
    kb.add(Memory("tent", "The tent is in the attic.", created_at=day))
    kb.add(Memory("pegs", "Moved the tent pegs to the car boot.", created_at=day.replace(month=3)))
    kb.build()
    attic = [edge for edge in kb.graph.edges() if edge.target == "attic"]
    assert [edge.valid_to for edge in attic] == [None]
    kb.add(Memory("tent moved", "The tent is in the garage now.", created_at=day.replace(month=5)))
    kb.build()
    assert {edge.target: edge.valid_to is None for edge in kb.graph.edges() if edge.source == "tent"} == {
        "attic": False,
        "garage": True,
    }


def test_a_refuted_fact_counts_again_without_the_memory_beside_it(kb, monkeypatch):
    monkeypatch.setattr(model, "may_tell_change", lambda _: False)
    monkeypatch.setattr(model, "compared_all", lambda pairs: [Compared(0.0, [], []) for _ in pairs])
    day = datetime(2024, 1, 5, tzinfo=UTC)
    kb.add(Memory("first", "immich runs on cedar.", created_at=day))
    kb.add(Memory("second", "immich runs on alder.", created_at=day.replace(month=3)))
    kb.build("rules")
    read_changes(kb.store, Phrases().identity)
    assert {edge.target for edge in kb.graph.edges(relation="runs on")} == {"cedar"}
    kb.delete(["first"])
    assert {edge.target for edge in kb.graph.edges(relation="runs on")} == {"alder"}


LOG = """My younger sister, plays the cello.

## Log
- 2022-08-14: moved from Pune to Dublin
- 2023-02-03: birthday dinner at Chez Max
- choir: Aros
- from 2024-10 choir is in the Corran Halls, Aros is shut

| Since | Works at |
|---|---|
| 2019-04 | Lumen Design |
| 2024-09 | Northwind Studio |
"""


def test_lines_of_a_note_tell_changes_of_what_its_title_names(kb):
    kb.add(Memory("tilda", LOG, title="Tilda Brenner", created_at=datetime(2024, 11, 20, tzinfo=UTC)))
    kb.add(Memory("list", "- passport\n- sun cream\n- head torch", title="Packing"))
    kb.build()
    ended = {(edge.source, edge.target, f"{edge.valid_to:%Y-%m-%d}") for edge in kb.graph.edges() if edge.valid_to}
    assert ended == {
        *(("Tilda Brenner", "Pune", "2022-08-14"), ("Tilda Brenner", "Lumen Design", "2024-09-01")),
        ("choir", "Aros", "2024-10-01"),
    }
    # A line of a log ends nothing that is told of a later day.
    kb.add(Memory("later", "Tilda Brenner is in Pune.", created_at=datetime(2024, 3, 1, tzinfo=UTC)))
    kb.build()
    assert all(edge.valid_to is None for edge in kb.graph.edges() if "later" in edge.evidence)
    kb.delete(["tilda", "later"])
    assert not kb.graph.edges()


def test_names_of_facts_stand_for_the_words_that_the_model_marks():
    day = datetime(2024, 3, 5, tzinfo=UTC)
    moved = Compared(
        0.99,
        [Span("thing", "Paperless", 0, 0.9), Span("former", "old Optiplex", 22, 0.9)],
        [Span("value", "Beelink", 20, 0.9)],
    )
    runs = NamedFact("Paperless", "runs on", "Optiplex")
    assert change_of(moved, [runs], [], "", day) == ("Paperless", "runs on", "Optiplex", "Beelink", day)
    # What the later note's own fact says, and since when, is not said twice.
    newer = NamedFact("Paperless", "runs on", "Beelink Mini", valid_from=day.replace(day=2))
    assert change_of(moved, [runs], [newer], "", day)[3:] == ("", day.replace(day=2))
    assert change_of(moved, [], [newer], "", day)[:4] == ("Paperless", "runs on", "old Optiplex", "")
    # What is over need have nothing instead, and a thing is no value of itself.
    over = Compared(0.99, [Span("former", "Ann", 10, 0.9)], [])
    assert change_of(over, [], [], "choir", day) == ("choir", "is", "Ann", "", day)
    assert change_of(over, [], [], "Ann", day) is None


def test_what_is_mine_ends_nothing_of_somebody_elses(kb):
    kb.add(
        Memory("tom", "Tom's car is a red Golf.", created_at=moment("2023-01-01")),
        Memory("me", "My car is now a blue Zoe.", created_at=moment("2024-01-01")),
    )
    kb.embed()
    kb.build()
    assert not [edge for edge in kb.graph.edges() if edge.valid_to]
