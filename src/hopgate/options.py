"""Settings as declared fields: a dataclass says once what each means and what it may be.

Made from the fields: environment variables, TOML files and the tables of the docs here, options of commands in
`cli.parameters`, requests by HTTP in `serve.bounds`.
"""

import json
import math
import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hopgate.errors import HopgateError

PREFIX = "HOPGATE_"
FLAGS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
# As `operator` and pydantic call the bounds of a number, and as a person does.
_BOUNDS = {"gt": "more than", "ge": "at least", "le": "at most", "lt": "less than"}
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True, slots=True)
class Option:
    """A declared setting."""

    name: str  # the field's name
    kind: type  # bool, int, float, str or Path; `object` for a value that its class reads from text itself
    default: Any  # what it is where nobody sets it
    meaning: str  # one line for a person
    low: float | None = None  # the least number
    high: float | None = None  # the greatest number
    above: float | None = None  # what a number must exceed
    below: float | None = None  # what it must stay under
    choices: tuple[str, ...] = ()  # the only texts that it may be; empty for any
    several: bool = False  # whether it is a list, given one at a time
    optional: bool = False  # whether it may be None
    called: str = ""  # its name as an option and in errors, where that is not the field's
    alone: str = ""  # what the option means where no value follows it
    shown: str = ""  # its default in words, where the value says too little

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        """The command line's option that sets it."""
        return f"--{(self.called or self.name).replace('_', '-')}"

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds of a number that are set, by what `operator` and pydantic call them."""
        values = (self.above, self.low, self.high, self.below)
        return {name: value for name, value in zip(_BOUNDS, values, strict=True) if value is not None}

    @property
    def limits(self) -> str:
        """What a number of it may be, in words; empty for any."""
        if self.low is not None and self.high is not None:
            return f" between {self.low} and {self.high}"
        parts = [f"{_BOUNDS[name]} {bound}" for name, bound in self.bounds.items()]
        return f" of {' and '.join(parts)}" if parts else ""

    @property
    def default_in_words(self) -> str:
        """Its default for a person; empty where it is nothing."""
        return self.shown or ("" if self.default in ("", None, ()) else typed(self.default))

    def check(self, value: Any) -> None:
        """Refuse what the setting may not be, in a sentence that names it."""
        if (value is None and self.optional) or self.kind is object:
            return
        if self.several and not isinstance(value, list | tuple):
            raise HopgateError(f"{self.called or self.name} is a list, not {value!r}")
        for part in value if self.several else (value,):
            self._check_part(part)

    def _check_part(self, part: Any, called: str = "") -> None:
        if self.choices:
            allowed = part in self.choices
        elif self.kind in (int, float):
            number = isinstance(part, int if self.kind is int else int | float) and not isinstance(part, bool)
            within = (getattr(operator, name)(part, bound) for name, bound in self.bounds.items())
            allowed = number and math.isfinite(part) and all(within)
        else:
            allowed = self.kind not in _KINDS or isinstance(part, self.kind)
        if not allowed:
            wanted = f"is one of {', '.join(self.choices)}" if self.choices else f"must be {_KINDS[self.kind]}"
            raise HopgateError(f"{called or self.called or self.name} {wanted}{self.limits}, not {part!r}")

    def read(self, text: str, called: str = "") -> Any:
        """Read its value from what a person typed or a variable holds; a list is parted by commas, or `none`."""
        if not self.several:
            return self.read_one(text, called)
        if text.strip().lower() == "none":
            return ()
        return tuple(self.read_one(part.strip(), called) for part in text.split(",") if part.strip())

    def read_one(self, text: str, called: str = "") -> Any:
        """Read a value, or one of several."""
        value: Any = text
        try:
            if self.kind is bool:
                value = FLAGS.get(text.lower(), text)
            elif self.kind in (int, float, Path):
                value = self.kind(text)
        except ValueError:
            raise HopgateError(f"{called or self.called or self.name} must be a number, not {text!r}") from None
        self._check_part(value, called)
        return value


def typed(value: Any) -> str:
    """Write a setting's value as a person types it: a list parted by commas, `none` for nothing.

    Examples
    --------
    >>> [typed(value) for value in (True, 0.5, None, ("threads", "titles"), ())]
    ['true', '0.5', 'none', 'threads,titles', 'none']
    """
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def setting(default: Any = MISSING, meaning: str = "", *, repr: bool = True, **more: str | float) -> Any:
    """Declare a setting as the field of a dataclass; `more` is what else an `Option` of it says.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Lamp:
    ...     brightness: int = setting(3, "how bright it is", low=1, high=10)
    ...     colour: Literal["white", "red"] = setting("white", "the colour of its light")
    ...     def __post_init__(self):
    ...         check(self)
    >>> [(option.flag, option.meaning, option.default) for option in options_of(Lamp)]
    [('--brightness', 'how bright it is', 3), ('--colour', 'the colour of its light', 'white')]
    >>> Lamp(brightness=11)
    Traceback (most recent call last):
    hopgate.errors.HopgateError: brightness must be a whole number between 1 and 10, not 11
    >>> environment_values(options_of(Lamp), {"HOPGATE_COLOUR": "red"})
    {'colour': 'red'}
    """
    given: dict[str, Any] = {} if default is MISSING else {"default": default}
    return field(**given, repr=repr, metadata={"setting": {"meaning": meaning, **more}})


_DECLARED: dict[type[Any], tuple[Option, ...]] = {}


def options_of(cls: type[Any]) -> tuple[Option, ...]:
    """Give the settings that a dataclass declares, in their order; other fields of it are none."""
    if cls not in _DECLARED:
        hints = get_type_hints(cls)
        _DECLARED[cls] = tuple(
            Option(row.name, default=row.default, **_kind(hints[row.name]), **row.metadata["setting"])
            for row in fields(cls)
            if "setting" in row.metadata
        )
    return _DECLARED[cls]


def _kind(hint: Any) -> dict[str, Any]:
    parts = [part for part in get_args(hint) if part is not type(None)]
    optional = type(None) in get_args(hint)
    if optional and len(parts) == 1:
        hint = parts[0]
    if get_origin(hint) is tuple:
        return {**_kind(get_args(hint)[0]), "several": True, "optional": optional}
    if get_origin(hint) is Literal:
        return {"kind": str, "choices": get_args(hint), "optional": optional}
    kind = hint if hint in (bool, int, float, str, Path) else object
    return {"kind": kind, "optional": optional}


def check(settings: Any) -> None:
    """Refuse a dataclass's value whose settings are not what they are declared to be; for its `__post_init__`."""
    for option in options_of(type(settings)):
        option.check(getattr(settings, option.name))


def environment_values(options: Iterable[Option], environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read the settings that environment variables name; an empty variable sets nothing."""
    environ = os.environ if environ is None else environ
    return {
        option.name: option.read(environ[option.variable], option.variable)
        for option in options
        if environ.get(option.variable)
    }


def from_toml(path: Path, what: str = "") -> dict[str, Any]:
    """Read a file of settings; `what` names it in an error, such as "the settings file "."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HopgateError(f"{what}{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise HopgateError(f"{what}{path} is not TOML: {error}") from None


def to_toml(values: Mapping[str, Any]) -> str:
    r"""Write settings as the lines of a TOML file."""
    # TOML's texts, numbers, flags and lists of them are written as JSON's are.
    return "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def as_rows(options: Iterable[Option]) -> list[dict[str, str]]:
    """Give name, meaning, default and limits of settings, as the lines of a table."""
    return [
        {
            "name": option.name,
            "meaning": option.meaning,
            "default": option.default_in_words or "none",
            "limits": ", ".join(option.choices) or option.limits.strip().removeprefix("of "),
        }
        for option in options
    ]


@dataclass(frozen=True)
class Environment:
    """What variables say of where things are; those that set recall are its settings' names behind `HOPGATE_`."""

    store: str = setting("", "where the store is: a folder, or postgresql://…", shown="the user's data directory")
    cache: str = setting("", "the folder of the caches", shown="the user's cache directory")
    embedder: str = setting("", "the embedder of a store that has no vectors yet", shown="bge-small")
    linger: float | None = setting(
        None, "seconds that an embedded server outlives its last user", low=0, shown="300 of a command, else 0"
    )
    settings: str = setting("", "a settings.toml to use in the place of the store's", shown="the store's own")


def environment() -> Environment:
    """Read the variables as they are now."""
    return Environment(**environment_values(options_of(Environment)))
