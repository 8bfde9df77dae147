"""The shapes that the charts are made of, as SVG in percentages; colours come from the page's style by class."""

from __future__ import annotations

from html import escape
from typing import Any


def svg(body: str, height: int, label: str) -> str:
    """Wrap shapes in a picture as wide as its container."""
    return f'<svg width="100%" height="{height}" role="img" aria-label="{escape(label)}">{body}</svg>'


def plot(body: str, label: str) -> str:
    """Wrap the shapes of one row of a chart: as wide and as high as its container."""
    return f'<svg class="row-plot" width="100%" height="30" role="img" aria-label="{escape(label)}">{body}</svg>'


def upright(x: float, kind: str) -> str:
    """Draw a line over the whole height of a row."""
    return f'<line x1="{x:g}%" y1="0" x2="{x:g}%" y2="100%" class="{kind}"/>'


def band(x: float, width: float, kind: str) -> str:
    """Shade a part of a row over its whole height."""
    return f'<rect x="{x:g}%" y="0" width="{width:g}%" height="100%" class="{kind}"/>'


def whisker(low: float, value: float, high: float, kind: str, title: str) -> str:
    """Draw a point and its interval in the middle of a row."""
    shape = f'<line x1="{low:g}%" y1="50%" x2="{high:g}%" y2="50%" class="whisker {kind}"/>'
    return shape + f'<circle cx="{value:g}%" cy="50%" r="5.5" class="point {kind}">{_title(title)}</circle>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Draw a line; x in percent, y in pixels."""
    return f'<line x1="{x1:g}%" y1="{y1:g}" x2="{x2:g}%" y2="{y2:g}" class="{kind}"/>'


def dot(x: float, y: float, kind: str, radius: float = 5.5, title: str = "") -> str:
    """Draw a point, with a tooltip."""
    return f'<circle cx="{x:g}%" cy="{y:g}" r="{radius:g}" class="{kind}">{_title(title)}</circle>'


def bar(x: float, y: float, width: float, height: float, kind: str, title: str = "") -> str:
    """Draw a bar; x and width in percent, y and height in pixels."""
    shape = f'x="{x:g}%" y="{y:g}" width="{width:g}%" height="{height:g}"'
    return f'<rect {shape} class="{kind}">{_title(title)}</rect>'


def text(x: float, y: float, words: Any, kind: str = "tick", anchor: str = "middle") -> str:
    """Write words; x in percent, y in pixels."""
    return f'<text x="{x:g}%" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(str(words))}</text>'


def link(target: str, body: str) -> str:
    """Link shapes to an anchor on the page."""
    return f'<a href="#{escape(target)}">{body}</a>'


def _title(words: str) -> str:
    return f"<title>{escape(words)}</title>" if words else ""
