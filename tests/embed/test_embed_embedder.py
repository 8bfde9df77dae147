"""Identities tell embedders apart, specs make them, and answers that are no vectors are refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hopgate.embed import embedder_from
from hopgate.embed.embedder import Identity, split_options, unit_rows, with_options
from hopgate.errors import HopgateError

TINY = Identity("tiny", 4, spec="tiny", query_prompt="ab", document_prompt="c", fingerprint="abc")


@pytest.mark.parametrize(
    "change",
    [{"dimension": 5}, {"query_prompt": ""}, {"query_prompt": "a", "document_prompt": "bc"}, {"fingerprint": "x"}],
)
def test_whatever_decides_a_vector_changes_the_key_and_nothing_else_does(change):
    assert replace(TINY, **change).key != TINY.key
    assert replace(TINY, name="other", spec="sentence-transformers:/elsewhere").key == TINY.key
    blind = replace(TINY, fingerprint="")
    assert replace(blind, spec="openai:x@http://b").key != replace(blind, spec="openai:x@http://a").key


@given(arrays.arrays(np.float32, (3, 4), elements=st.floats(0.0625, 65536, width=32)))
def test_rows_get_unit_length_and_keep_their_direction(rows):
    units = unit_rows(rows, count=3, dimension=4, who="tiny")
    assert units.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(units * np.linalg.norm(rows.astype(float), axis=1, keepdims=True), rows, rtol=1e-4)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[1.0, 2.0]], "dimension 2, not 4"),
        ([[1.0, math.inf, 0.0, 0.0]], "NaN or infinity"),
        ([[1e300, 0.0, 0.0, 0.0]], "NaN or infinity"),
        ([[None, 0.0, 0.0, 0.0]], "NaN"),
        ([[0.0] * 4], "zeros"),
        ([[1.0] * 4] * 2, "for 1 texts"),
        ([1.0, 2.0, 3.0, 4.0], "for 1 texts"),
        ([[1.0, 2.0, 3.0, "x"]], "other than numbers"),
        ([[1.0], [1.0, 2.0]], "unequal lengths"),
    ],
)
def test_what_is_no_vector_is_refused(rows, says):
    with pytest.raises(HopgateError, match=says):
        unit_rows(rows, count=1, dimension=4, who="tiny")


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("", "say bge-small, sentence-transformers:, fastembed: or model2vec:NAME_OR_PATH, or openai:"),
        ("openai:model@ftp://x", "say bge-small"),
        ("sentence-transformers:", "say bge-small"),
        ("openai:m@http://x#colour=red", "unknown option 'colour'"),
        ("openai:m@http://x#query", "cannot read the options"),
        ("openai:m@http://x#dimension=0", "whole number"),
        ("sentence-transformers:/no/such/place", "there is no model in /no/such/place"),
    ],
)
def test_what_is_no_spec_is_refused(spec, complaint):
    with pytest.raises(HopgateError, match=complaint):
        embedder_from(spec)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_options_survive_the_way_through_a_spec(query, document):
    spec = with_options("openai:m@http://x", query=query, document=document)
    given_options = {"query": query, "document": document}
    assert split_options(spec, frozenset(given_options)) == ("openai:m@http://x", given_options)
