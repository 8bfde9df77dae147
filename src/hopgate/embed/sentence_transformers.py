"""Any sentence-transformers model, of a vector a text or of one a token, by its name or its path."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hopgate.embed.embedder import Embedder, Identity, Kind, split_options, with_options
from hopgate.embed.late import Floats, LateModel, QueryTokens, unit
from hopgate.errors import HopgateError
from hopgate.redact import redacted

# Prompts of models that were trained with one which not all of their files name: (pattern, query, document).
KNOWN_PROMPTS = (
    (r"bge-(small|base|large)-en", "Represent this sentence for searching relevant passages: ", ""),
    (r"\be5-(small|base|large)", "query: ", "passage: "),
)


class SentenceTransformers(Embedder):
    """A sentence-transformers model on whatever device it finds, by its name on the hub or its directory.

    Parameters
    ----------
    query_prompt, document_prompt : str, optional
        What to put before a text. By default what the model's own files name, else what is known for its name,
        else nothing.
    """

    def __init__(self, model: str, *, query_prompt: str | None = None, document_prompt: str | None = None) -> None:
        self._model = load(model, "SentenceTransformer")
        query, document = _prompts(model, self._model.prompts)
        dimension = self._model.get_embedding_dimension()
        self.identity = Identity(
            name=_name(model),
            dimension=int(dimension or self._model.encode(["x"]).shape[1]),
            spec=with_options(f"sentence-transformers:{model}", query=query_prompt, document=document_prompt),
            query_prompt=query if query_prompt is None else query_prompt,
            document_prompt=document if document_prompt is None else document_prompt,
            fingerprint=_fingerprint(self._model),
        )

    def _rows(self, texts: Sequence[str], kind: Kind) -> Any:
        # A prompt of "" and not none, which would ask the library for the model's own default prompt.
        return self._model.encode(list(texts), prompt=self.identity.prompt(kind), show_progress_bar=False)


def from_spec(_kind: str, rest: str) -> SentenceTransformers | None:
    """Make the embedder of a name or a path, with its options behind a `#`."""
    model, options = split_options(rest, frozenset({"query", "document"}))
    prompts = {"query_prompt": options.get("query"), "document_prompt": options.get("document")}
    return SentenceTransformers(model, **prompts) if model else None


class SentenceTransformersLate(LateModel):
    """A multi-vector encoder of sentence-transformers 6, which reads PyLate's and ColBERT's models, too.

    Parameters
    ----------
    model : str
        Its name on the hub, or its directory.
    """

    def __init__(self, model: str) -> None:
        self._model = load(model, "MultiVectorEncoder")
        self.identity = Identity(
            name=_name(model),
            dimension=self._encoded("encode_query", ["x"])[0].shape[1],
            spec=f"sentence-transformers:{model}",
            fingerprint=_fingerprint(self._model),
        )

    def query_tokens(self, text: str) -> QueryTokens:
        """Give a query's tokens; words only where the model's tokenizer says which they are."""
        from sentence_transformers.multi_vector_encoder.interpretability import real_query_token_slice

        [rows] = self._encoded("encode_query", [text])
        words, own = [""] * len(rows), real_query_token_slice(self._model, text)
        read = self._model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        if own.stop <= len(rows) and own.stop - own.start == len(read["offset_mapping"]):
            spans = [None if word is None else read.word_to_chars(word) for word in read.word_ids()]
            words[own] = [text[slice(*span)].strip() if span else "" for span in spans]
        return QueryTokens(tuple(words), rows)

    def _rows(self, texts: Sequence[str]) -> list[Floats]:
        return self._encoded("encode_document", texts)

    def _encoded(self, method: str, texts: Sequence[str]) -> list[Floats]:
        made = getattr(self._model, method)(list(texts), show_progress_bar=False)
        return [unit(np.asarray(rows, np.float32)) for rows in made]


def load(model: str, kind: str) -> Any:
    """Load a `SentenceTransformer`, a `CrossEncoder` or a `MultiVectorEncoder`, or say what is missing."""
    looks_like_path = model.startswith(("/", ".", "~"))
    path = Path(model).expanduser()
    if looks_like_path and not path.is_dir():
        raise HopgateError(f"there is no model in {model}: name a directory that holds a sentence-transformers model")
    try:
        import sentence_transformers
    except ImportError:
        raise HopgateError("sentence-transformers is not installed: pip install 'hopgate[models]'") from None
    try:
        return getattr(sentence_transformers, kind)(str(path) if looks_like_path else model)
    except Exception as error:  # the library raises whatever its many loaders raise
        reason = redacted(" ".join(str(error).split()))[:200] or type(error).__name__
        raise HopgateError(f"cannot load {model} as a sentence-transformers {kind}: {reason}") from error


def _name(model: str) -> str:
    return Path(model).name if Path(model).exists() else model


def _prompts(model: str, own: dict[str, str]) -> tuple[str, str]:
    query = own.get("query") or ""
    document = own.get("document") or own.get("passage") or ""
    if not query and not document:
        for pattern, known_query, known_document in KNOWN_PROMPTS:
            if re.search(pattern, model, re.IGNORECASE):
                return known_query, known_document
    return query, document


def _fingerprint(model: Any) -> str:
    """Digest what decides a vector: the layers as they print themselves (pooling, lengths) and the weights."""
    import torch

    digest = hashlib.sha256(repr(model).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
