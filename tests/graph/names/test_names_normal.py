"""Names as they are compared."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopgate.graph.names.normal import _folded, clash, initials, normalise, tokens


@settings(max_examples=400, deadline=None)
@given(st.text(min_size=1))
@example("a the x")
@example("ǰ's")
@example("0.a.0")
def test_normalising_is_done_once(name: str) -> None:
    once = normalise(name)
    assert normalise(once) == once


@settings(max_examples=300, deadline=None)
@given(st.text(" aTHEnx0'._-", min_size=1, max_size=12))
def test_a_plain_name_is_normalised_as_any_other(name: str) -> None:
    before, after = name, _folded(name)
    while before != after:
        before, after = after, _folded(after)
    assert normalise(name) == after


@given(st.text(min_size=1).filter(str.strip))
def test_every_name_has_a_token(name: str) -> None:
    assert tokens(normalise(name))


def test_what_differs_in_writing_only_is_one_name() -> None:
    assert len({normalise(name) for name in ("The U.S. Navy", "US Navy", "us  navy", "U.S. Navy's")}) == 1
    assert normalise("C++") != normalise("C#") != normalise("C")


def test_numbers_tell_things_apart() -> None:
    assert clash(tokens("january 16 1977"), tokens("april 16 1977"))
    assert clash(tokens("windows 95"), tokens("windows 98"))
    assert not clash(tokens("world war ii"), tokens("second world war"))
    assert set(tokens("world war ii")) == set(tokens("second world war"))


def test_initials_skip_joining_words() -> None:
    assert initials("food and drug administration") == "fda"
    assert initials("nasa") == ""
