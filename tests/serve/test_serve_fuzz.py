"""The short form of `python tests/serve/fuzz_api.py`: a few hundred requests made up from the OpenAPI document."""

from __future__ import annotations

import pytest
from serving import Running


@pytest.mark.full
def test_no_made_up_request_breaks_the_server_or_gets_what_it_must_not(writing: Running) -> None:
    from fuzz_api import fuzz

    figures = fuzz(writing, 300)
    assert figures.wrong == []
    assert figures.requests >= 300 and figures.statuses[200] > 30 and figures.statuses[401] >= figures.requests // 2
    assert figures.server_errors == figures.unauthenticated == figures.canary == figures.undocumented == 0
