"""Reading models' answers: never raises, keeps only what the text says, counts the rest."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hopgate.extract.extraction import Extraction, Fact, Mention, Source, State
from hopgate.extract.model.answer import fold, merged, read_answer
from hopgate.extract.model.repair import first_json
from hopgate.extract.model.split_text import split_in_two
from hopgate.memory import Cleared

SOURCE = Source("m1", Cleared("Ada Lovelace moved the NAS to Turin in 2019."), tags=("homelab",))


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
    extraction = read_answer(answer, SOURCE, cut=cut)
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
    whole = read_answer(GOOD, SOURCE)
    part = read_answer(GOOD[:at], SOURCE)
    assert set(part.facts) <= set(whole.facts)
    assert part.state.done == (at == len(GOOD))


def test_a_citation_in_prose_is_not_taken_for_the_answer() -> None:
    assert (
        read_answer(f"As said in [1], {{so}}: {GOOD} Hope that helps {{}}", SOURCE).facts
        == read_answer(GOOD, SOURCE).facts
    )


def test_python_quotes_commas_and_raw_line_ends_are_forgiven() -> None:
    assert first_json("{'a': None,}") == ({"a": None}, False)
    assert first_json('{"a": "b\nc"}') == ({"a": "b\nc"}, False)
    assert first_json("[" * 2_000) in (None, ([], True))


def test_lists_of_three_and_other_keys_are_understood() -> None:
    answer = json.dumps({"entities": ["Turin"], "triples": [["NAS", "is in", "Turin"]]})
    extraction = read_answer(answer, SOURCE)
    assert extraction.facts == (Fact("NAS", "is in", "Turin", confidence=0.9),)
    assert extraction.mentions == (Mention("Turin"), Mention("NAS"))


def test_tags_ground_a_name_and_half_a_word_does_not() -> None:
    row = {"subject": "NAS", "relation": "part of"}
    assert read_answer(facts({**row, "object": "homelab"}), SOURCE).facts
    assert dict(read_answer(facts({**row, "object": "Tur"}), SOURCE).dropped) == {"ungrounded fact": 1}


def test_dates_are_iso_or_counted() -> None:
    row = {"subject": "NAS", "relation": "is in", "object": "Turin"}
    extraction = read_answer(
        facts(
            {**row, "valid_from": "March 2019", "valid_to": "null"},
            {**row, "valid_from": "recently"},
            {**row, "relation": "left", "valid_from": "2020", "valid_to": "2019"},
        ),
        SOURCE,
    )
    assert [(fact.valid_from, fact.valid_to) for fact in extraction.facts] == [
        ("2019-03", None),
        (None, None),
        (None, None),
    ]
    assert dict(extraction.dropped) == {"bad date": 2}


def test_the_examples_of_the_prompt_do_not_leak_into_a_memory() -> None:
    from hopgate.extract.model.prompt import messages

    echoed = read_answer(messages("x")[2]["content"], SOURCE)
    assert echoed.state is State.EMPTY
    assert echoed.facts == ()


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
