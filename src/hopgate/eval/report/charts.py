"""The report's charts: rows of dots with intervals, the weight sweep, and each query's gain or loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hopgate.eval.report.marks import band, bar, dot, line, link, plot, svg, text, upright, whisker
from hopgate.eval.report.scale import AxisScale, fitted


@dataclass(frozen=True)
class Row:
    """One line of a chart: a name, a picture, and its figure."""

    name: str
    note: str
    picture: str
    figure: str
    kind: str = ""


@dataclass(frozen=True)
class Chart:
    """Rows that share an axis."""

    rows: tuple[Row, ...]
    axis: str


def axis(scale: AxisScale, *, sign: bool = False) -> str:
    """Draw the ticks under a chart."""
    labels = [
        text(scale.at(tick), 14, f"{tick:+g}" if sign and tick else f"{tick:g}", "tick", "middle")
        for tick in scale.ticks()
    ]
    return svg("".join(labels), 18, "axis")


def intervals(items: Sequence[tuple[str, str, float, tuple[float, float], str]]) -> Chart:
    """Draw a dot with an interval for each (name, note, value, interval, kind)."""
    scale = fitted([edge for _, _, value, (low, high), _ in items for edge in (value, low, high)], floor=0.0)
    grid = "".join(upright(scale.at(tick), "grid") for tick in scale.ticks())
    rows = []
    for name, note, value, (low, high), kind in items:
        tooltip = f"{name}: {value:.3f} ({low:.3f} to {high:.3f})"
        shape = whisker(scale.at(low), scale.at(value), scale.at(high), kind, tooltip)
        rows.append(Row(name, note, plot(grid + shape, tooltip), f"{value:.3f}", kind))
    return Chart(tuple(rows), axis(scale))


def differences(
    items: Sequence[tuple[str, str, float, tuple[float, float], str]], *, margin: float, worthwhile: float
) -> Chart:
    """Draw differences with intervals around 0, with the margins of harm and of what is worthwhile."""
    edges = [edge for _, _, value, (low, high), _ in items for edge in (value, low, high)]
    scale = fitted([*edges, -margin * 1.5, worthwhile * 1.5])
    grid = band(scale.at(-margin), scale.at(worthwhile) - scale.at(-margin), "band")
    grid += "".join(upright(scale.at(tick), "grid") for tick in scale.ticks()) + upright(scale.at(0), "zero")
    rows = []
    for name, note, value, (low, high), kind in items:
        tooltip = f"{name}: {value:+.3f} ({low:+.3f} to {high:+.3f})"
        shape = whisker(scale.at(low), scale.at(value), scale.at(high), kind, tooltip)
        rows.append(Row(name, note, plot(grid + shape, tooltip), f"{value:+.3f}", kind))
    return Chart(tuple(rows), axis(scale, sign=True))


def sweep(
    values: Mapping[float, float],
    *,
    needed: float | None,
    chosen: float | None,
    base: float | None,
    measure: str,
) -> str:
    """Draw the measure against the graph weight, with the weight that a graph-only memory needs to enter the top k."""
    height, top, bottom = 280, 34, 236
    weights = sorted(values)
    across = fitted([0.0, *weights, *([needed] if needed is not None else [])], start=11.0, end=97.0, floor=0.0)
    spread = fitted([*values.values(), *([base] if base is not None else [])])
    up = AxisScale(spread.low, spread.high, bottom, top)
    body = ""
    if needed is not None and needed > 0:
        body += bar(across.start, top, across.at(needed) - across.start, bottom - top, "barred")
        body += line(across.at(needed), top - 6, across.at(needed), bottom, "threshold")
        side, gap = ("end", -1.0) if across.at(needed) > 55 else ("start", 1.0)
        label = f"reachable above {needed:.2f}"
        body += text(across.at(needed) + gap, top - 10, label, "label threshold-label", side)
    for tick in up.ticks():
        body += line(across.start, up.at(tick), across.end, up.at(tick), "grid")
        body += text(across.start - 1.5, up.at(tick) + 4, f"{tick:g}", "tick", "end")
    for tick in across.ticks(6):
        body += text(across.at(tick), bottom + 18, f"{tick:g}")
    body += text((across.start + across.end) / 2, bottom + 36, "weight of the graph leg", "label")
    if base is not None:
        body += line(across.start, up.at(base), across.end, up.at(base), "base-line")
        below = values[weights[-1]] >= base  # on the side where the curve is not
        body += text(across.end, up.at(base) + (15 if below else -6), "without the graph", "label", "end")
    for left, right in pairwise(weights):
        body += line(across.at(left), up.at(values[left]), across.at(right), up.at(values[right]), "curve")
    for weight in weights:
        tooltip = f"weight {weight:g}: {measure} {values[weight]:.3f}"
        picked = chosen is not None and abs(weight - chosen) < 1e-9
        place = (across.at(weight), up.at(values[weight]))
        body += dot(*place, "point challenger" if picked else "point sweep", 7 if picked else 4, tooltip)
    return svg(body, height, f"{measure} by weight of the graph leg")


def among(real: float, shuffles: Sequence[float], base: float, measure: str) -> str:
    """Draw where the real graph stands among its shuffles, with the base as a line."""
    scale = fitted([real, base, *shuffles])
    body = "".join(line(scale.at(tick), 8, scale.at(tick), 52, "grid") for tick in scale.ticks())
    body += "".join(text(scale.at(tick), 70, f"{tick:g}") for tick in scale.ticks())
    body += line(scale.at(base), 4, scale.at(base), 56, "base-line")
    for number, value in enumerate(sorted(shuffles)):
        # Spread a little in height, so that shuffles that score alike can be counted.
        body += dot(scale.at(value), 20 + 20 * (number % 3) / 2, "point control", 4, f"a shuffled graph: {value:.3f}")
    body += dot(scale.at(real), 30, "point challenger", 7, f"the real graph: {real:.3f}")
    return svg(body, 78, f"{measure} of the real graph, its shuffles and the base")


def gains(items: Sequence[tuple[str, float, str]]) -> str:
    """Draw one bar a query that changed, best first, each leading to its lists: (anchor, difference, tooltip)."""
    up, down = (max((sign * value for _, value, _ in items), default=0.0) for sign in (1, -1))
    unit = 150 / max(up + max(down, 0.0), 1e-9) if up > 0 else 150 / max(down, 1e-9)
    middle = 6 + max(up, 0.0) * unit
    step = 100.0 / max(len(items), 24)
    start = (100.0 - step * len(items)) / 2
    body = line(0, middle, 100, middle, "zero")
    for index, (anchor, value, tooltip) in enumerate(items):
        tall = abs(value) * unit
        y, kind = (middle - tall, "win") if value > 0 else (middle, "loss")
        x = start + index * step + step * 0.12
        body += (
            link(anchor, bar(x, y, step * 0.76, tall, f"gain {kind}", tooltip))
            if anchor
            else bar(x, y, step * 0.76, tall, f"gain {kind}", tooltip)
        )
    return svg(body, 162, "gain or loss of every query that changed")


def share(value: float, without: float) -> str:
    """Draw the recall of the pool with the graph as what it adds to the recall without."""
    scale = AxisScale(0.0, 1.0)
    body = bar(0, 4, 100, 18, "track") + bar(0, 4, scale.at(without), 18, "base-bar")
    body += bar(scale.at(without), 4, scale.at(value) - scale.at(without), 18, "win")
    return svg(body, 26, f"pool recall {without:.3f} without the graph, {value:.3f} with it")
