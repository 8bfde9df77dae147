"""From a name and its options to an extractor; each is imported only where it is named."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hopgate.errors import HopgateError
from hopgate.extract.extractor import Extractor

if TYPE_CHECKING:
    from hopgate.extract.model.type_table import TypeTable

NAMES = ("phrases", "rules", "llama", "openai", "replay")
# Memories in one call to an endpoint: between ten and twenty-five, so that the prompt is paid for once and an answer
# still has room.
TOGETHER = 16


def extractor_from(
    name: str = "phrases",
    *,
    model: str | None = None,
    url: str | None = None,
    known: Collection[str] | None = None,
    types: str | Path | None = None,
    together: int | None = None,
) -> Extractor:
    """Make an extractor.

    Parameters
    ----------
    name : {"phrases", "rules", "llama", "openai", "replay"}
        `rules` are `phrases` without the model of changes: thousands of memories a second, and fewer changes seen.
    model : str, optional
        A GGUF file for `llama`, the model's name for `openai`, a `triples.jsonl` for `replay`.
    url : str, optional
        The endpoint for `openai`, ending in `/v1`; its key comes from `OPENAI_API_KEY`.
    known : collection of str, optional
        For `replay`: the ids that exist, so that a row about another is refused.
    types : path, optional
        For `llama` and `openai`: a `types.toml` with the kinds and relations that are wanted.
    together : int, optional
        For `llama` and `openai`: how many memories go into one call; by default 1 and 16.

    Examples
    --------
    >>> extractor_from("phrases")
    Phrases(facts=True, changes=True)
    """
    if types is not None and name not in ("llama", "openai"):
        raise HopgateError(f"the extractor {name} asks no model: --types is for llama and openai")
    if name in ("phrases", "rules"):
        from hopgate.extract.rules.phrases import Phrases

        return Phrases(changes=name == "phrases")
    if name not in NAMES:
        raise HopgateError(f"there is no extractor {name!r}: use one of {', '.join(NAMES)}")
    if not model:
        what = {"llama": "a GGUF file", "openai": "the model's name", "replay": "a triples.jsonl"}[name]
        raise HopgateError(f"the extractor {name} needs --model: {what}")
    if name == "llama":
        from hopgate.extract.model.llama import Llama

        return Llama(model, together=together or 1, types=_table(types))
    if name == "openai":
        from hopgate.extract.model.openai import OpenAI
        from hopgate.http import KEY_VARIABLE

        key = os.environ.get(KEY_VARIABLE, "")
        made = OpenAI(model, api_key=key, together=together or TOGETHER, types=_table(types))
        return replace(made, base_url=url) if url else made
    from hopgate.extract.replay import Replay

    return Replay(model, known)


def as_extractor(extractor: str | Extractor) -> Extractor:
    """Make the extractor that a name means; one that is made already is given back.

    Examples
    --------
    >>> as_extractor("phrases") == as_extractor(as_extractor("phrases"))
    True
    """
    return extractor_from(extractor) if isinstance(extractor, str) else extractor


def _table(path: str | Path | None) -> TypeTable:
    from hopgate.extract.model.type_table import TypeTable, read_type_table

    return TypeTable() if path is None else read_type_table(path)
