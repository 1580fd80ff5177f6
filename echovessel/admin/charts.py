"""Charts as plain numbers: coordinates of the bars and lines of an SVG, and the same values as a table.

Templates draw them with presentation attributes and classes only, so that they need no script, style attribute or other
host.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, FOOT = 480, 140, 18
SIDE = 46  # for the axis values beside the chart
GAP = 0.25  # as a share of a column's width
MAX_LABELS = 7


@dataclass(frozen=True)
class Series:
    """One series, with a value per column; None if a column has none."""

    name: Any
    values: Sequence[float | None]


@dataclass(frozen=True)
class Bar:
    x: str
    y: str
    width: str
    height: str
    series: int
    tooltip: str


@dataclass(frozen=True)
class Dot:
    x: str
    y: str
    series: int
    tooltip: str


@dataclass(frozen=True)
class Tick:
    """A value on the axis, and its y coordinate."""

    y: str
    text: str


@dataclass(frozen=True)
class Label:
    x: str
    text: str


@dataclass(frozen=True)
class Chart:
    """The data of a chart's template. `unit` is that of the values; `rows` is the table: a column's name, then its
    values."""

    name: str
    title: Any
    unit: Any
    series: Sequence[Any]
    ticks: Sequence[Tick]
    labels: Sequence[Label]
    rows: Sequence[tuple[str, Sequence[str]]]
    bars: Sequence[Bar] = ()
    lines: Sequence[str] = ()
    dots: Sequence[Dot] = ()
    width: int = WIDTH
    view_box: str = f"{-SIDE} -10 {SIDE + WIDTH + 10} {HEIGHT + FOOT + 10}"  # with space for the values of the axis
    label_y: int = HEIGHT + FOOT - 4

    @property
    def is_empty(self) -> bool:
        return not self.bars and not any(self.lines)


def stacked_chart(name: str, title: Any, unit: Any, columns: Sequence[Any], series: Sequence[Series]) -> Chart:
    """Stacked columns of the series."""
    heights = [[line_series.values[place] or 0 for line_series in series] for place in range(len(columns))]
    peak, step = _round_up(max(map(sum, heights), default=0)), WIDTH / max(1, len(columns))
    width, bars = _number(step * (1 - GAP)), []
    for place, values in enumerate(heights):
        x, foot = _number(step * (place + GAP / 2)), float(HEIGHT)
        for number, value in enumerate(values):
            if value > 0:
                height = HEIGHT * value / peak
                foot -= height
                tooltip = f"{columns[place]} · {series[number].name}: {_number(value)}"
                bars.append(Bar(x, _number(foot), width, _number(height), number, tooltip))
    return _chart(name, title, unit, columns, series, peak, bars=bars)


def line_chart(name: str, title: Any, unit: Any, columns: Sequence[Any], series: Sequence[Series]) -> Chart:
    """A line per series, with a dot for each value, since a value without neighbours makes no line."""
    peak = _round_up(max((value or 0 for line_series in series for value in line_series.values), default=0))
    polylines, dots = [], list[Dot]()
    for number, line_series in enumerate(series if peak else ()):
        line_points = [
            Dot(
                _number(WIDTH / len(line_series.values) * (place + 0.5)),
                _number(HEIGHT * (1 - value / peak)),
                number,
                f"{columns[place]} · {line_series.name}: {_number(value)}",
            )
            for place, value in enumerate(line_series.values)
            if value is not None
        ]
        polylines.append(" ".join(f"{dot.x},{dot.y}" for dot in line_points))
        dots += line_points
    return _chart(name, title, unit, columns, series, peak, lines=polylines, dots=dots)


def _chart(
    name: str,
    title: Any,
    unit: Any,
    columns: Sequence[Any],
    series: Sequence[Series],
    peak: float,
    bars: Sequence[Bar] = (),
    lines: Sequence[str] = (),
    dots: Sequence[Dot] = (),
) -> Chart:
    step, every = WIDTH / max(1, len(columns)), max(1, -(-len(columns) // MAX_LABELS))
    labels = [Label(_number(step * (place + 0.5)), str(columns[place])) for place in range(0, len(columns), every)]
    rows = [
        (
            str(column),
            [
                "–" if line_series.values[place] is None else _number(line_series.values[place] or 0)
                for line_series in series
            ],
        )
        for place, column in enumerate(columns)
    ]
    values = (0, peak / 2, peak) if peak else ()
    ticks = [Tick(_number(HEIGHT * (1 - value / peak)), format_value(value)) for value in values]
    return Chart(
        name, title, unit, [line_series.name for line_series in series], ticks, labels, rows, bars, lines, dots
    )


def _round_up(peak: float) -> float:
    """The end of an axis that fits `peak`: 1, 2, 4, 6, 8 or 10 times a power of ten.

    >>> [_round_up(peak) for peak in (0, 3, 11, 87, 4300, 0.013)]
    [0, 4.0, 20.0, 100.0, 6000.0, 0.02]
    """
    if peak <= 0:
        return 0
    power = 10.0 ** math.floor(math.log10(peak))
    end = next(step for step in (1, 2, 4, 6, 8, 10) if peak <= step * power * 1.000_001) * power
    return float(f"{end:.6g}")  # without rounding errors of powers


def format_value(value: float) -> str:
    """A value of an axis in short form.

    >>> [format_value(value) for value in (0, 0.5, 20, 3000, 1_500_000)]
    ['0', '0.5', '20', '3,000', '1.5 M']
    """
    return f"{_number(value / 1_000_000)} M" if value >= 1_000_000 else f"{value:,.4f}".rstrip("0").rstrip(".")


def _number(value: float) -> str:
    """The number without needless digits, and with a decimal point in every language, as SVG attributes require.

    >>> _number(2.0), _number(0.1234)
    ('2', '0.12')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")
