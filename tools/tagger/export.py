"""Write the tagger's weights as an int8 ONNX file: python export.py OUT.npz [FILE]; prints the hash for the code."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

TARGET = Path(__file__).parents[2] / "src/hopgate/extract/changes/weights/changes.onnx"
TOKENS, WIDTH, HEADS = 256, 384, 12
Array = NDArray[np.float32]


class Graph:
    """Nodes and constants, each named after what it gives."""

    def __init__(self, weights: dict[str, Array]) -> None:
        self.weights, self.nodes, self.constants = weights, [], []

    def constant(self, name: str, value: object, kind: type = np.float32) -> str:
        """Keep a constant, and give its name."""
        self.constants.append(numpy_helper.from_array(np.array(value, dtype=kind, order="C"), name))
        return name

    def node(self, kind: str, inputs: list[str], name: str, **settings: object) -> str:
        """Add a node, and give the name of its output."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **settings))
        return name

    def dense(self, source: str, name: str, weight: Array, bias: Array) -> str:
        """Multiply and add."""
        made = self.node("MatMul", [source, self.constant(f"{name}.weight", weight.T)], f"{name}.product")
        return self.node("Add", [made, self.constant(f"{name}.bias", bias)], name)

    def norm(self, source: str, name: str, key: str) -> str:
        """Normalise a layer's output."""
        parts = [self.constant(f"{name}.{part}", self.weights[f"{key}.{part}"]) for part in ("weight", "bias")]
        return self.node("LayerNormalization", [source, *parts], name, axis=-1, epsilon=1e-12)

    def layer(self, source: str, number: int) -> str:
        """Add a layer of attention, and give its output."""
        name, key = f"layer{number}", f"b.encoder.layer.{number}"
        three = [f"{key}.attention.self.{part}" for part in ("query", "key", "value")]
        weight, bias = (np.concatenate([self.weights[f"{one}.{part}"] for one in three]) for part in ("weight", "bias"))
        all_ = self.node("Reshape", [self.dense(source, f"{name}.three", weight, bias), "by_head"], f"{name}.heads")
        all_ = self.node("Transpose", [all_], f"{name}.turned", perm=[2, 0, 3, 1, 4])
        query, keys, values = (
            self.node("Gather", [all_, at], f"{name}.{part}", axis=0)
            for at, part in zip(("first", "second", "third"), ("query", "key", "value"), strict=True)
        )
        keys = self.node("Transpose", [keys], f"{name}.keys", perm=[0, 1, 3, 2])
        near = self.node("Mul", [self.node("MatMul", [query, keys], f"{name}.near"), "scale"], f"{name}.scaled")
        near = self.node("Softmax", [near], f"{name}.attention", axis=-1)
        read = self.node("MatMul", [near, values], f"{name}.read")
        read = self.node("Transpose", [read], f"{name}.back", perm=[0, 2, 1, 3])
        read = self.node("Reshape", [read, "flat"], f"{name}.flat")
        read = self.dense(read, f"{name}.out", *self._pair(f"{key}.attention.output.dense"))
        read = self.norm(
            self.node("Add", [read, source], f"{name}.sum"), f"{name}.norm", f"{key}.attention.output.LayerNorm"
        )
        wide = self._gelu(self.dense(read, f"{name}.wide", *self._pair(f"{key}.intermediate.dense")), name)
        slim = self.dense(wide, f"{name}.slim", *self._pair(f"{key}.output.dense"))
        return self.norm(self.node("Add", [slim, read], f"{name}.sum2"), f"{name}.given", f"{key}.output.LayerNorm")

    def _pair(self, key: str) -> tuple[Array, Array]:
        return self.weights[f"{key}.weight"], self.weights[f"{key}.bias"]

    def _gelu(self, source: str, name: str) -> str:
        bent = self.node("Erf", [self.node("Div", [source, "root_two"], f"{name}.over")], f"{name}.erf")
        bent = self.node("Mul", [source, self.node("Add", [bent, "one"], f"{name}.more")], f"{name}.times")
        return self.node("Mul", [bent, "half"], f"{name}.gelu")


def graph_of(weights: dict[str, Array]) -> onnx.ModelProto:
    """The whole model, from token vectors to six numbers for each: four labels, a change and an end.

    `later` says which tokens are of the second text.
    """
    graph = Graph(weights)
    graph.constant("by_head", [0, 0, 3, HEADS, WIDTH // HEADS], np.int64)
    graph.constant("flat", [0, 0, WIDTH], np.int64)
    for name, number in (("one", 1), ("half", 0.5), ("root_two", 2**0.5), ("scale", (WIDTH // HEADS) ** -0.5)):
        graph.constant(name, number)
    for name, place in (("first", 0), ("second", 1), ("third", 2)):
        graph.constant(name, place, np.int64)
    for name, place in (("zero", 0), ("from", 1), ("to", 2), ("axis", 0)):
        graph.constant(name, [place], np.int64)
    places = weights["b.embeddings.position_embeddings.weight"][:TOKENS]
    first, second = weights["b.embeddings.token_type_embeddings.weight"]
    graph.constant("places", places + first)
    typed = graph.node("Mul", ["later", graph.constant("in_later", second - first)], "typed")
    length = graph.node("Slice", [graph.node("Shape", ["words"], "shape"), "from", "to", "axis"], "length")
    placed = graph.node("Slice", ["places", "zero", length, "axis"], "placed")
    summed = graph.node("Add", [graph.node("Add", ["words", placed], "summed"), typed], "input")
    hidden = graph.norm(summed, "embedded", "b.embeddings.LayerNorm")
    for number in range(sum(name.endswith("attention.self.query.bias") for name in weights)):
        hidden = graph.layer(hidden, number)
    weight, bias = (np.concatenate([weights[f"t.{part}"], weights[f"c.{part}"]]) for part in ("weight", "bias"))
    graph.dense(hidden, "logits", weight, bias)
    widths = {"words": WIDTH, "later": 1, "logits": 6}
    words, later, logits = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "tokens", width]) for name, width in widths.items()
    )
    made = helper.make_graph(graph.nodes, "changes", [words, later], [logits], graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    model = graph_of({name: array.astype(np.float32) for name, array in np.load(sys.argv[1]).items()})
    onnx.checker.check_model(model)
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else TARGET
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/whole.onnx")
        quantize_dynamic(
            f"{folder}/whole.onnx", target, weight_type=QuantType.QInt8, per_channel=True,
            op_types_to_quantize=["MatMul"], nodes_to_exclude=["logits.product"],
        )  # fmt: skip
    print(hashlib.sha256(target.read_bytes()).hexdigest())  # noqa: T201
