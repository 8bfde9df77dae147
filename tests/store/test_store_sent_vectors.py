"""Vectors as text: every half comes back as it was."""

from __future__ import annotations

import numpy as np

from hopgate.store.sent_vectors import to_sql


def test_every_half_comes_back() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    read = [np.float16(np.float32(text)) for text in to_sql(finite.astype(np.float32))[1:-1].split(",")]
    assert np.array_equal(np.array(read), finite)
