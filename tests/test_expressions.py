"""What Python remarks about a text that somebody else wrote does not reach the terminal."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

from hopgate.errors import HopgateError
from hopgate.recall.fusers import parse


@pytest.mark.parametrize(("read", "text"), [(parse, "RRF(k=1if 1else 2)")])
def test_what_is_no_setting_is_refused_in_our_words_alone(read: Callable[[str], object], text: str) -> None:
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        with pytest.raises(HopgateError):
            read(text)
    assert not remarks
