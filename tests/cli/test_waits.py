"""What `run`, `wait` and `status` say of the causes that the server tells, and dates; the line of
`weft status --watch`: rate, end, and that it fits.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.cells import cell_len

from cases import cases
from weft.cli.terminal.progress_line import Pace, line_of, lines_below
from weft.cli.terminal.waits import messages_of, waited_for, waits_told
from weft.client.progress_bar import Counts
from weft.core.text.amounts import coming

JOB = {"batch_id": 7, "job_id": 2, "state": "ready"}
GROUP = {"batch_id": 7, "group_id": 1, "path": "/a", "n_running": 0, "complete": False}
HOLD = {"kind": "hold", "text": "waits: b7 is held", "command": "weft release b7", "job_id": None}
BUSY = {"kind": "busy", "text": "waits for a worker with room", "command": "x", "job_id": 3}
DATE = {"kind": "not_before", "text": "starts at 12:00", "command": None, "job_id": 3}
MESSAGE = {"kind": "message", "text": "has a message for sink portal that was given up"}
PENDING = {"kind": "parent", "text": "has 3 jobs", "command": "x", "job_id": None}


class Server:
    """A client that is told these causes."""

    def __init__(self, *causes: dict[str, Any], state: str = "ready") -> None:
        self.answer = {"state": state, "causes": causes}

    async def why_job(self, *_: int) -> dict[str, Any]:
        return self.answer

    async def why_group(self, *_: int) -> dict[str, Any]:
        return self.answer


class Telling:
    """A server whose answers change, and what was said of them."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.said: list[str] = []
        self.client: Any = self
        self.enough = asyncio.Event()

    async def look(self) -> dict[str, Any]:
        """Return the job; at the end it runs."""
        if self.texts:
            return JOB
        self.enough.set()
        return {**JOB, "state": "running"}

    async def why_job(self, *_: int) -> dict[str, Any]:
        """Return the next answer."""
        cause = {"kind": "x", "text": self.texts.pop(0), "command": None, "job_id": None}
        return {"state": "blocked", "causes": [cause]}


@cases(
    ("document", "causes", "expected"),
    [
        (JOB, [HOLD, BUSY], "b7.j2 waits: b7 is held; `weft release b7`"),
        (JOB, [DATE], "b7.j2 starts at 12:00"),
        (JOB, [], None),
        ({**JOB, "state": "running"}, [HOLD], None),
        ({**JOB, "state": "failed"}, [HOLD], None),
        (GROUP, [HOLD], "b7/a waits: b7 is held; `weft release b7`"),
        (GROUP, [BUSY, PENDING], "b7/a waits for a worker with room"),
        (GROUP, [DATE], "b7/a waits: b7.j3 starts at 12:00"),
        (GROUP, [PENDING], None),
        ({**GROUP, "n_running": 1}, [HOLD], None),
        ({"id": 7, "n_running": 0, "complete": False}, [BUSY], "b7 waits for a worker with room"),
    ],
)
async def test_the_first_cause_is_told(
    document: dict[str, Any], causes: list[dict[str, Any]], expected: str | None
) -> None:
    client: Any = Server(*causes)

    assert await waited_for(client, document) == expected


async def test_a_reason_is_told_again_only_when_it_changes() -> None:
    """How long ago a test was is no change."""
    texts = ["test 5.0 s ago failed, next in 2:05", "test 1:10 ago failed, next in 20 ms", "other"]
    told = Telling([*texts])
    async with waits_told(told.client, told.look, say=told.said.append, first_look_s=0):
        await told.enough.wait()

    assert told.said == [f"b7.j2 {texts[0]}", "b7.j2 other"]


async def test_what_began_to_run_meanwhile_waits_for_nothing() -> None:
    client: Any = Server(HOLD, MESSAGE, state="running")

    assert await waited_for(client, JOB) is None
    ended = {**JOB, "state": "success", "status": "done"}
    assert await messages_of(client, ended) == "a message for sink portal that was given up"


@cases(
    ("left", "expected"),
    [
        (timedelta(seconds=40), "12:00:40 (in 40 s)"),
        (timedelta(minutes=20), "12:20 (in 20 min)"),
        (timedelta(hours=6), "18:00 (in 6 h)"),
        (timedelta(hours=14), "2026-11-22 02:00 (in 14 h)"),
        (timedelta(days=9), "2026-11-30 12:00 (in 9 d)"),
    ],
)
def test_dates_of_the_future(left: timedelta, expected: str) -> None:
    now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

    assert coming(now + left, now) == expected


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


@cases("width", [10, 40, 79])
def test_what_jobs_say_stands_below_the_line(width: int) -> None:
    """Five of them, each in a line that fits, whatever it says."""
    said = [
        {"job_id": number, "percent": 50.0, "text": text, "attempt": 1}
        for number, text in enumerate(
            ["epoch 4", "", "雪" * 200, "\x1b[2J[red]", "a\nb", "six"], 8
        )
    ]
    counts = Counts(1, 10, running=6, status={"progress": said})
    lines = lines_below(12, counts, width=width)

    assert counts.share == 0.4
    assert (len(lines), max(map(cell_len, lines)) <= width) == (5, True)
    if width == 79:
        assert lines[:2] == ["  b12.j8  50 %, epoch 4", "  b12.j9  50 %"]
        assert lines[3:] == ["  b12.j11 50 %, \ufffd[2J[red]", "  b12.j12 50 %, a b"]
