"""Lists on their way to the server: psycopg looks at each item in Python, three times, which few of ours need."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap, Buffer, Dumper, PyFormat
from psycopg.types.array import BaseListDumper, ListDumper

_BIGINT_ARRAY = 1016


class SentLists:
    """What psycopg is told of lists where a connection begins.

    Examples
    --------
    >>> from psycopg.adapt import Transformer
    >>> sent = Transformer(SentLists()).get_dumper([1, 2], PyFormat.AUTO)
    >>> sent.oid, sent.dump([1, 2])
    (1016, b'{1,2}')
    """

    connection = None

    def __init__(self) -> None:
        self.adapters = AdaptersMap(psycopg.adapters)
        self.adapters.register_dumper(list, _AnyList)


class _Numbers(Dumper):
    """Whole numbers, as one type whatever their size: a statement is then the same one each time."""

    oid = _BIGINT_ARRAY

    def dump(self, obj: list[int]) -> Buffer:
        return f"{{{','.join(map(str, obj))}}}".encode()


class _Texts(Dumper):
    """Texts, each in quotes; their type is left to the statement, as psycopg leaves it."""

    def dump(self, obj: list[str]) -> Buffer:
        quoted = ",".join(['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in obj])
        if "\x00" in quoted:
            raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return f"{{{quoted}}}".encode()


class _AnyList(ListDumper):
    """Sees at a glance which lists are of numbers or of texts alone; the others go psycopg's way."""

    def get_key(self, obj: list[Any], format: PyFormat) -> Any:
        kinds = set(map(type, obj))
        if kinds == {int}:
            return (list, _Numbers)
        if kinds == {str}:
            return (list, _Texts)
        return super().get_key(obj, format)

    def upgrade(self, obj: list[Any], format: PyFormat) -> BaseListDumper:
        kinds = set(map(type, obj))
        if kinds == {int}:
            return _Numbers(list, self._tx)  # type: ignore[return-value]
        if kinds == {str}:
            return _Texts(list, self._tx)  # type: ignore[return-value]
        return super().upgrade(obj, format)
