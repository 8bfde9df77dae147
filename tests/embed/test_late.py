"""Late interaction with the bundled model: markers, unit rows, no text beside another changes it."""

from __future__ import annotations

import numpy as np
import pytest

from hopgate.embed.late import LateInteraction, late_scores
from hopgate.memory import Cleared, Memory, cleared


@pytest.fixture(scope="module")
def model() -> LateInteraction:
    return LateInteraction()


def texts(*contents: str) -> list[Cleared]:
    memories = {f"m{at}": Memory(f"m{at}", content) for at, content in enumerate(contents)}
    return [text for _, text in cleared(memories.items())]


def test_rows_are_tokens_of_unit_length_and_do_not_depend_on_other_texts(model: LateInteraction) -> None:
    alone, *_ = model.texts(texts("The boiler is in the cellar."))
    together = model.texts(texts("The boiler is in the cellar.", "Bread needs flour, water, salt and time."))
    assert np.array_equal(alone, together[0])
    # The first token, the mark, seven words and signs, the last.
    assert alone.shape == (10, 384)
    assert np.allclose(np.linalg.norm(alone.astype(np.float32), axis=1), 1, atol=2e-3)
    (query,) = model.queries(["The boiler is in the cellar."])
    assert query.shape == alone.shape and not np.array_equal(query, alone)


def test_a_long_text_is_read_from_its_beginning(model: LateInteraction) -> None:
    (long,) = model.texts(texts("word " * 2000))
    assert len(long) == 512


def test_the_better_answer_scores_higher(model: LateInteraction) -> None:
    (query,) = model.queries(["Who waters the plants?"])
    scores = late_scores(
        query, model.texts(texts("Bea gives the flowers water on Mondays.", "The NAS needs a new disk."))
    )
    assert scores[0] > scores[1]
    assert late_scores(query, []).shape == (0,)
