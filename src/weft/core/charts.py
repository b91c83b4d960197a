"""Charts of bars: where each bar stands in a picture of a given size, without drawing it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TICKS = (1, 2, 5)


@dataclass(frozen=True)
class Bar:
    """A part of a bar: from its lower left corner, `y` counted from the top."""

    series: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Chart:
    """Bars of several series, stacked, and the value at the top of the picture."""

    bars: Sequence[Bar]
    top: int
    width: float
    height: float


def stacked(
    rows: Sequence[Mapping[str, int]], series: Sequence[str], *, width: float, height: float
) -> Chart:
    """Return one bar per row, of which the series stand on one another in their order.

    >>> chart = stacked([{"a": 1, "b": 3}, {"a": 0, "b": 0}], ["a", "b"], width=10, height=5)
    >>> chart.top
    5
    >>> [(one.series, one.x, one.y, one.height) for one in chart.bars]
    [('a', 0.0, 4.0, 1.0), ('b', 0.0, 1.0, 3.0)]
    """
    top = round_up(max((sum(row[one] for one in series) for row in rows), default=0))
    step = width / max(1, len(rows))
    bars = []
    for index, row in enumerate(rows):
        y = height
        for one in series:
            if row[one] > 0:
                tall = height * row[one] / top
                y -= tall
                bars.append(Bar(one, index * step, y, 0.9 * step, tall))
    return Chart(bars, top, width, height)


def round_up(value: int) -> int:
    """Return the least of 1, 2, 5, 10, 20, 50 … that is not below a value.

    >>> [round_up(n) for n in (0, 3, 10, 51)]
    [1, 5, 10, 100]
    """
    power = 1
    while True:
        for tick in TICKS:
            if tick * power >= value:
                return tick * power
        power *= 10
