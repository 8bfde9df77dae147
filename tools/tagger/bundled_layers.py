"""The bundled embedder's weights as numbers, out of its int8 file."""

from __future__ import annotations

import re

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from hopgate.bundled import BGE_SMALL, bundled_file

PARTS = re.compile(
    r"layer\.(\d+)/(attention/self/(?:query|key|value)|attention/output/dense|intermediate/dense|output/dense)/"
)


def bundled_state() -> dict[str, NDArray[np.float32]]:
    """Every weight by the name that transformers gives it."""
    file = bundled_file(BGE_SMALL.folder, "model.onnx", BGE_SMALL.model_sha256)
    graph = onnx.load_model_from_string(file).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}

    def number(name: str, zero: str) -> NDArray[np.float32]:
        bytes_ = stored[f"{name}_quantized"].astype(np.float32)
        return (bytes_ - stored[zero].astype(np.float32)) * stored[f"{name}_scale"]

    state = {
        name: array
        for name, array in stored.items()
        if name.startswith(("embeddings.", "encoder.")) and array.dtype == np.float32 and not name.endswith("_scale")
    }
    for kind in ("word", "position", "token_type"):
        name = f"embeddings.{kind}_embeddings.weight"
        state[name] = number(name, f"{name}_zero_point")
    for node in graph.node:
        if node.op_type == "MatMulInteger" and (part := PARTS.search(node.name)):
            layer, place = part[1], part[2].replace("/", ".")
            weight = number(node.input[1].removesuffix("_quantized"), node.input[3])
            state[f"encoder.layer.{layer}.{place}.weight"] = weight.T
    return state
