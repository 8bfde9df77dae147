"""From a name and its options to an extractor, and the kinds and relations that a model is asked to prefer."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.extract.extraction import Extractor
from hopgate.options import from_toml
from hopgate.plugins import plugin

NAMES = ("phrases", "rules", "llama", "openai", "replay")
# Memories in one call to an endpoint, where so many fit into the model's window: the prompt is paid for once.
TOGETHER = 100
_KEYS = {"kinds": ("description", "examples"), "relations": ("description", "examples", "single_valued")}


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
    name : {"phrases", "rules", "llama", "openai", "replay"} or a plugin's
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
        For `llama` and `openai`: the most memories that go into one call; by default 1 and 100.
    """
    if name not in NAMES and (from_plugin := plugin("extractors", name)):
        made: Extractor = from_plugin(model)
        return made
    if name not in NAMES:
        raise HopgateError(f"there is no extractor {name!r}: use one of {', '.join(NAMES)}")
    if types is not None and name not in ("llama", "openai"):
        raise HopgateError(f"the extractor {name} asks no model: --types is for llama and openai")
    if name in ("phrases", "rules"):
        from hopgate.extract.rules.phrases import Phrases

        return Phrases(changes=name == "phrases")
    if not model:
        what = {"llama": "a GGUF file", "openai": "the model's name", "replay": "a triples.jsonl"}[name]
        raise HopgateError(f"the extractor {name} needs --model: {what}")
    if name == "replay":
        from hopgate.extract.files import Replay

        return Replay(model, known)
    options: dict[str, Any] = {} if types is None else {"types": read_type_table(types)}
    if name == "llama":
        from hopgate.extract.model.llama import Llama

        return Llama(model, together=together or 1, **options)
    from hopgate.extract.model.openai import OpenAI
    from hopgate.http import KEY_VARIABLE

    if url:
        options["base_url"] = url
    return OpenAI(model, api_key=os.environ.get(KEY_VARIABLE, ""), together=together or TOGETHER, **options)


def as_extractor(extractor: str | Extractor) -> Extractor:
    """Make the extractor that a name means; one that is made already is given back."""
    return extractor_from(extractor) if isinstance(extractor, str) else extractor


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The kinds and relations of a `types.toml`: what a model is told of them, and which have one object at a time.

    Examples
    --------
    >>> moored = {"moored at": {"description": "where a ship lies", "single_valued": True}}
    >>> print(type_table({"kinds": {"ship": {}}, "relations": moored}).prompt)
    Prefer these kinds where they fit: 'ship'. Prefer these relations where they fit: 'moored at' (where a ship lies).
    """

    prompt: str
    single_valued: tuple[str, ...]


def shared_types() -> TypeTable:
    """The relations of which the rules know that there is one at a time, so that a model's facts end each other too."""
    from hopgate.extract.rules.facts import SINGLE_VALUED

    return type_table({"relations": {name: {"single_valued": True} for name in sorted(SINGLE_VALUED)}})


def read_type_table(path: str | Path) -> TypeTable:
    """Read a `types.toml`; a name that it does not know is refused with the nearest one."""
    return type_table(from_toml(Path(path)), str(path))


def type_table(values: Mapping[str, Any], path: str = "types.toml") -> TypeTable:
    """Make a table of kinds and relations as TOML has them, `path` being what errors call it."""
    _refuse_unknown(values, tuple(_KEYS), path)
    told: list[str] = []
    for part, keys in _KEYS.items():
        table = values.get(part) or {}
        if not isinstance(table, dict):
            raise HopgateError(f"{path}: {part} is a table of names: write [{part}.NAME]")
        rows = [_described(name, row, keys, f"{path}, [{part}.{name}]") for name, row in table.items()]
        if rows:
            told.append(f"Prefer these {part} where they fit: {'; '.join(rows)}.")
    if not told:
        raise HopgateError(f"{path} names neither kinds nor relations: write [kinds.NAME] or [relations.NAME]")
    single = (name for name, row in values.get("relations", {}).items() if row.get("single_valued"))
    return TypeTable(" ".join(told), tuple(single))


def _described(name: str, row: Any, keys: tuple[str, ...], where: str) -> str:
    """A kind or a relation as a model is told of it: its name, what it is, and examples."""
    if not isinstance(row, dict):
        raise HopgateError(f"{where}: a table is expected, with {', '.join(keys)}")
    _refuse_unknown(row, keys, where)
    description, examples = row.get("description", ""), row.get("examples", [])
    is_list = isinstance(examples, list) and all(isinstance(example, str) for example in examples)
    if not (is_list and isinstance(row.get("single_valued", False), bool) and isinstance(description, str)):
        raise HopgateError(f"{where}: description is a string, examples a list of strings, single_valued true or false")
    such = f", such as {', '.join(examples)}" if examples else ""
    return f"{name!r}{f' ({description})' if description else ''}{such}"


def _refuse_unknown(values: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in values:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise HopgateError(f"{where}: {name!r} is not known: {advice}")
