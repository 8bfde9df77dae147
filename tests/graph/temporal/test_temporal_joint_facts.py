"""What two statements tell together, and what none does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hopgate.extract.extraction import Stated
from hopgate.graph.temporal.joint_facts import joint_facts, statements_of
from hopgate.store.graph.stated_rows import StatedRow


def rows(*said: Stated, scope: str | None = "a", first: int = 1) -> list[StatedRow]:
    made = []
    for number, one in enumerate(said, start=first):
        for row in statements_of(number, [one]):
            made.append(StatedRow(row.memory_id, row.place, scope, *row[2:-1], datetime(2024, number, 1, tzinfo=UTC)))
    return made


def told(*said: Stated) -> list[tuple[int, str, str, str]]:
    return [fact[:4] for fact in joint_facts(rows(*said))]


BACKUPS = Stated("backups", "kept at", "Backblaze")


def change(thing: str, value: str, former: str = "", relation: str = "kept at", **more: Any) -> Stated:
    return Stated(thing, relation, value, former, is_change=True, **more)


def test_a_change_of_the_same_thing_tells() -> None:
    assert told(BACKUPS, change("the Backup", "Wasabi")) == [
        (1, "backups", "kept at", "Backblaze"),
        (2, "backups", "kept at", "Wasabi"),
    ]


def test_nothing_is_told_without_a_change_or_before_it_or_elsewhere() -> None:
    assert told(BACKUPS, Stated("backups", "kept at", "Wasabi")) == []
    assert told(change("backups", "Wasabi"), BACKUPS) == []
    assert told(change("backups", "Wasabi")) == []
    assert joint_facts(rows(BACKUPS) + rows(change("backups", "Wasabi"), scope="b", first=2)) == []


def test_values_of_another_sort_and_of_other_things_are_no_change() -> None:
    assert told(BACKUPS, change("backups", "3 TB", relation="amounts to")) == []
    assert told(BACKUPS, change("photo backups", "Wasabi")) == []
    assert told(BACKUPS, change("photos", "Wasabi", "Backblaze")) == []
    assert told(BACKUPS, change("backups", "Wasabi", "Dropbox")) == []


def test_what_is_over_tells_what_changed_where_one_thing_alone_had_it() -> None:
    hello = change("", "Wasabi", "Backblaze", "currently")
    assert [fact[0] for fact in told(BACKUPS, hello)] == [1, 2]
    assert told(BACKUPS, Stated("photos", "kept at", "Backblaze"), hello) == []
    assert told(BACKUPS, change("backups", "Drive"), Stated("photos", "currently", "Wasabi"), hello)[2:] == []


def test_a_thing_goes_on_under_its_first_name() -> None:
    said = (Stated("cartons", "currently", "Dalby"), change("carton supplier", "Norvane", "Dalby", "currently"))
    further = change("carton supplier", "Boxley", relation="currently")
    assert {fact[1] for fact in told(*said, further)} == {"cartons"}
    assert [fact[3] for fact in told(*said, further)] == ["Dalby", "Norvane", "Boxley"]


def test_what_comes_back_is_told_again() -> None:
    facts = told(BACKUPS, change("backups", "Wasabi"), BACKUPS, Stated("backups", "kept at", "the attic"))
    assert [fact[0] for fact in facts] == [1, 2, 3]


def test_a_fact_of_a_pattern_lends_its_relation() -> None:
    dentist = Stated("I", "has dentist", "Dr Amari", about="dentist")
    assert told(dentist, change("dentist", "Dr Osei", "Dr Amari", "currently")) == [(2, "I", "has dentist", "Dr Osei")]
    both = change("I", "Dr Osei", "", "has dentist", about="dentist", valid_from="2024-02-01")
    assert told(dentist, both) == []
    assert told(Stated("dentist", "currently", "Dr Amari"), both) == [(1, "I", "has dentist", "Dr Amari")]


statement = st.builds(
    Stated,
    st.sampled_from(["", "backups", "photos", "photo backups"]),
    st.sampled_from(["kept at", "currently"]),
    st.sampled_from(["Backblaze", "Wasabi", "Drive"]),
    st.sampled_from(["", "Backblaze", "Wasabi"]),
    st.booleans(),
)


@given(st.lists(statement, max_size=7), st.randoms())
def test_the_order_of_reading_does_not_matter(said: list[Stated], random: Any) -> None:
    known = rows(*said)
    shuffled = random.sample(known, len(known))
    assert set(joint_facts(shuffled)) == set(joint_facts(known))
    changes = {row.memory_id for row in known if row.is_change}
    assert changes or not joint_facts(known)


def test_of_many_that_had_a_value_the_one_that_a_change_shares_a_word_with() -> None:
    # Gone through one by one for every change, a hub's things would be looked at nine million times.
    many = [Stated(f"service{number}", "kept at", "otter") for number in range(3000)]
    later = [change(f"the service{number} app", "badger", "otter") for number in range(3000)]
    made = [
        StatedRow(row.memory_id, row.place, "a", *row[2:-1], datetime(2024, 1, 1, tzinfo=UTC))
        for number, one in enumerate((*many, *later))
        for row in statements_of(number, [one])
    ]
    assert len(joint_facts(made)) == 6000


def test_somebodys_wife_is_not_somebody() -> None:
    bram = Stated("Bram", "works at", "Philips")
    assert told(bram, change("Bram's wife", "Shell", "Philips")) == []
    assert told(bram, change("Bram Vos", "Shell", "Philips")) != []
