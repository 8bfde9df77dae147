"""The kinds and relations that a user wants, from a `types.toml`: what they are, and what a model is told of them."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError

_KEYS = {"kinds": ("description", "examples"), "relations": ("description", "examples", "single_valued")}


@dataclass(frozen=True, slots=True)
class WantedType:
    """A kind or a relation: its name, what it is, and examples."""

    name: str
    description: str = ""
    examples: tuple[str, ...] = ()
    single_valued: bool = False

    def __str__(self) -> str:
        said = f"{self.name!r}" + (f" ({self.description})" if self.description else "")
        return said + (f", such as {', '.join(self.examples)}" if self.examples else "")


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The kinds and relations of a `types.toml`.

    Examples
    --------
    >>> table = TypeTable((WantedType("ship"),), (WantedType("moored at", "where a ship lies", single_valued=True),))
    >>> print(table.prompt_text())
    Prefer these kinds where they fit: 'ship'. Prefer these relations where they fit: 'moored at' (where a ship lies).
    >>> table.single_valued
    ('moored at',)
    """

    kinds: tuple[WantedType, ...] = ()
    relations: tuple[WantedType, ...] = ()

    @property
    def single_valued(self) -> tuple[str, ...]:
        """The relations of which a concept has one at a time."""
        return tuple(relation.name for relation in self.relations if relation.single_valued)

    def prompt_text(self) -> str:
        """What a model is told."""
        parts = [
            f"Prefer these {title} where they fit: {'; '.join(map(str, rows))}."
            for title, rows in (("kinds", self.kinds), ("relations", self.relations))
            if rows
        ]
        return " ".join(parts)


def read_type_table(path: str | Path) -> TypeTable:
    """Read a `types.toml`; a name that it does not know is refused with the nearest one."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HopgateError(f"{path} is not TOML: {error}") from None
    _known(values, tuple(_KEYS), str(path))
    rows = {
        part: tuple(_row(name, row, part, f"{path}, [{part}.{name}]") for name, row in (values.get(part) or {}).items())
        for part in _KEYS
    }
    if not any(rows.values()):
        raise HopgateError(f"{path} names neither kinds nor relations: write [kinds.NAME] or [relations.NAME]")
    return TypeTable(**rows)


def _row(name: str, row: Any, part: str, where: str) -> WantedType:
    if not isinstance(row, dict):
        raise HopgateError(f"{where}: a table is expected, with {', '.join(_KEYS[part])}")
    _known(row, _KEYS[part], where)
    examples, single = row.get("examples", []), row.get("single_valued", False)
    if not isinstance(examples, list) or not all(isinstance(example, str) for example in examples):
        raise HopgateError(f"{where}: examples must be a list of strings")
    if not isinstance(single, bool) or not isinstance(row.get("description", ""), str):
        raise HopgateError(f"{where}: description must be a string, and single_valued true or false")
    return WantedType(name, row.get("description", ""), tuple(examples), single)


def _known(values: dict[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in values:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise HopgateError(f"{where}: {name!r} is not known: {advice}")
