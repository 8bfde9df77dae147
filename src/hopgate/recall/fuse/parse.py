"""Text → value: reads back what a fuser, a prior or a bonus prints."""

from __future__ import annotations

import ast
from typing import TypeAlias

from hopgate.errors import HopgateError
from hopgate.options import expression
from hopgate.recall.fuse.convex import TM2C2
from hopgate.recall.fuse.exact import ExactMatch
from hopgate.recall.fuse.minmax import MinMax
from hopgate.recall.fuse.prior import Importance
from hopgate.recall.fuse.rrf import RRF
from hopgate.recall.fuse.stretched import StretchedRRF

AnyFuser: TypeAlias = RRF | StretchedRRF | TM2C2 | MinMax
Value: TypeAlias = AnyFuser | Importance | ExactMatch

FUSERS: dict[str, type[AnyFuser]] = {kind.__name__: kind for kind in (RRF, StretchedRRF, TM2C2, MinMax)}
_VALUES: dict[str, type[Value]] = {**FUSERS, Importance.__name__: Importance, ExactMatch.__name__: ExactMatch}


def parse(text: str) -> AnyFuser:
    """Read a fuser from what it prints; a name alone is the fuser with its defaults.

    Nothing is evaluated: the text is one name and keyword arguments that are plain numbers or names to numbers.

    Examples
    --------
    >>> parse("RRF(k=60, lexical=1, dense=1, graph=1.2)")
    RRF(k=60, lexical=1, dense=1, graph=1.2)
    >>> parse("TM2C2")
    TM2C2(lexical=1, dense=1, graph=1)
    >>> parse("RRF(j=60)")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: RRF has no setting 'j': it has dense, graph, k, lexical, others
    """
    value = parse_value(text)
    if not isinstance(value, RRF | StretchedRRF | TM2C2 | MinMax):
        raise HopgateError(f"{text!r} is not a fuser: use one of {', '.join(FUSERS)}")
    return value


def parse_value(text: str) -> Value:
    """Read a fuser, an importance prior or an exact-match bonus from what it prints.

    Examples
    --------
    >>> parse_value("Importance(floor=0.8)")
    Importance(floor=0.8)
    """
    try:
        tree = expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise HopgateError(f"cannot read {text!r}: write it like {RRF()!r}") from None
    call = tree if isinstance(tree, ast.Call) else ast.Call(func=tree, args=[], keywords=[])
    if not isinstance(call.func, ast.Name) or call.func.id not in _VALUES:
        raise HopgateError(f"cannot read {text!r}: it starts with none of {', '.join(_VALUES)}")
    kind = _VALUES[call.func.id]
    if call.args:
        raise HopgateError(f"cannot read {text!r}: every setting of {kind.__name__} is named, like {RRF()!r}")
    known = kind.__dataclass_fields__
    settings = {}
    for keyword in call.keywords:
        if keyword.arg not in known:
            raise HopgateError(
                f"{kind.__name__} has no setting {keyword.arg or '**'!r}: it has {', '.join(sorted(known))}"
            )
        try:
            settings[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise HopgateError(f"cannot read {keyword.arg} in {text!r}: it must be a plain number") from None
    return _built(kind, settings, text)


def _built(kind: type[Value], settings: dict[str, object], text: str) -> Value:
    for name in ("others", "minima"):
        if name in settings and not isinstance(settings[name], dict):
            raise HopgateError(f"cannot read {name} in {text!r}: write it like {{'title': 1}}")
    return kind(**settings)  # type: ignore[arg-type]
