"""Which notes are worth tagging."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hopgate.extract.tagger.likely_words import may_state, may_tell_change


def test_changes_and_statements_are_told_from_the_rest() -> None:
    for text in (
        "The ladder is in the basement now.",
        "Caddy has taken the place of nginx.",
        "Wir sind jetzt bei Zeiss.",
    ):
        assert may_tell_change(text)
    for text in ("The proxy is nginx.", "Our sitter is Hetty."):
        assert may_state(text)
    for text in ("Bought two lemons.", "Slept badly.", "Nice weather!"):
        assert not may_tell_change(text)
        assert not may_state(text)


@given(st.text())
def test_any_text_gets_an_answer(text: str) -> None:
    assert may_tell_change(text) in (True, False)
