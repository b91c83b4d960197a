"""`weft status --watch`: rate, end, and a line that fits."""

from datetime import UTC, datetime

from cases import cases
from weft.cli.terminal.live_status import Pace, line_of
from weft.client.progress_bar import Counts

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def pace(*seen: tuple[float, int]) -> Pace:
    found = Pace()
    for at_s, done in seen:
        found.note(done, at_s)
    return found


@cases(
    ("seen", "words"),
    [
        ([(0, 0)], []),
        ([(0, 5), (10, 5)], []),
        ([(0, 0), (10, 100)], ["10.0/s", "ends 12:01:30 (in 2 min)"]),
        ([(0, 0), (60, 6)], ["6.0/min", "ends 14:45 (in 3 h)"]),
        ([(0, 0), (10, 1000)], ["100.0/s"]),
        # Only the last minute counts: it was fast before.
        ([(0, 0), (10, 500), (20, 500), (80, 560)], ["1.0/s", "ends 12:07:20 (in 7 min)"]),
        # A retry takes back what had ended.
        ([(0, 100), (10, 50)], []),
    ],
)
def test_rate_and_end_follow_the_last_minute(
    seen: list[tuple[float, int]], words: list[str]
) -> None:
    assert pace(*seen).words(1000, NOON) == words


@cases("width", [10, 40, 79, 200])
def test_the_line_fits(width: int) -> None:
    line = line_of("b12", Counts(450, 1000, failed=3, running=8), ["10.0/s"], width=width)

    assert len(line) <= width
    assert "b12 [####" in line if width == 79 else line.startswith("b12 ")
    assert "[" not in line or "45% 450/1,000, 8 running, 3 failed, 10.0/s" in line
