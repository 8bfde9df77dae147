"""From a name and its options to an extractor; each is imported only where it is named."""

from __future__ import annotations

import os
from collections.abc import Collection

from hopgate.errors import HopgateError
from hopgate.extract.extractor import Extractor

NAMES = ("phrases", "llama", "openai", "replay")


def extractor_from(
    name: str = "phrases", *, model: str | None = None, url: str | None = None, known: Collection[str] | None = None
) -> Extractor:
    """Make an extractor.

    Parameters
    ----------
    name : {"phrases", "llama", "openai", "replay"}
    model : str, optional
        A GGUF file for `llama`, the model's name for `openai`, a `triples.jsonl` for `replay`.
    url : str, optional
        The endpoint for `openai`, ending in `/v1`; its key comes from `OPENAI_API_KEY`.
    known : collection of str, optional
        For `replay`: the ids that exist, so that a row about another is refused.

    Examples
    --------
    >>> extractor_from("phrases")
    Phrases(facts=True)
    """
    if name == "phrases":
        from hopgate.extract.rules.phrases import Phrases

        return Phrases()
    if name not in NAMES:
        raise HopgateError(f"there is no extractor {name!r}: use one of {', '.join(NAMES)}")
    if not model:
        what = {"llama": "a GGUF file", "openai": "the model's name", "replay": "a triples.jsonl"}[name]
        raise HopgateError(f"the extractor {name} needs --model: {what}")
    if name == "llama":
        from hopgate.extract.model.llama import Llama

        return Llama(model)
    if name == "openai":
        from hopgate.extract.model.openai import OpenAI
        from hopgate.http import KEY_VARIABLE

        key = os.environ.get(KEY_VARIABLE, "")
        return OpenAI(model, url, api_key=key) if url else OpenAI(model, api_key=key)
    from hopgate.extract.replay import Replay

    return Replay(model, known)
