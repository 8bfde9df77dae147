"""From a name and its options to an extractor, and the relations that a model is asked to prefer."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extractor
from hopgate.plugins import plugin

NAMES = ("phrases", "rules", "llama", "openai", "replay")
# Memories in one call to an endpoint, where so many fit into the model's window: the prompt is paid for once.
TOGETHER = 100


def extractor_from(
    name: str = "phrases",
    *,
    model: str | None = None,
    url: str | None = None,
    known: Collection[str] | None = None,
    together: int | None = None,
) -> Extractor:
    """Make an extractor.

    Parameters
    ----------
    name : {"phrases", "rules", "llama", "openai", "replay"} or a plugin's
        `rules` are `phrases` without the model of changes: thousands of memories a second, and fewer changes seen.
    model : str, optional
        A GGUF file for `llama`, the model's name for `openai`, a `triples.jsonl` for `replay`.
    url : str, optional
        The endpoint for `openai`, ending in `/v1`; its key comes from `OPENAI_API_KEY`.
    known : collection of str, optional
        For `replay`: the ids that exist, so that a row about another is refused.
    together : int, optional
        For `llama` and `openai`: the most memories that go into one call; by default 1 and 100.
    """
    if name not in NAMES and (from_plugin := plugin("extractors", name)):
        made: Extractor = from_plugin(model)
        return made
    if name not in NAMES:
        raise HopgateError(f"there is no extractor {name!r}: use one of {', '.join(NAMES)}")
    if name in ("phrases", "rules"):
        from hopgate.extract.rules.phrases import Phrases

        return Phrases(changes=name == "phrases")
    if not model:
        what = {"llama": "a GGUF file", "openai": "the model's name", "replay": "a triples.jsonl"}[name]
        raise HopgateError(f"the extractor {name} needs --model: {what}")
    if name == "replay":
        from hopgate.extract.files import Replay

        return Replay(model, known)
    if name == "llama":
        from hopgate.extract.model.llama import Llama

        return Llama(model, together=together or 1)
    from hopgate.extract.model.openai import OpenAI
    from hopgate.http import KEY_VARIABLE

    options: dict[str, Any] = {"base_url": url} if url else {}
    return OpenAI(model, api_key=os.environ.get(KEY_VARIABLE, ""), together=together or TOGETHER, **options)


def as_extractor(extractor: str | Extractor) -> Extractor:
    """Make the extractor that a name means; one that is made already is given back."""
    return extractor_from(extractor) if isinstance(extractor, str) else extractor


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The relations that a model is asked to prefer: what it is told of them, and which have one object at a time."""

    prompt: str
    single_valued: tuple[str, ...]


def shared_types() -> TypeTable:
    """The relations of which the rules know that there is one at a time, so that a model's facts end each other too."""
    from hopgate.extract.rules.facts import SINGLE_VALUED

    names = tuple(sorted(SINGLE_VALUED))
    return TypeTable(f"Prefer these relations where they fit: {'; '.join(map(repr, names))}.", names)
