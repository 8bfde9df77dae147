"""What the tagger itself says of notes that it was not trained on."""

from __future__ import annotations

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.tagger import change_tagger
from hopgate.extract.tagger.change_tagger import tagged


def marked(text: str) -> dict[str, str]:
    return {span.label: span.text for span in tagged(text).spans}


@pytest.mark.parametrize(
    ("text", "thing", "value", "former"),
    [
        ("Split done, the ferry desk is no longer part of Pier 4 but of Pier 9.", "ferry desk", "Pier 9", "Pier 4"),
        ("We've gone from Sage to Xero for the accounts.", "accounts", "Xero", "Sage"),
        ("With Greta off at uni, Milo is our dog walker.", "dog walker", "Milo", "Greta"),
    ],
)  # fmt: skip
def test_a_change_in_free_words(text: str, thing: str, value: str, former: str) -> None:
    assert tagged(text).change > 0.99
    assert marked(text) == {"thing": thing, "value": value, "former": former}


@pytest.mark.parametrize(
    "text",
    [
        "Bob might move to Leeds next year.",
        "Does Jorge have the pager now?",
        "If the roof leaks again we will store the tent in the cellar.",
        "Bought two lemons.",
    ],
)
def test_what_is_no_change(text: str) -> None:
    assert tagged(text).change < 0.01


def test_it_says_the_same_of_a_text_whatever_came_before() -> None:
    first = tagged("The ladder is in the basement now.")
    tagged("Something else entirely, at length, and with many more words than that.")
    assert tagged("The ladder is in the basement now.") == first


@pytest.mark.parametrize("text", ["", " ", "🦊", "a" * 5000, "word " * 2000, "一二三"])
def test_any_text_is_read(text: str) -> None:
    assert 0 <= tagged(text).change <= 1


def test_a_damaged_file_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_tagger, "WEIGHTS_SHA256", "0" * 64)
    change_tagger._loaded.cache_clear()
    try:
        with pytest.raises(HopgateError, match="is damaged: install hopgate again"):
            tagged("x")
    finally:
        change_tagger._loaded.cache_clear()
