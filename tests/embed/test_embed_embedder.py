"""Identities tell embedders apart; answers that are no vectors are refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hopgate.embed.embedder import Identity, unit_rows
from hopgate.errors import HopgateError

TINY = Identity("tiny", 4, spec="tiny", query_prompt="q: ", document_prompt="d: ", fingerprint="abc")


@pytest.mark.parametrize(
    "change", [{"dimension": 5}, {"query_prompt": ""}, {"document_prompt": ""}, {"fingerprint": "x"}]
)
def test_whatever_decides_a_vector_changes_the_key(change: dict[str, object]) -> None:
    assert replace(TINY, **change).key != TINY.key  # type: ignore[arg-type]


def test_the_same_weights_elsewhere_have_the_same_key() -> None:
    assert replace(TINY, name="other", spec="sentence-transformers:/elsewhere").key == TINY.key


def test_without_a_fingerprint_the_spec_decides() -> None:
    blind = replace(TINY, fingerprint="")
    assert replace(blind, spec="openai:x@http://b").key != replace(blind, spec="openai:x@http://a").key


def test_prompts_cannot_run_into_each_other() -> None:
    assert (
        replace(TINY, query_prompt="ab", document_prompt="c").key
        != replace(TINY, query_prompt="a", document_prompt="bc").key
    )


def test_to_json_makes_it_again() -> None:
    assert Identity(**TINY.to_dict()) == TINY


@given(arrays.arrays(np.float32, (3, 4), elements=st.floats(0.0625, 65536, width=32)))
def test_rows_get_unit_length_and_keep_their_direction(rows: np.ndarray) -> None:
    units = unit_rows(rows, count=3, dimension=4, who="tiny")
    assert units.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(units * np.linalg.norm(rows.astype(float), axis=1, keepdims=True), rows, rtol=1e-4)


def test_no_texts_give_no_rows() -> None:
    assert unit_rows([], count=0, dimension=4, who="tiny").shape == (0, 4)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[1.0, 2.0]], "dimension 2, not 4"),
        ([[1.0, math.nan, 0.0, 0.0]], "NaN"),
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
def test_what_is_no_vector_is_refused(rows: object, says: str) -> None:
    with pytest.raises(HopgateError, match=says):
        unit_rows(rows, count=1, dimension=4, who="tiny")  # type: ignore[arg-type]
