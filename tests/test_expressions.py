"""What Python remarks about a text that somebody else wrote does not reach the terminal."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

from hopgate.errors import HopgateError
from hopgate.extract.model.json_answer import first_json
from hopgate.recall.fuse.parse import parse


@pytest.mark.parametrize(("read", "text"), [(parse, "RRF(k=1if 1else 2)")])
def test_what_is_no_setting_is_refused_in_our_words_alone(read: Callable[[str], object], text: str) -> None:
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        with pytest.raises(HopgateError):
            read(text)
    assert not remarks


def test_a_models_answer_with_pythons_quotes_is_read_silently() -> None:
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        read = first_json("{'path': 'C:\\dir'}")
    assert read is not None and read[0] == {"path": "C:\\dir"}
    assert not remarks
