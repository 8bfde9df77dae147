"""Reading models' answers: never raises, keeps only what the text says, counts the rest."""

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Extraction, Source, State
from hopgate.extract.model.answer import first_json, fold, read_answers
from hopgate.extract.model.chat import EXTRACT
from hopgate.memory import Cleared

SOURCE = Source("m1", Cleared("Ada Lovelace moved the NAS to Turin in 2019."), tags=("homelab",))
TWO = [Source("a", Cleared("Ada owns the NAS.")), Source("b", Cleared("It hums."))]
MOVED = {"subject": "Ada Lovelace", "relation": 'moved "to"', "object": "Turin"}
GOOD = json.dumps(
    {
        "mentions": [{"name": "Ada Lovelace", "kind": "person"}, {"name": "Turin", "kind": "place"}],
        "facts": [MOVED, {"subject": "NAS", "relation": "is in {the}", "object": "Turin"}],
    }
)


def read_answer(answer: str, *, cut: bool = False) -> Extraction:
    [extraction] = read_answers(answer, [SOURCE], cut=cut)
    assert extraction is not None
    return extraction


def facts(*rows: dict[str, Any]) -> str:
    return json.dumps({"mentions": [], "facts": rows})


names = st.sampled_from(["mentions", "facts", "subject", "relation", "object", "name", "kind", "valid_from"])
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.sampled_from(["Ada", "NAS", "subject"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200) | json_values.map(json.dumps), st.booleans())
def test_whatever_a_model_writes_is_read_without_an_error(answer, cut):
    extraction = read_answer(answer, cut=cut)
    ground = fold(f"{SOURCE.text} homelab")
    found = [mention.name for mention in extraction.mentions]
    assert all(fold(name) in ground for fact in extraction.facts for name in (*found, fact.subject, fact.object))
    assert Extraction.from_dict(json.loads(json.dumps(asdict(extraction)))) == extraction
    assert extraction.state.done or extraction.reason


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(GOOD)))
def test_an_answer_cut_anywhere_keeps_its_whole_facts_and_is_not_called_done(at):
    part = read_answer(GOOD[:at])
    assert set(part.facts) <= set(read_answer(GOOD).facts)
    assert part.state.done == (at == len(GOOD))


def test_prose_commas_and_raw_line_ends_are_forgiven():
    assert read_answer(f"As said in [1], {{so}}: {GOOD} Hope that helps {{}}").facts == read_answer(GOOD).facts
    assert first_json('{"a": "b\nc", }') == ({"a": "b\nc"}, False)
    assert first_json("[" * 2_000) in (None, ([], True))


def test_tags_ground_a_name_and_half_a_word_does_not():
    row = {"subject": "NAS", "relation": "part of"}
    assert read_answer(facts({**row, "object": "homelab"})).facts
    assert dict(read_answer(facts({**row, "object": "Tur"})).dropped) == {"ungrounded fact": 1}


def test_dates_are_iso_or_counted():
    dated = [("March 2019", "null"), ("recently", None), ("2020", "2019")]
    rows = ({**MOVED, "relation": f"was {at}", "valid_from": a, "valid_to": b} for at, (a, b) in enumerate(dated))
    read = read_answer(facts(*rows))
    assert [(fact.valid_from, fact.valid_to) for fact in read.facts] == [("2019-03", None), (None, None), (None, None)]
    assert dict(read.dropped) == {"bad date": 2}


def test_the_examples_of_the_prompt_do_not_leak_into_a_memory():
    echoed = read_answer(EXTRACT.chat([])[2]["content"])
    assert (echoed.state, echoed.facts) == (State.EMPTY, ())


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ('{"memories": [{"id": "2", "mentions": [{"name": "Ada"}]}, {"id": 1, "mentions": ["Ada"]}]}', [["Ada"], []]),
        ('{"memories": [{"id": "1", "mentions": []}, {"id": "1", "mentions": []}]}', [None, None]),
        ('{"memories": [{"id": "1", "mentions": []}, {"id": "2", "mentions": []', [[], None]),
        ('[{"id": "1", "mentions": [{"name": "Ada"}]}]', [["Ada"], None]),
        ("[{'id': '1', 'mentions': {'Ada'}}]", [None, None]),
        ("", [None, None]),
    ],
)
def test_each_memory_gets_its_own_whole_entry(answer, kept):
    read = read_answers(answer, TWO)
    assert [one and [mention.name for mention in one.mentions] for one in read] == kept
