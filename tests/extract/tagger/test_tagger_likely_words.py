"""Which notes are worth tagging."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hopgate.extract.tagger.likely_words import may_tell_change


def test_changes_are_told_from_the_rest() -> None:
    for text in (
        "The ladder is in the basement now.",
        "Caddy has taken the place of nginx.",
        "Wir sind jetzt bei Zeiss.",
    ):
        assert may_tell_change(text)
    for text in ("Bought two lemons.", "Slept badly.", "The proxy is nginx."):
        assert not may_tell_change(text)


@given(st.text())
def test_any_text_gets_an_answer(text: str) -> None:
    assert may_tell_change(text) in (True, False)
