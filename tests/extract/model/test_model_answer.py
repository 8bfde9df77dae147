"""Reading models' answers: never raises, keeps only what the text says, counts the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Extraction, Fact, Mention, Source, State
from hopgate.extract.model.answer import fold, merged, read_answers
from hopgate.extract.model.chat import split_in_two
from hopgate.extract.model.json_answer import first_json
from hopgate.extract.model.prompt import EXTRACT
from hopgate.memory import Cleared

SOURCE = Source("m1", Cleared("Ada Lovelace moved the NAS to Turin in 2019."), tags=("homelab",))


def read_answer(answer: str, *, cut: bool = False) -> Extraction:
    [extraction] = read_answers(answer, [SOURCE], cut=cut)
    assert extraction is not None
    return extraction


def facts(*rows: dict[str, Any]) -> str:
    return json.dumps({"mentions": [], "facts": rows})


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.sampled_from(["Ada", "NAS", "subject"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["mentions", "facts", "subject", "relation", "object", "name", "kind", "valid_from"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200) | json_values.map(json.dumps), st.booleans())
def test_whatever_a_model_writes_is_read_without_an_error(answer: str, cut: bool) -> None:
    extraction = read_answer(answer, cut=cut)
    ground = fold(f"{SOURCE.text} homelab")
    for mention in extraction.mentions:
        assert fold(mention.name) in ground
    for fact in extraction.facts:
        assert fold(fact.subject) in ground and fold(fact.object) in ground
    assert Extraction.from_dict(json.loads(json.dumps(extraction.to_dict()))) == extraction
    if not extraction.state.done:
        assert extraction.reason


GOOD = json.dumps(
    {
        "mentions": [{"name": "Ada Lovelace", "kind": "person"}, {"name": "Turin", "kind": "place"}],
        "facts": [
            {"subject": "Ada Lovelace", "relation": 'moved "to"', "object": "Turin"},
            {"subject": "NAS", "relation": "is in {the}", "object": "Turin"},
        ],
    }
)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(GOOD)))
def test_an_answer_cut_anywhere_keeps_its_whole_facts_and_is_not_called_done(at: int) -> None:
    whole = read_answer(GOOD)
    part = read_answer(GOOD[:at])
    assert set(part.facts) <= set(whole.facts)
    assert part.state.done == (at == len(GOOD))


def test_a_citation_in_prose_is_not_taken_for_the_answer() -> None:
    assert read_answer(f"As said in [1], {{so}}: {GOOD} Hope that helps {{}}").facts == read_answer(GOOD).facts


def test_python_quotes_commas_and_raw_line_ends_are_forgiven() -> None:
    assert first_json("{'a': None,}") == ({"a": None}, False)
    assert first_json('{"a": "b\nc"}') == ({"a": "b\nc"}, False)
    assert first_json("[" * 2_000) in (None, ([], True))


def test_tags_ground_a_name_and_half_a_word_does_not() -> None:
    row = {"subject": "NAS", "relation": "part of"}
    assert read_answer(facts({**row, "object": "homelab"})).facts
    assert dict(read_answer(facts({**row, "object": "Tur"})).dropped) == {"ungrounded fact": 1}


def test_dates_are_iso_or_counted() -> None:
    row = {"subject": "NAS", "relation": "is in", "object": "Turin"}
    extraction = read_answer(
        facts(
            {**row, "valid_from": "March 2019", "valid_to": "null"},
            {**row, "valid_from": "recently"},
            {**row, "relation": "left", "valid_from": "2020", "valid_to": "2019"},
        ),
    )
    assert [(fact.valid_from, fact.valid_to) for fact in extraction.facts] == [
        ("2019-03", None),
        (None, None),
        (None, None),
    ]
    assert dict(extraction.dropped) == {"bad date": 2}


def test_the_examples_of_the_prompt_do_not_leak_into_a_memory() -> None:
    echoed = read_answer(EXTRACT.chat([])[2]["content"])
    assert echoed.state is State.EMPTY
    assert echoed.facts == ()


TWO = [Source("a", Cleared("Ada owns the NAS.")), Source("b", Cleared("It hums."))]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ('{"memories": [{"id": "2", "mentions": [{"name": "Ada"}]}, {"id": 1, "mentions": ["Ada"]}]}', [["Ada"], []]),
        ('{"memories": [{"id": "1", "mentions": []}, {"id": "1", "mentions": []}]}', [None, None]),
        ('{"memories": [{"id": "1", "mentions": []}, {"id": "2", "mentions": []', [[], None]),
        ('[{"id": "1", "mentions": [{"name": "Ada"}]}]', [["Ada"], None]),
        ("[{'id': '1', 'mentions': ({'name': 'Ada'},), 'facts': []}]", [["Ada"], None]),
        # Python's brackets that JSON does not have.
        ('{"memories"Infinity: [{"mentions": [{"name"}], "id": "1"}]}', [None, None]),
        ("[{'id': '1', 'mentions': {'Ada'}}]", [None, None]),
        ("[{'id': '1', 'mentions': b'Ada'}]", [None, None]),
        ("", [None, None]),
    ],
)
def test_each_memory_gets_its_own_whole_entry(answer: str, kept: list[list[str] | None]) -> None:
    read = read_answers(answer, TWO)
    assert [one and [mention.name for mention in one.mentions] for one in read] == kept


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab .\n!?", max_size=60))
def test_halves_lose_no_word_and_both_hold_some(text: str) -> None:
    cut = split_in_two(Cleared(text))
    if cut is None:
        assert len(text.split()) <= 1
        return
    assert " ".join(cut).split() == text.split()
    assert all(part.strip() for part in cut)


def test_parts_join_without_repeats_and_the_worst_part_tells_the_state() -> None:
    one = Extraction((Mention("Ada"),), (Fact("Ada", "owns", "NAS"),), State.COMPLETE, prompt_tokens=2)
    two = Extraction((Mention("ada"),), (Fact("ada", "owns", "nas"),), State.TRUNCATED, "cut", prompt_tokens=3)
    joined = merged([one, two])
    assert joined.mentions == (Mention("Ada"),) and len(joined.facts) == 1
    assert (joined.state, joined.reason, joined.tokens) == (State.TRUNCATED, "cut", 5)
