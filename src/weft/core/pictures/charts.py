"""Charts of bars or steps: where each stands in a picture of a given size, without drawing it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TICKS = (1, 2, 5)
PEAKS = 3
FAR = 5


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
    peak: int | None = None
    """The highest bar, if it goes beyond the top; None: all are whole."""


def stacked(
    rows: Sequence[Mapping[str, int]], series: Sequence[str], *, width: float, height: float
) -> Chart:
    """Return one bar per row, of which the series stand on one another in their order.

    >>> chart = stacked([{"a": 1, "b": 3}, {"a": 0, "b": 0}], ["a", "b"], width=10, height=5)
    >>> chart.top
    5
    >>> [(one.series, one.x, one.y, one.height) for one in chart.bars]
    [('a', 0.0, 4.0, 1.0), ('b', 0.0, 1.0, 3.0)]

    A few peaks do not make all others flat: they fill the picture, each series with its part.

    >>> chart = stacked([{"a": 900}, {"a": 4}, {"a": 3}], ["a"], width=10, height=5)
    >>> chart.top, chart.peak, [one.height for one in chart.bars]
    (5, 900, [5.0, 4.0, 3.0])
    """
    totals = [sum(row[one] for one in series) for row in rows]
    most = max(totals, default=0)
    top = round_up(_usual(totals))
    step = width / max(1, len(rows))
    bars = []
    for index, (row, total) in enumerate(zip(rows, totals, strict=True)):
        y = height
        for one in series:
            if row[one] > 0:
                tall = height * row[one] / max(top, total)
                y -= tall
                bars.append(Bar(one, index * step, y, 0.9 * step, tall))
    return Chart(bars, top, width, height, most if most > top else None)


def _usual(totals: Sequence[int]) -> int:
    """Return the highest total, but for up to `PEAKS` of them that are far above the others."""
    ordered = sorted((total for total in totals if total > 0), reverse=True)
    for n_peaks in range(min(PEAKS, len(ordered) - 1)):
        if ordered[n_peaks] > FAR * ordered[n_peaks + 1]:
            return ordered[n_peaks + 1]
    return ordered[0] if ordered else 0


def steps(
    values: Sequence[tuple[float, float]], *, until: float, top: float, width: float, height: float
) -> str:
    """Return the outline of values, each with the end until which it holds, as the path of an SVG.

    >>> steps([(2, 1), (4, 0.5)], until=4, top=1, width=100, height=10)
    'M0 10.0V0.0H50.0V5.0H100.0V10.0Z'
    """
    parts = [
        f"V{height - height * value / top:.1f}H{width * end / until:.1f}" for end, value in values
    ]
    return f"M0 {height:.1f}{''.join(parts)}V{height:.1f}Z"


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
