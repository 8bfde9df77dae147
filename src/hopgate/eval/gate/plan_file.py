"""The plan of a gate as a file: what is declared before anything is run, and its hash."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from hopgate.errors import HopgateError
from hopgate.eval.gate.plan import GateOptions, Policy

FILE = "plan.toml"
# The policy's level of rank and its seed follow from others.
_DERIVED = ("rank_alpha", "seed")
_POLICY = tuple(each.name for each in fields(Policy) if each.name not in _DERIVED)
_OPTIONS = tuple(each.name for each in fields(GateOptions))


def make_plan(settings: Mapping[str, Any]) -> tuple[GateOptions, Policy]:
    """Make options and policy of what was declared; what was not has its default.

    Examples
    --------
    >>> options, policy = make_plan({"alpha": 0.01, "k": 5, "slices": ["hops=2"]})
    >>> policy.alpha, options.k, options.slices
    (0.01, 5, ('hops=2',))
    """
    for name in settings:
        if name not in (*_POLICY, *_OPTIONS):
            raise HopgateError(f"a plan has no {name!r}: it has {', '.join(sorted({*_POLICY, *_OPTIONS}))}")
    defaults = {**asdict(Policy()), **asdict(GateOptions())}
    for name, value in settings.items():
        kind = type(defaults[name])
        if not isinstance(value, (int, float) if kind is float else (list, tuple) if kind is tuple else kind) or (
            isinstance(value, bool) is not (kind is bool)
        ):
            raise HopgateError(f"{name} in a plan is a {_IN_WORDS[kind]}, not {value!r}")
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()
    }
    options = GateOptions(**{name: value for name, value in given.items() if name in _OPTIONS})
    policy = Policy(seed=options.seed, **{name: value for name, value in given.items() if name in _POLICY})
    return options, policy


_IN_WORDS = {float: "number", int: "whole number", bool: "true or false", str: "text", tuple: "list of texts"}


def plan_text(options: GateOptions, policy: Policy) -> str:
    """Write the plan as TOML, everything that was declared or left at its default.

    Examples
    --------
    >>> print(plan_text(GateOptions(), Policy()).splitlines()[1])
    alpha = 0.05
    """
    declared = {name: getattr(policy, name) for name in _POLICY} | {name: getattr(options, name) for name in _OPTIONS}
    lines = [f"{name} = {_toml(value)}" for name, value in declared.items()]
    return "\n".join(["# The plan of a gate, declared before it is run.", *lines]) + "\n"


def plan_hash(text: str) -> str:
    """Name a plan by its content.

    Examples
    --------
    >>> plan_hash("alpha = 0.05")
    '32b2450880c2'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_plan(path: Path) -> dict[str, Any]:
    """Read what a plan declares."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HopgateError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HopgateError(f"{path} is not TOML: {error}") from None


def declared(path: Path | None, given: Mapping[str, Any]) -> tuple[GateOptions, Policy, str]:
    """Give options, policy and the plan's text: from its file where there is one, which is written where there is none.

    Parameters
    ----------
    path : Path, optional
        The plan's file.
    given : mapping
        What the call itself says, None for nothing: it may not contradict the file.
    """
    said = {name: value for name, value in given.items() if value is not None}
    if path is not None and path.exists():
        plan = read_plan(path)
        for name, value in said.items():
            if name in plan and plan[name] != (list(value) if isinstance(value, tuple) else value):
                raise HopgateError(
                    f"{path} declares {name} = {plan[name]!r}, not {value!r}: change the plan, or leave it out"
                )
        options, policy = make_plan({**plan, **said})
        return options, policy, path.read_text(encoding="utf-8")
    options, policy = make_plan(said)
    text = plan_text(options, policy)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return options, policy, text


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value)
