"""Charts: the coordinates of every value, and the table beneath."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from echovessel.admin import charts
from echovessel.admin.charts import HEIGHT, WIDTH, Series, line_chart, stacked_chart

columns = st.integers(min_value=1, max_value=30)
values = st.one_of(st.none(), st.floats(min_value=0, max_value=1e9, allow_nan=False))


@given(st.data(), columns)
def test_bars_stay_inside_the_chart_and_do_not_overlap(data: st.DataObject, width: int) -> None:
    series = [Series(name, data.draw(st.lists(values, min_size=width, max_size=width))) for name in "ab"]
    chart = stacked_chart("x", "x", "things", range(width), series)
    for bar in chart.bars:
        assert float(bar.x) >= 0
        assert float(bar.x) + float(bar.width) <= WIDTH + 0.05
        assert float(bar.y) >= -0.05
        assert float(bar.y) + float(bar.height) <= HEIGHT + 0.05
    assert len(chart.rows) == width
    assert all(len(tooltips) == 2 for _column, tooltips in chart.rows)


def test_columns_are_as_high_as_what_stands_in_them() -> None:
    chart = stacked_chart("x", "x", "things", ["mon", "tue"], [Series("a", [1, 4]), Series("b", [1, None])])
    assert [(bar.series, bar.y, bar.height) for bar in chart.bars] == [
        (0, "105", "35"),
        (1, "70", "35"),
        (0, "0", "140"),
    ]
    assert chart.rows == [("mon", ["1", "1"]), ("tue", ["4", "–"])]
    assert [(tick.y, tick.text) for tick in chart.ticks] == [("140", "0"), ("70", "2"), ("0", "4")]
    assert chart.unit == "things"


def test_a_line_leaves_out_what_is_not_known() -> None:
    chart = line_chart("x", "x", "things", ["1", "2", "3"], [Series("ms", [10, None, 5])])
    assert chart.lines == ["80,0 400,70"]
    points = [(dot.x, dot.y, dot.tooltip) for dot in chart.dots]
    assert points == [("80", "0", "1 · ms: 10"), ("400", "70", "3 · ms: 5")]


def test_a_value_however_small_has_its_bar() -> None:
    chart = stacked_chart("x", "x", "things", ["mon"], [Series("a", [1.2e-7])])
    assert [bar.height for bar in chart.bars] == ["84"]


def test_without_values_there_is_nothing_to_draw() -> None:
    assert stacked_chart("x", "x", "things", [], []).is_empty
    assert line_chart("x", "x", "things", ["1"], [Series("ms", [None])]).is_empty


def test_the_examples_hold() -> None:
    assert doctest.testmod(charts).failed == 0
