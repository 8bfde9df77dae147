"""Text → walk: reads back what a walk prints."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from hopgate.errors import HopgateError
from hopgate.expressions import expression
from hopgate.graph.walk.rank import Walk
from hopgate.graph.walk.seeds import Seeding

_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Walk, Seeding)}


@lru_cache(maxsize=16)
def walk_from(text: str) -> Walk:
    """Read a walk from what it prints. Nothing is evaluated: names and keyword arguments that are plain numbers.

    Examples
    --------
    >>> walk_from(repr(Walk(damping=0.5))) == Walk(damping=0.5)
    True
    >>> walk_from("Walk(speed=2)")
    Traceback (most recent call last):
    hopgate.errors.HopgateError: cannot read the walk 'Walk(speed=2)': Walk has no setting 'speed'
    """
    try:
        value = _value(expression(text))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        reason = error.args[0] if isinstance(error, ValueError) and error.args else "write it as a walk prints"
        raise HopgateError(f"cannot read the walk {text!r}: {reason}") from None
    if not isinstance(value, Walk):
        raise HopgateError(f"cannot read the walk {text!r}: it does not start with Walk(")
    return value


def _value(tree: ast.expr) -> Any:
    if not isinstance(tree, ast.Call):
        return ast.literal_eval(tree)
    kind = _KINDS.get(tree.func.id) if isinstance(tree.func, ast.Name) else None
    if kind is None or tree.args:
        raise ValueError(f"it is made of {' and '.join(_KINDS)}, with every setting named")
    for keyword in tree.keywords:
        if keyword.arg not in kind.__dataclass_fields__:
            raise ValueError(f"{kind.__name__} has no setting {keyword.arg!r}")
    return kind(**{str(keyword.arg): _value(keyword.value) for keyword in tree.keywords})
