"""Filters by fields: `{"tags": "home", "created_at": {"gte": "2024-01-01"}}` as a condition on memories. Pure."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar, TypeAlias

from hopgate.errors import HopgateError
from hopgate.times import moment, utc

Conditions: TypeAlias = Mapping[str, Any]
"""Fields with what they must be, and `AND`, `OR` and `NOT` over conditions."""

COMPARISONS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
OPERATORS = ("eq", "ne", *COMPARISONS, "in", "nin", "contains", "icontains")
COMBINED = ("AND", "OR", "NOT")
# Each condition is a part of the statement, which PostgreSQL plans anew.
MOST_CONDITIONS = 100


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions that were checked, as SQL on `memories` with its parameters; several fields must all be so.

    A field that a memory does not have is nothing: only `ne`, `nin` and `NOT` are true of it. Of tags and keywords one
    must be so. Operators may begin with a $.

    Examples
    --------
    >>> where = Where.of({"category": {"in": ["work", "health"]}, "NOT": {"tags": "old"}})
    >>> where.sql  # doctest: +NORMALIZE_WHITESPACE
    '(coalesce(category = %(where_0)s OR category = %(where_1)s, false) AND NOT
    ((coalesce(tags @> ARRAY[%(where_2)s]::text[], false))))'
    >>> where.parameters
    {'where_0': 'work', 'where_1': 'health', 'where_2': 'old'}
    >>> Where.of({"colour": "red"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopgate.errors.HopgateError: where: there is no field 'colour': there are id, content, category, scope, ...
    """

    sql: str
    parameters: Mapping[str, Any] = field(hash=False)

    @classmethod
    def of(cls, conditions: Conditions | str) -> Where:
        """Check conditions, given as a mapping or as JSON, and write them as SQL."""
        conditions = read_conditions(conditions)
        parameters: dict[str, Any] = {}

        def parameter(value: Any) -> str:
            name = f"where_{len(parameters)}"
            if len(parameters) == MOST_CONDITIONS:
                raise _refused(f"it has more than {MOST_CONDITIONS} conditions")
            parameters[name] = value
            return f"%({name})s"

        try:
            return cls(_all_of(conditions, parameter), parameters)
        except RecursionError:
            raise _refused("it is nested too deeply") from None


def read_conditions(given: Conditions | str) -> Conditions:
    """Read conditions that may be JSON."""
    if not isinstance(given, str):
        return given
    try:
        conditions: Conditions = json.loads(given)
    except (ValueError, RecursionError):
        raise _refused(f'{given!r:.60} is not JSON: write {{"tags": "home"}}, for example') from None
    return conditions


Parameter: TypeAlias = Callable[[Any], str]
"""Takes a value into the statement's parameters; gives what stands for it in the statement."""


def _all_of(conditions: object, parameter: Parameter) -> str:
    if not isinstance(conditions, Mapping):
        raise _refused(f"conditions are a mapping from fields to values, not {conditions!r:.60}")
    return _joined((condition for item in conditions.items() for condition in _each(*item, parameter)), "AND")


def _joined(conditions: Iterable[str], by: str) -> str:
    return f"({f' {by} '.join(conditions) or 'true'})"


def _each(name: str, wanted: Any, parameter: Parameter) -> Iterator[str]:
    """Write what one key asks: of a field, or of conditions together."""
    if not isinstance(name, str):
        raise _refused(f"a field's name is a text, not {name!r:.60}")
    word = name.removeprefix("$").upper()
    if word not in COMBINED:
        yield from _on_field(name, wanted, parameter)
        return
    several = wanted if isinstance(wanted, list | tuple) else [wanted]
    if not several:
        raise _refused(f"{word} needs conditions: a list of mappings")
    # Of several that are not to be so none may be.
    inner = _joined([_all_of(one, parameter) for one in several], "AND" if word == "AND" else "OR")
    yield f"NOT {inner}" if word == "NOT" else inner


def _on_field(name: str, wanted: Any, parameter: Parameter) -> Iterator[str]:
    """Write what one field must be: a value, one of several, or what operators say, all of them."""
    field = _field(name, parameter)
    if not isinstance(wanted, Mapping):
        wanted = {"in" if isinstance(wanted, list | tuple | set) else "eq": wanted}
    if not wanted:
        raise _refused(f"{name} needs a value, or an operator with one: {', '.join(OPERATORS)}")
    for written, value in wanted.items():
        operator = str(written).removeprefix("$").lower()
        if operator not in field.operators:
            raise _refused(f"{name} has no operator {written!r:.40}: there are {', '.join(field.operators)}")
        if operator in ("in", "nin"):
            if not isinstance(value, list | tuple | set):
                raise _refused(f"{name} {operator} takes a list, not {value!r:.60}")
            condition = " OR ".join([field.equal(field.checked(one)) for one in value]) or "false"
        elif operator in ("eq", "ne"):
            condition = field.equal(field.checked(value))
        elif operator in COMPARISONS:
            condition = field.compared(field.checked(value), COMPARISONS[operator])
        else:
            condition = field.holding(field.checked(value), "lower({})" if operator == "icontains" else "{}")
        yield f"{'NOT ' if operator in ('ne', 'nin') else ''}coalesce({condition}, false)"


def _field(name: str, parameter: Parameter) -> _Field:
    if name.startswith("extra.") and len(name) > len("extra."):
        return _Extra(name, parameter)
    if name not in _FIELDS:
        known = ", ".join(_FIELDS)
        raise _refused(f"there is no field {name!r:.60}: there are {known} and extra.NAME for a field of your own")
    return _FIELDS[name](name, parameter)


@dataclass(frozen=True)
class _Field:
    """A field, and what it can be asked, as SQL."""

    name: str
    parameter: Parameter

    operators: ClassVar[Sequence[str]] = OPERATORS
    kind: ClassVar[str] = "a text"

    @property
    def column(self) -> str:
        return "external_id" if self.name == "id" else self.name

    def checked(self, value: Any) -> Any:
        """Give a value as the database has it; another is refused."""
        if not isinstance(value, str) or "\0" in value:
            raise self.refused(value)
        return value

    def refused(self, value: Any) -> HopgateError:
        return _refused(f"{self.name} is compared with {self.kind}, not {value!r:.60}")

    def equal(self, value: Any) -> str:
        return f"{self.column} = {self.parameter(value)}"

    def compared(self, value: Any, sign: str) -> str:
        return f'{self.column} COLLATE "C" {sign} {self.parameter(value)}'

    def holding(self, value: str, folded: str) -> str:
        return f"position({folded.format(self.parameter(value))} IN {folded.format(self.column)}) > 0"


class _Several(_Field):
    operators = ("eq", "ne", "in", "nin", "contains", "icontains")

    def equal(self, value: Any) -> str:
        return f"{self.column} @> ARRAY[{self.parameter(value)}]::text[]"

    def holding(self, value: str, folded: str) -> str:
        if folded == "{}":
            return self.equal(value)
        return f"lower({self.parameter(value)}) = ANY(lower({self.column}::text)::text[])"


class _Number(_Field):
    operators = ("eq", "ne", *COMPARISONS, "in", "nin")
    kind = "a number"

    def checked(self, value: Any) -> float:
        if not _is_number(value):
            raise self.refused(value)
        return float(value)

    def compared(self, value: Any, sign: str) -> str:
        return f"{self.column} {sign} {self.parameter(value)}"


class _Time(_Number):
    kind = "an ISO date or time"

    def checked(self, value: Any) -> Any:
        time = moment(value) if isinstance(value, str) else utc(value) if isinstance(value, date) else None
        if time is None:
            raise self.refused(value)
        return time


class _Flag(_Field):
    operators = ("eq", "ne")
    kind = "true or false"

    def checked(self, value: Any) -> Any:
        if not isinstance(value, bool):
            raise self.refused(value)
        return value


# A number as a table has it; what begins with a 0, such as a telephone number, is none.
_NUMBER = r"^-?(0|[1-9]\d{0,14})([.]\d{1,15})?$"


class _Extra(_Field):
    """A field of the owner's own: a text, a number or a flag, or a list of which one must be so."""

    kind = "a text, a number, true or false"

    @property
    def column(self) -> str:
        return f"(extra #> {self.parameter(self.name.split('.')[1:])}::text[])"

    def checked(self, value: Any) -> Any:
        return value if isinstance(value, bool) or _is_number(value) else super().checked(value)

    def equal(self, value: Any) -> str:
        # As an object, for which there is an index.
        whole: list[Any] = [value, [value]]
        for key in reversed(self.name.split(".")[1:]):
            whole = [{key: inner} for inner in whole]
        return " OR ".join(f"extra @> {self.parameter(json.dumps(form))}::jsonb" for form in whole)

    def compared(self, value: Any, sign: str) -> str:
        if isinstance(value, bool):
            raise self.refused(value)
        column, wanted = self.column, self.parameter(value)
        text = f"({column} #>> '{{}}')"
        if isinstance(value, str):
            return f"CASE jsonb_typeof({column}) WHEN 'string' THEN {text} COLLATE \"C\" {sign} {wanted} END"
        # The numbers of a table in a file are texts: they are kept as they were written, and compared as numbers.
        is_number = f"jsonb_typeof({column}) = 'number' OR jsonb_typeof({column}) = 'string' AND {text} ~ '{_NUMBER}'"
        return f"CASE WHEN {is_number} THEN {text}::float8 {sign} {wanted} END"

    def holding(self, value: Any, folded: str) -> str:
        if not isinstance(value, str):
            return self.equal(value)
        column = self.column
        values = f"CASE jsonb_typeof({column}) WHEN 'array' THEN {column} ELSE jsonb_build_array({column}) END"
        held = f"position({folded.format(self.parameter(value))} IN {folded.format('held')}) > 0"
        return f"EXISTS (SELECT FROM jsonb_array_elements_text({values}) AS held WHERE {held})"


_FIELDS: dict[str, type[_Field]] = {
    **dict.fromkeys(("id", "content", "category", "scope", "thread"), _Field),
    **dict.fromkeys(("tags", "expanded_keywords"), _Several),
    "importance": _Number,
    "created_at": _Time,
    "is_sensitive": _Flag,
}


def _is_number(value: Any) -> bool:
    """Whether a value is a number that PostgreSQL has, too."""
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) <= sys.float_info.max


def _refused(reason: str) -> HopgateError:
    return HopgateError(f"where: {reason}")
