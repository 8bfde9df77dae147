"""The bundled default: bge-small-en-v1.5, int8, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence

from hopgate.bundled import BGE_SMALL
from hopgate.embed.embedder import Identity, Vectors, unit_rows
from hopgate.embed.onnx import Bundled

DIMENSION = 384
# The instruction the model was trained to see before a query, and before nothing else.
QUERY_PROMPT = "Represent this sentence for searching relevant passages: "
# Texts whose tokens are held at once: bounds the memory of a backfill.
AT_ONCE = 1024


class BgeSmall:
    """bge-small-en-v1.5: the vector of the first token, at unit length.

    Nothing is loaded before the first text. A text's vector does not depend on the texts embedded with it.
    Alone it finds 0.7425 of what is relevant on musique (recall@10, exact cosine, all queries; `benchmarks/embed.py`).

    Examples
    --------
    >>> from hopgate.memory import Memory, cleared
    >>> embedder = BgeSmall()
    >>> memories = {"a": Memory("a", "The NAS is in the cellar."), "b": Memory("b", "Bread recipe")}
    >>> texts = [text for _, text in cleared(memories.items())]
    >>> similarity = embedder.queries(["where is the NAS?"]) @ embedder.documents(texts).T
    >>> bool(similarity[0, 0] > similarity[0, 1])
    True
    """

    def __init__(self, threads: int | None = None) -> None:
        self._model = Bundled(*BGE_SMALL, threads)

    def __repr__(self) -> str:
        return "BgeSmall()"

    @property
    def identity(self) -> Identity:
        """Which embedder this is."""
        return Identity(
            name="bge-small-en-v1.5",
            dimension=DIMENSION,
            spec="bge-small",
            query_prompt=QUERY_PROMPT,
            fingerprint=BGE_SMALL.model_sha256,
        )

    def load(self) -> None:
        """Load the model before the first text."""
        self._model.load()

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Embed memories' contents."""
        return self._embed(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries, behind the query prompt."""
        return self._embed([QUERY_PROMPT + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = [
            self._model.run(self._model.encode(texts[start : start + AT_ONCE]), lambda output: output[0, 0])
            for start in range(0, len(texts), AT_ONCE)
        ]
        flat = [row for chunk in rows for row in chunk]
        return unit_rows(flat, count=len(texts), dimension=DIMENSION, who="bge-small-en-v1.5")
