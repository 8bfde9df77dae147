"""Specs: what makes an embedder, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopgate.embed import Embedder, embedder_from
from hopgate.embed.embedder import split_options, with_options
from hopgate.errors import HopgateError


@pytest.mark.parametrize("spec", ["bge-small", "bge-small-en-v1.5"])
def test_the_bundled_default_has_one_identity_under_either_name(spec: str) -> None:
    made = embedder_from(spec)
    assert isinstance(made, Embedder)
    assert made.identity.spec == "bge-small"
    assert embedder_from(made.identity.spec).identity == made.identity


@pytest.mark.parametrize(
    "spec", ["", "bge", "openai:", "openai:model", "openai:model@ftp://x", "sentence-transformers:"]
)
def test_what_is_no_spec_is_told_with_the_forms(spec: str) -> None:
    with pytest.raises(HopgateError, match="say bge-small, sentence-transformers:NAME_OR_PATH or openai:MODEL@URL"):
        embedder_from(spec)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("openai:m@http://x#colour=red", "unknown option 'colour'"),
        ("openai:m@http://x#query", "cannot read the options"),
        ("openai:m@http://x#dimension=many", "whole number"),
        ("openai:m@http://x#dimension=0", "whole number"),
    ],
)
def test_wrong_options_are_told(spec: str, complaint: str) -> None:
    with pytest.raises(HopgateError, match=complaint):
        embedder_from(spec)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_options_survive_the_way_through_a_spec(query: str, document: str) -> None:
    spec = with_options("openai:m@http://x", query=query, document=document)
    told = {"query": query, "document": document}
    assert split_options(spec, frozenset(told)) == ("openai:m@http://x", told)
