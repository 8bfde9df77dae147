"""A query that says when it means: read, used where something had changed, explained, and never from another scope."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_cases import CASES

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.recall.query_time import AskedTime, as_of, asked_time


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(("query", "said", "moment"), CASES["times"])
def test_a_time_is_read(query: str, said: str, moment: str) -> None:
    asked = asked_time(query)
    assert asked and (asked.words, asked.moment) == (said, day(moment) if moment else None)


@pytest.mark.parametrize("query", CASES["no_times"])
def test_no_time_is_read_where_none_is_meant(query: str) -> None:
    assert asked_time(query) is None


times = st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


@given(times, st.lists(st.tuples(st.none() | times, st.none() | times), max_size=6))
def test_it_counts_only_where_it_changes_something_and_leaves_something(
    moment: datetime, held: list[tuple[datetime | None, datetime | None]]
) -> None:
    found = as_of(AskedTime("then", moment, moment), held)
    holding = [(begin or moment) <= moment and (end is None or end > moment) for begin, end in held]
    assert (found == moment) == (any(holding) and not all(holding))
    assert found in (moment, None)


@pytest.fixture
def moved(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        Memory("old", "Gitea runs on alder since March 2022.", scope="ada", created_at=day("2022-03-02")),
        Memory("new", "Gitea moved from alder to birch on 3 May 2024.", scope="ada", created_at=day("2024-05-03")),
        Memory("cellar", "The Synology NAS stands in the cellar.", scope="ada", created_at=day("2022-03-05")),
        Memory("bob", "Forgejo and Gitea were compared by Bob.", scope="bob", created_at=day("2022-03-05")),
    )
    kb.build()
    return kb


def asked(kb: KnowledgeBase, query: str, scope: str = "ada") -> str:
    hits = kb.recall(query, explain=True, legs=("lexical", "graph"), scope=scope)
    assert hits
    return hits[0].as_of


def test_the_walk_is_as_of_that_time_and_says_so(moved: KnowledgeBase) -> None:
    assert asked(moved, "where did gitea run in May 2023?") == "2023-05-16, because the query says “in May 2023”"
    assert asked(moved, "where did gitea run before the move?").startswith("2024-05-02")
    # What it finds is what an as-of given by hand finds.
    query, legs = "where did gitea run in May 2023?", ("graph",)
    by_hand = moved.recall(query, legs=legs, as_of=day("2023-05-16"), scope="ada")
    assert moved.recall(query, legs=legs, scope="ada") == by_hand


def test_it_is_not_where_nothing_changed_or_it_is_off_or_another_scopes(moved: KnowledgeBase) -> None:
    assert asked(moved, "where did the Synology NAS stand in May 2023?") == ""
    assert asked(moved, "where does gitea run?") == ""
    assert asked(moved, "where did gitea run in May 2023?", scope="bob") == ""
    walk = moved.graph_leg.walk
    moved.graph_leg.walk = replace(walk, dates=False)
    assert asked(moved, "where did gitea run in May 2023?") == ""


def test_what_was_written_then_is_nearer(kb: KnowledgeBase) -> None:
    kb.store_settings.set({"late": "bundled"})
    for month in (3, 4, 5, 6, 7):
        kb.add(Memory(f"month {month}", "We cooked together with Bea.", created_at=day(f"2024-{month:02}-08")))
    kb.add(Memory("undated", "We cooked together with Bea."))
    kb.embed()
    hit = kb.recall("What did we cook in May 2024?", explain=True)[0]
    assert hit.external_id == "month 5"
    assert "in May 2024" in [match.word for match in hit.matches]
    assert kb.recall("What did we cook with Bea in July 2024?")[0].external_id == "month 7"
