"""Filters: what every leg gives is what a plain reading of the conditions, scopes and times lets through."""

import re
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hopgate
from hopgate.kb import KnowledgeBase
from hopgate.memory import Memory
from hopgate.store.where import COMPARISONS, Where

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
TAGS = ("home", "Work", "nas")
TEXT, SEVERAL = ("id", "content", "category", "scope", "thread"), ("tags", "expanded_keywords")
NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?$")
COMPARED = {"gt": "__gt__", "gte": "__ge__", "lt": "__lt__", "lte": "__le__"}


def own(number: int) -> dict[str, Any]:
    if number % 6 == 5:
        return {}
    # A table's numbers are texts.
    price = str(number / 2) if number % 7 == 3 else number / 2
    return {"price": price, "shop": ("Aldi", "lidl")[number % 2], "by": {"who": ["Ada", "Bea"][: number % 3]}}


def stored() -> list[Memory]:
    """Sixty memories of which each answers the query, and which differ in every field."""
    return [
        Memory(
            f"m{number}",
            f"The spare key of house {number % 7} hangs there.",
            tags=tuple(TAGS[at] for at in range(3) if number >> at & 1),
            expanded_keywords=("Key",) if number % 3 else (),
            category=(None, "health", "work")[number % 3],
            importance=number % 5 / 4,
            is_sensitive=number % 11 == 0,
            scope=("me", "you", None)[number % 3],
            thread=f"t{number // 10}" if number % 4 else None,
            created_at=BEGIN + timedelta(days=number),
            superseded_by="m59" if number % 9 == 7 else None,
            superseded_at=BEGIN + timedelta(days=number + 5) if number % 9 == 7 else None,
            extra=own(number),
        )
        for number in range(60)
    ]  # fmt: skip


MEMORIES = {memory.external_id: memory for memory in stored()}


@pytest.fixture(scope="module")
def keys(module_kb: KnowledgeBase) -> KnowledgeBase:
    module_kb.add(*MEMORIES.values())
    module_kb.embed()
    module_kb.build()
    return module_kb


# The conditions, evaluated by Python.


def value_of(memory: Memory, name: str) -> Any:
    if name.startswith("extra."):
        value: Any = memory.extra
        for key in name.split(".")[1:]:
            value = value.get(key) if isinstance(value, dict) else None
        return value
    return memory.external_id if name == "id" else getattr(memory, name)


def is_so(memory: Memory, conditions: dict[str, Any]) -> bool:
    return all(one_is_so(memory, name, wanted) for name, wanted in conditions.items())


def one_is_so(memory: Memory, name: str, wanted: Any) -> bool:
    if name in ("AND", "OR", "NOT"):
        found = [is_so(memory, each) for each in wanted]
        return all(found) if name == "AND" else any(found) if name == "OR" else not any(found)
    value = value_of(memory, name)
    values = list(value) if isinstance(value, tuple | list) else [] if value is None else [value]
    if not isinstance(wanted, dict):
        wanted = {"eq": wanted}
    return all(meets(values, operator, other, isinstance(value, tuple | list)) for operator, other in wanted.items())


def meets(values: list[Any], operator: str, other: Any, several: bool) -> bool:
    if operator in ("ne", "nin"):
        return not meets(values, {"ne": "eq", "nin": "in"}[operator], other, several)
    if operator == "in":
        return any(value == one for value in values for one in other)
    if operator == "eq":
        return other in values
    if operator in COMPARED:
        if not isinstance(other, str):
            values = [float(value) if isinstance(value, str) and NUMBER.match(value) else value for value in values]
        comparable = [value for value in values if not several and isinstance(value, str) == isinstance(other, str)]
        return any(bool(getattr(value, COMPARED[operator])(other)) for value in comparable)
    folded = [value.lower() if operator == "icontains" else value for value in values if isinstance(value, str)]
    other = other.lower() if operator == "icontains" else other
    return any(value == other if several and not isinstance(other, int) else other in value for value in folded)


words = st.sampled_from(
    ("m1", "house 3", "health", "work", "me", "t2", "ey", "Key", "home", "Work", "wORK", "Aldi", "LI", "Ada")
)
members = {"eq": words, "ne": words, "in": st.lists(words, max_size=3), "nin": st.lists(words, max_size=2)}
held = {"contains": words, "icontains": words}
moments = st.integers(0, 60).map(lambda day: BEGIN + timedelta(days=day))


def some(operators: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=operators).filter(bool)


def compared(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return some(dict.fromkeys(COMPARISONS, values))


texts = words | some({**members, **held, "gte": words, "lt": words})
fields = st.one_of(
    st.tuples(st.sampled_from((*TEXT, "extra.shop")), texts),
    st.tuples(st.sampled_from(SEVERAL), words | some({**members, **held})),
    st.tuples(st.just("extra.by.who"), words | some(members)),
    st.tuples(st.sampled_from(("importance", "extra.price")), st.sampled_from((0.5, 1.0)) | compared(st.floats(0, 30))),
    st.tuples(st.just("is_sensitive"), st.booleans()),
    st.tuples(st.just("created_at"), compared(moments)),
).map(lambda field: dict([field]))
conditions = st.recursive(
    fields,
    lambda inner: st.dictionaries(
        st.sampled_from(("AND", "OR", "NOT")), st.lists(inner, min_size=1, max_size=3), min_size=1
    ),
    max_leaves=6,
)


options = st.fixed_dictionaries(
    {"where": conditions},
    optional={
        "scope": st.sampled_from(("me", "nowhere", ["you"], ("me", "you"))),
        "exclude": st.lists(st.sampled_from(("unknown", *MEMORIES)), max_size=20),
        "known_at": moments,
        "as_of": moments,
        "include_superseded": st.booleans(),
    },
)


def is_visible(memory, where, scope=None, exclude=(), known_at=None, as_of=None, include_superseded=False) -> bool:
    scopes = [scope] if isinstance(scope, str) else scope
    then = [moment for moment in (known_at, as_of) if moment is not None]
    return (
        is_so(memory, where)
        and (scopes is None or memory.scope in scopes)
        and memory.external_id not in exclude
        and (known_at is None or memory.created_at <= known_at)
        # What was superseded after these times was in force then.
        and (memory.superseded_at is None or include_superseded or any(memory.superseded_at > time for time in then))
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(options, st.sampled_from(("lexical", "dense", "graph", None)), st.sampled_from((5, 60)))
def test_every_leg_gives_all_that_meets_the_conditions_and_no_more(keys, options, leg, k):
    wanted = {name for name, memory in MEMORIES.items() if is_visible(memory, **options)}
    seen = wanted if leg in ("lexical", None) else {name for name in wanted if not MEMORIES[name].is_sensitive}
    hits = keys.recall("where is the spare key", **options, legs=leg and [leg], k=k, depth=k)
    assert {hit.external_id for hit in hits} <= seen
    # However much a filter takes away, what is left fills the list.
    assert leg == "graph" or len(hits) == min(k, len(seen))
    where = options["where"]
    wanted = {name for name, memory in MEMORIES.items() if is_so(memory, where)}
    with keys.store.transaction() as connection:
        made = Where.of(where)
        rows = connection.execute(f"SELECT external_id FROM memories WHERE {made.sql}", made.parameters)
        assert {row[0] for row in rows} == wanted


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ({"colour": "red"}, "no field 'colour'"),
        ({"tags": {"like": "h"}}, "no operator 'like'"),
        ({"tags": {"gt": "h"}}, "no operator 'gt'"),
        ({"importance": "high"}, "a number, not 'high'"),
        ({"importance": True}, "a number"),
        ({"created_at": {"gte": "yesterday"}}, "an ISO date"),
        ({"is_sensitive": 1}, "true or false"),
        ({"extra.price": {"gt": float("nan")}}, "a text, a number"),
        ({"category": {}}, "needs a value"),
        ({"category": {"in": "work"}}, "takes a list"),
        ({"OR": []}, "needs conditions"),
        ({"NOT": "home"}, "a mapping"),
        ("tags=home", "is not JSON"),
        ([1], "a mapping"),
        ({"OR": [{"tags": str(number)} for number in range(101)]}, "more than 100"),
        (reduce(lambda inner, _: {"AND": [inner]}, range(5000), {"tags": "x"}), "too deeply"),
        ('{"AND": [' * 5000 + "]}" * 5000, "is not JSON"),
        ({"extra." + ".".join("a" * 3000): 1}, "too deeply"),
        ({"importance": 10**400}, "a number"),
        ({"extra.price": 10**400}, "a text, a number"),
        ({"extra.price": {"gt": True}}, "a text, a number"),
        ({1: 2}, "a field's name is a text"),
    ],
)
def test_what_is_no_condition_is_refused(where, says):
    with pytest.raises(hopgate.HopgateError, match=says):
        Where.of(where)


def test_conditions_may_be_json_and_have_dollars():
    assert Where.of('{"$or": [{"tags": {"$eq": "home"}}]}') == Where.of({"OR": [{"tags": "home"}]})


def test_own_fields_are_found_by_their_words_and_shown(kb):
    kb.add(
        Memory("ups", "UPS", extra={"price": 129.5, "from": {"shop": "Reichelt"}}),
        Memory("nas", "NAS", extra={"price": 300}),
    )
    (hit,) = kb.recall("how much at Reichelt", legs=["lexical"])
    assert hit.external_id == "ups" and hit.to_dict()["extra"] == {"price": 129.5, "from": {"shop": "Reichelt"}}
    assert [hit.external_id for hit in kb.recall("129.5", legs=["lexical"])] == ["ups"]
