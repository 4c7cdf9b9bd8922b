"""The charts of a report as inline SVG: no script, no picture to fetch, and colours that follow the page."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from modelpicker.campaigns.results.course import Course
from modelpicker.campaigns.results.report import cut
from modelpicker.encoding import ModelName
from modelpicker.html_pages import safe

WIDTH, HEIGHT = 600, 230
LEFT, RIGHT, TOP, BOTTOM = 42, 150, 10, 30
# What a name at a line is cut to, and how far apart names are kept.
NAME, APART = 19, 15
# Models that have a colour of their own: as many as can be told apart.
COLOURS = 6
STRIP = 14
# The height of a bar with its name, and where bars begin.
BAR, BAR_LEFT = 22, 150


class Frame(NamedTuple):
    """The axes of a chart: labels to the right, a value up."""

    most: int
    top: float
    height: int = HEIGHT

    def x(self, labels: float) -> float:
        """Where a number of labels is."""
        return LEFT + (WIDTH - LEFT - RIGHT) * labels / max(1, self.most)

    def y(self, value: float) -> float:
        """Where a value is."""
        return self.height - BOTTOM - (self.height - TOP - BOTTOM) * min(max(value, 0.0), self.top) / self.top


def colours_of(models: Sequence[ModelName]) -> dict[ModelName, str]:
    """A colour for each of the first models; others share one that is grey."""
    return {model: f"c{place}" for place, model in enumerate(dict.fromkeys(models)) if place < COLOURS}


def line_chart(course: Course, colours: Mapping[ModelName, str], what: str) -> str:
    """How the models stood, one line each, with its name at the end; `what` says what the lines are."""
    values = [value for line in course.lines.values() for value in line if value is not None]
    share = course.kind != "mistakes"
    top = min(1.0, max(0.01, 1.15 * max(values))) if share else max(1.0, *values)
    frame = Frame(course.labels[-1], top)
    lines = [
        _path(frame, course.labels, line, f"line {colours.get(model, 'other')}")
        for model, line in reversed(list(course.lines.items()))
    ]
    ends = {
        model: next(value for value in reversed(line) if value is not None)
        for model, line in course.lines.items()
        if any(value is not None for value in line)
    }
    return _svg(frame, f"{what}, over labels.", [*_axes(frame, share), *lines, *_names(frame, ends, colours)])


def proof_chart(course: Course, goal: float | None) -> str:
    """What was proven after how many labels."""
    known = [gap for gap in course.proved if gap < 1.0]
    frame = Frame(course.labels[-1], min(1.0, 1.15 * max(*known, goal or 0.0, 0.005)))
    parts = _axes(frame, share=True)
    if goal:
        y = frame.y(goal)
        parts.append(f'<path class="goal" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 6}" y="{y + 4:.1f}">goal: {_percent(goal)}</text>')
    gaps = [gap if gap < 1.0 else None for gap in course.proved]
    parts.append(_path(frame, course.labels, gaps, "line c0", stepped=True))
    return _svg(frame, "How much better another model could still be, as proven, over labels.", parts)


def reign_strip(course: Course, colours: Mapping[ModelName, str]) -> str:
    """Who was recommended, as a strip of colours over the labels."""
    frame = Frame(course.labels[-1], 1.0, STRIP + BOTTOM)
    reigns = course.reigns
    parts = []
    for reign, following in zip(reigns, [*reigns[1:], None], strict=True):
        begin, end = frame.x(reign.first), frame.x(reign.last if following is None else following.first)
        parts.append(
            f'<rect class="{colours.get(reign.model, "other")}" x="{begin:.1f}" y="0" '
            f'width="{max(1.0, end - begin):.1f}" height="{STRIP}">'
            f"<title>{safe(cut(reign.model, 80))}</title></rect>"
        )
    return _svg(frame, "The recommended model, over labels.", [*parts, *_below(frame)])


def bar_chart(values: Mapping[ModelName, float], what: str, colours: Mapping[ModelName, str]) -> str:
    """One bar per model, from 0 to 1, with its name and its value."""
    frame = Frame(1, 1.0, BAR * len(values) + 4)
    parts = []
    for place, (model, value) in enumerate(values.items()):
        y, width = 2 + place * BAR, (WIDTH - RIGHT - BAR_LEFT) * min(max(value, 0.0), 1.0)
        parts.append(f'<text class="end" x="{BAR_LEFT - 6}" y="{y + 14}">{safe(cut(model, NAME))}</text>')
        parts.append(
            f'<rect class="{colours.get(model, "other")}" x="{BAR_LEFT}" y="{y + 3}" width="{max(1.0, width):.1f}" '
            f'height="{BAR - 8}"/>'
        )
        parts.append(f'<text x="{BAR_LEFT + width + 6:.1f}" y="{y + 14}">{value:.3f}</text>')
    return _svg(frame, what, parts)


def _svg(frame: Frame, what: str, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {frame.height}" role="img" aria-label="{safe(what)}">{"".join(parts)}</svg>'


def _path(
    frame: Frame, labels: Sequence[int], values: Sequence[float | None], look: str, *, stepped: bool = False
) -> str:
    """A line, with gaps where there is no value."""
    drawn, pen = [], "M"
    for at, value in zip(labels, values, strict=True):
        if value is None:
            pen = "M"
            continue
        x, y = f"{frame.x(at):.1f}", f"{frame.y(value):.1f}"
        drawn.append(f"H{x}V{y}" if stepped and pen == "L" else f"{pen}{x} {y}")
        pen = "L"
    return f'<path class="{look}" d="{"".join(drawn)}"/>'


def _axes(frame: Frame, share: bool) -> list[str]:
    """Lines across with their values, and labels below."""
    parts = []
    for value in ticks(frame.top):
        y = frame.y(value)
        shown = _percent(value) if share else f"{value:,.4g}"
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{shown}</text>')
    return [*parts, *_below(frame)]


def _below(frame: Frame) -> list[str]:
    """How many labels, below a chart."""
    y = frame.height - BOTTOM + 19
    found = [
        f'<text class="middle" x="{frame.x(value):.1f}" y="{y}">{value:,.0f}</text>'
        for value in ticks(float(frame.most))
        if value == int(value)
    ]
    return [*found, f'<text x="{WIDTH - RIGHT + 14}" y="{y}">labels</text>']


def ticks(top: float) -> list[float]:
    """Round numbers from 0 up to a value: three to six of them."""
    if top <= 0.0:
        return [0.0]
    size = 10.0 ** math.floor(math.log10(top))
    step = next(part * size for part in (0.1, 0.2, 0.5, 1.0, 2.0) if top / (part * size) < 6.0)
    return [round(place * step, 12) for place in range(int(top / step + 1e-9) + 1)]


def _names(frame: Frame, ends: Mapping[ModelName, float], colours: Mapping[ModelName, str]) -> list[str]:
    """The names at the ends of the lines, moved apart where they would lie on each other."""
    placed, below = [], math.inf
    for model in sorted(ends, key=lambda one: ends[one]):  # from the bottom up
        y = min(frame.y(ends[model]) + 4, below - APART)
        below = y
        placed.append((model, y))
    lift = max(0.0, TOP - placed[-1][1]) if placed else 0.0  # those at the top must not leave the chart
    return [
        f'<text class="name {colours.get(model, "other")}" x="{WIDTH - RIGHT + 6}" y="{y + lift:.1f}">'
        f"{safe(cut(model, NAME))}</text>"
        for model, y in placed
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
