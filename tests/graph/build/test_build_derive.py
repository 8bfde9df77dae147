"""Edges from facts: what most groups are is written down at once, and is what their history gives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hopgate.graph.build import derive
from hopgate.store.graph.fact_rows import CanonicalFact, FactGroup

DAY = datetime(2024, 1, 1, tzinfo=UTC)
DAYS = st.integers(0, 9).map(lambda days: DAY + timedelta(days=days))
# What is said, and who says so when and how surely; now and then something else.
SAID = st.tuples(st.sampled_from([7, 7, 7, 8]), st.sampled_from([None, DAY]), st.sampled_from([None, None, DAY]))
FACTS = st.lists(st.tuples(SAID, DAYS, st.integers(1, 4), st.sampled_from([1.0, 0.9, 0.25])), min_size=1, max_size=6)


@given(facts=FACTS, alike=st.booleans(), single=st.booleans())
def test_a_plain_group_is_what_its_history_gives(
    facts: list[tuple[tuple[int, datetime | None, datetime | None], datetime, int, float]], alike: bool, single: bool
) -> None:
    said = facts[0][0]
    known = sorted(
        (
            CanonicalFact(
                1, "runs on", *(said[:1] if alike else one[:1]), weight, *(said if alike else one)[1:], day, memory
            )
            for one, day, memory, weight in facts
        ),
        key=lambda fact: (fact.recorded_at, fact.memory_id),
    )
    group = FactGroup(1, "runs on", None if single else known[0].dst_id)
    known = [fact for fact in known if single or fact.dst_id == group.dst_id]
    assert derive.versioned_rows(group, known) == derive._history_rows(group, known)
