"""What one memory may bring, and how long it keeps the graph's lock: for the write alone, and in turns."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from graph_content import Scripted, content
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE
from reliability.watch import watched

from hopgate.extract.extraction import MAX_FACTS, MAX_NAMES, Fact, Mention, bounded, found
from hopgate.graph.canonicalise import Canonicaliser
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory

NAME = st.sampled_from([f"name {number}" for number in range(3 * MAX_NAMES)])


@given(st.lists(NAME, max_size=600), st.lists(st.tuples(NAME, NAME), max_size=300))
def test_what_is_kept_is_bounded_and_in_order(names: list[str], pairs: list[tuple[str, str]]) -> None:
    extraction = found([Mention(name) for name in names], [Fact(one, "knows", two) for one, two in pairs])
    kept = bounded(extraction)
    used = {mention.name for mention in kept.mentions} | {
        end for fact in kept.facts for end in (fact.subject, fact.object)
    }
    assert len(used) <= MAX_NAMES and len(kept.facts) <= MAX_FACTS
    assert bounded(kept).mentions == kept.mentions and bounded(kept).facts == kept.facts
    left = len(extraction.mentions) - len(kept.mentions) + len(extraction.facts) - len(kept.facts)
    assert sum(count for _, count in kept.dropped) == left
    if len(set(names) | {end for pair in pairs for end in pair}) <= MAX_NAMES and len(pairs) <= MAX_FACTS:
        assert (kept.mentions, kept.facts) == (extraction.mentions, extraction.facts)


@pytest.mark.parametrize("built", [False, True])
def test_a_memory_of_thousands_of_names_brings_the_first(kb: KnowledgeBase, built: bool) -> None:
    if built:
        kb.add(Memory("first", "x"))
        kb.build(Scripted({"first": found([Mention("Ada")], [])}))
    kb.add(Memory("many", "x"))
    kb.build(Scripted({"many": found([Mention(f"n{number} thing") for number in range(4000)], [])}))
    assert len(content(kb)["names"]) == MAX_NAMES + built


def test_a_batch_of_many_names_takes_the_lock_in_turns(kb: KnowledgeBase) -> None:
    kb.add(Memory("first", "x"))
    kb.build(Scripted({"first": found([Mention("Ada")], [])}))
    kb.add(*(Memory(f"m{number}", "x") for number in range(4)))
    said = {f"m{at}": found([Mention(f"n{at}x{number}") for number in range(120)], []) for at in range(4)}
    turns = []
    with watched(lambda _, statement: turns.append(statement) if "FROM memories m WHERE" in statement else None):
        kb.build(Scripted({**said, "first": found([Mention("Ada")], [])}))
    assert sum("FOR NO KEY UPDATE OF m" in statement for statement in turns) == 4


def test_names_are_compared_outside_the_lock_and_again_where_the_graph_changed(kb: KnowledgeBase) -> None:
    kb.add(*(Memory(key, "x") for key in "abc"))
    said = {key: found([Mention(f"Name {key}"), Mention("Shared")], []) for key in "abc"}
    fitted = threading.Event()

    class Meanwhile(Canonicaliser):
        """Turns a memory sensitive while it compares: under the graph's lock that would never end."""

        def fit_units(self, units, embed=None, floor=None):
            if not fitted.is_set():
                fitted.set()
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(kb.mark_sensitive, ["b"]).result(PATIENCE)
            return super().fit_units(units, embed, floor)

    kb.build(Scripted(said), canonicaliser=Meanwhile())
    assert fitted.is_set()
    names = content(kb)["names"]
    assert len(names) == 3 and not any("Name b" in name for name in names)
