"""Time in a query: what is over stands below what holds, unless the query says when it means."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recall_cases import CASES

from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.recall.outdated import current_first
from hopgate.recall.query_time import AskedTime, as_of, asked_time
from hopgate.times import moment

# The present.


@pytest.fixture(scope="module")
def life(module_kb: KnowledgeBase) -> KnowledgeBase:
    for _, old, then, new, since in CASES["changes"]:
        module_kb.add(
            *(Memory(text, text, created_at=moment(time), scope="me") for text, time in ((old, then), (new, since)))
        )
    module_kb.add(Memory("elsewhere", "The NAS runs on atlas.", created_at=moment("2022-01-02"), scope="you"))
    module_kb.embed()
    module_kb.build()
    return module_kb


@pytest.mark.parametrize(("question", "old", "_then", "new", "_since"), CASES["changes"])
def test_the_current_memory_stands_above_the_outdated_one(life, question, old, _then, new, _since):
    hits = {hit.external_id: hit for hit in life.recall(question, scope="me", k=5)}
    over = hits[old]
    assert hits[new].rank < over.rank
    assert over.outdated and any(fact.over and new in fact.ended_by for fact in over.facts)
    assert new in over.over and "over since" in over.over
    assert not hits[new].outdated


def test_the_past_is_answered_with_the_past(life):
    old = "The NAS runs on atlas."
    for question in ("Where did the NAS run?", "Where did the NAS run in 2023?"):
        hit = next(hit for hit in life.recall(question, scope="me") if hit.external_id == old)
        assert not hit.outdated
    then = life.recall("Where does the NAS run?", scope="me", as_of=moment("2023-01-01"))
    hit = next(hit for hit in then if hit.external_id == old)
    assert not hit.outdated and not any(fact.over for fact in hit.facts)


def test_without_facts_nothing_is_moved_and_other_orders_are_kept(life):
    question, old = "Where does the NAS run?", "The NAS runs on atlas."
    assert not any(hit.facts or hit.outdated for hit in life.recall(question, scope="me", parts=()))
    newest = life.recall(question, scope="me", sort_by="recency")
    assert [hit.memory.created_at for hit in newest] == sorted((hit.memory.created_at for hit in newest), reverse=True)
    # Of another scope's memory nothing has ended, though the sentence is the same.
    (other,) = [hit for hit in life.recall(question, scope="you") if hit.external_id == "elsewhere"]
    assert not other.outdated and old not in str(other.facts)


@given(st.permutations(range(6)), st.dictionaries(st.integers(0, 2), st.sets(st.integers(3, 7), max_size=3)))
def test_what_holds_stands_above_and_all_else_keeps_its_order(order, ended):
    moved = current_first(order, ended)
    assert sorted(moved) == sorted(order)
    for memory, by in ended.items():
        if memory in order and by & set(order):
            assert set(moved[: moved.index(memory)]) & by
    over = [memory for memory in order if memory in ended]
    assert [memory for memory in moved if memory in ended] == over


# A query that says when it means.


@pytest.mark.parametrize(("query", "said", "when"), CASES["times"])
def test_a_time_is_read(query, said, when):
    asked = asked_time(query)
    assert asked and (asked.words, asked.moment) == (said, moment(when) if when else None)


@pytest.mark.parametrize("query", CASES["no_times"])
def test_no_time_is_read_where_none_is_meant(query):
    assert asked_time(query) is None


times = st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


@given(times, st.lists(st.tuples(st.none() | times, st.none() | times), max_size=6))
def test_it_counts_only_where_it_changes_something_and_leaves_something(then, held):
    found = as_of(AskedTime("then", then, then), held)
    holding = [(begin or then) <= then and (end is None or end > then) for begin, end in held]
    assert (found == then) == (any(holding) and not all(holding))
    assert found in (then, None)


@pytest.fixture
def moved(kb: KnowledgeBase) -> KnowledgeBase:
    kb.add(
        Memory("old", "Gitea runs on alder since March 2022.", scope="ada", created_at=moment("2022-03-02")),
        Memory("new", "Gitea moved from alder to birch on 3 May 2024.", scope="ada", created_at=moment("2024-05-03")),
        Memory("cellar", "The Synology NAS stands in the cellar.", scope="ada", created_at=moment("2022-03-05")),
        Memory("bob", "Forgejo and Gitea were compared by Bob.", scope="bob", created_at=moment("2022-03-05")),
    )
    kb.build()
    return kb


def asked(kb: KnowledgeBase, query: str, scope: str = "ada") -> str:
    hits = kb.recall(query, explain=True, legs=("lexical", "graph"), scope=scope)
    assert hits
    return hits[0].as_of


def test_the_walk_is_as_of_that_time_and_says_so(moved):
    assert asked(moved, "where did gitea run in May 2023?") == "2023-05-16, because the query says “in May 2023”"
    assert asked(moved, "where did gitea run before the move?").startswith("2024-05-02")
    # What it finds is what an as-of given by hand finds.
    query, legs = "where did gitea run in May 2023?", ("graph",)
    by_hand = moved.recall(query, legs=legs, as_of=moment("2023-05-16"), scope="ada")
    assert moved.recall(query, legs=legs, scope="ada") == by_hand


def test_it_is_not_where_nothing_changed_or_it_is_off_or_another_scopes(moved):
    assert asked(moved, "where did the Synology NAS stand in May 2023?") == ""
    assert asked(moved, "where does gitea run?") == ""
    assert asked(moved, "where did gitea run in May 2023?", scope="bob") == ""
    walk = moved.graph_leg.walk
    moved.graph_leg.walk = replace(walk, dates=False)
    assert asked(moved, "where did gitea run in May 2023?") == ""


def test_what_was_written_then_is_nearer(kb):
    kb.store_settings.set({"late": "bundled"})
    for month in (3, 4, 5, 6, 7):
        kb.add(Memory(f"month {month}", "We cooked together with Bea.", created_at=moment(f"2024-{month:02}-08")))
    kb.add(Memory("undated", "We cooked together with Bea."))
    kb.embed()
    hit = kb.recall("What did we cook in May 2024?", explain=True)[0]
    assert hit.external_id == "month 5"
    assert "in May 2024" in [match.word for match in hit.matches]
    assert kb.recall("What did we cook with Bea in July 2024?")[0].external_id == "month 7"


def test_what_else_an_outdated_memory_says_is_still_found(kb):
    kb.add(
        Memory("both", "The wifi password is hunter1. Anna lives in Rome.", created_at=moment("2023-01-01")),
        Memory("now", "Anna lives in Paris now.", created_at=moment("2024-01-01")),
    )
    kb.embed()
    kb.build()
    first, *_ = kb.recall("What is the wifi password?")
    assert first.external_id == "both" and not first.outdated
    hits = {hit.external_id: hit for hit in kb.recall("Where does Anna live?")}
    assert hits["now"].rank < hits["both"].rank and hits["both"].outdated
