"""Charts as plain numbers: where the bars and lines of an SVG stand, and the same as a table.

A template draws them with presentation attributes and classes alone, so that they need no script, no style attribute
and no other host.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, FOOT = 480, 140, 18
GAP = 0.25  # of a column's width
MOST_LABELS = 7


@dataclass(frozen=True)
class Series:
    """One kind of value, with a value per column; None where there is none."""

    name: Any
    values: Sequence[float | None]


@dataclass(frozen=True)
class Bar:
    x: str
    y: str
    width: str
    height: str
    series: int
    told: str


@dataclass(frozen=True)
class Dot:
    x: str
    y: str
    series: int
    told: str


@dataclass(frozen=True)
class Label:
    x: str
    text: str


@dataclass(frozen=True)
class Chart:
    """What a template draws. `rows` is the table: the name of a column, then its values."""

    name: str
    title: Any
    series: Sequence[Any]
    peak: str
    labels: Sequence[Label]
    rows: Sequence[tuple[str, Sequence[str]]]
    bars: Sequence[Bar] = ()
    lines: Sequence[str] = ()
    dots: Sequence[Dot] = ()
    width: int = WIDTH
    height: int = HEIGHT + FOOT
    foot: int = HEIGHT
    label_y: int = HEIGHT + FOOT - 4

    @property
    def is_empty(self) -> bool:
        return not self.bars and not any(self.lines)


def stacked_chart(name: str, title: Any, columns: Sequence[Any], series: Sequence[Series]) -> Chart:
    """Columns in which the series stand on top of each other."""
    heights = [[one.values[place] or 0 for one in series] for place in range(len(columns))]
    peak = max(map(sum, heights), default=0)
    bars = [bar for place, values in enumerate(heights) for bar in _pile(place, values, columns, series, peak)]
    return _chart(name, title, columns, series, peak, bars=bars)


def line_chart(name: str, title: Any, columns: Sequence[Any], series: Sequence[Series]) -> Chart:
    """A line per series, with a dot for each value: one that has no neighbour makes no line."""
    peak = max((value or 0 for one in series for value in one.values), default=0)
    dots = [_dots(number, one, columns, peak) for number, one in enumerate(series)] if peak else []
    lines = [" ".join(f"{dot.x},{dot.y}" for dot in line) for line in dots]
    return _chart(name, title, columns, series, peak, lines=lines, dots=[dot for line in dots for dot in line])


def _pile(
    place: int, values: Sequence[float], columns: Sequence[Any], series: Sequence[Series], peak: float
) -> Iterator[Bar]:
    step, foot = WIDTH / len(columns), float(HEIGHT)
    for number, value in enumerate(values):
        if value > 0:
            height = HEIGHT * value / peak
            foot -= height
            told = f"{columns[place]} · {series[number].name}: {_number(value)}"
            yield Bar(
                _number(step * (place + GAP / 2)),
                _number(foot),
                _number(step * (1 - GAP)),
                _number(height),
                number,
                told,
            )


def _dots(number: int, series: Series, columns: Sequence[Any], peak: float) -> list[Dot]:
    step = WIDTH / len(series.values)
    return [
        Dot(
            _number(step * (place + 0.5)),
            _number(HEIGHT * (1 - value / peak)),
            number,
            f"{columns[place]} · {series.name}: {_number(value)}",
        )
        for place, value in enumerate(series.values)
        if value is not None
    ]


def _chart(
    name: str,
    title: Any,
    columns: Sequence[Any],
    series: Sequence[Series],
    peak: float,
    bars: Sequence[Bar] = (),
    lines: Sequence[str] = (),
    dots: Sequence[Dot] = (),
) -> Chart:
    step, every = WIDTH / max(1, len(columns)), max(1, -(-len(columns) // MOST_LABELS))
    labels = [Label(_number(step * (place + 0.5)), str(columns[place])) for place in range(0, len(columns), every)]
    rows = [
        (str(column), ["–" if one.values[place] is None else _number(one.values[place] or 0) for one in series])
        for place, column in enumerate(columns)
    ]
    return Chart(name, title, [one.name for one in series], _number(peak), labels, rows, bars, lines, dots)


def _number(value: float) -> str:
    """Without needless digits, and with a point in every language: as an attribute needs it.

    >>> _number(2.0), _number(0.1234)
    ('2', '0.12')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")
