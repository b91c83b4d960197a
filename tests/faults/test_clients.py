"""`weft run` and `weft each` go on when what they talk to dies and comes back."""

from pathlib import Path

import pytest

from faults.commands import Command, started
from faults.siege import Siege
from faults.waiting import until

LINES = 2000
RUN_LINES = 200
SCRIPT = f"i=0; while [ $i -lt {RUN_LINES} ]; do i=$((i+1)); echo line $i; sleep 0.03; done"
RUN_OUTPUT = [b"line %d\n" % number for number in range(1, RUN_LINES + 1)]


def until_printed(command: Command, count: int) -> None:
    """Wait until a command has printed `count` lines."""
    until(
        lambda: len(command.lines) >= count,
        f"{count} lines are printed",
        explain=lambda: (len(command.lines), command.said, command.process.poll()),
    )


@pytest.mark.parametrize("part", ["api", "everything"])
def test_each_prints_every_line_once_and_in_order(siege: Siege, part: str, tmp_path: Path) -> None:
    source = tmp_path / "lines"
    source.write_text("".join(f"{number}\n" for number in range(LINES)))
    with (
        source.open("rb") as stdin,
        started(siege.home, "each", "--", "sh", "-c", "echo {}; echo {} >&2", stdin=stdin) as each,
    ):
        for share in (0.05, 0.5):
            until_printed(each, int(LINES * share))
            siege.strike(part)
        code = each.finish()

    expected = [b"%d\n" % number for number in range(LINES)]
    siege.recorded.update(jobs=LINES, lost=LINES - len(set(each.lines)))
    assert each.lines == expected
    assert [line for line in each.said if line.strip().isdigit()] == expected
    assert code == 0


def test_run_prints_on_when_the_api_comes_back(siege: Siege) -> None:
    with started(siege.home, "run", "--", "sh", "-c", SCRIPT) as run:
        for count in (20, 80):
            until_printed(run, count)
            siege.strike("api")
        code = run.finish()

    siege.recorded.update(jobs=1, lost=0, doubled=0)
    assert run.lines == RUN_OUTPUT
    assert all(line.startswith(b"weft: ") for line in run.said)
    assert code == 0


def test_run_says_that_its_job_began_anew(siege: Siege) -> None:
    with started(siege.home, "run", "--", "sh", "-c", SCRIPT) as run:
        until_printed(run, 50)
        siege.strike("everything")
        code = run.finish()

    siege.recorded.update(jobs=1, lost=0, doubled=1)
    assert run.lines[-RUN_LINES:] == RUN_OUTPUT
    assert run.lines[:-RUN_LINES] == RUN_OUTPUT[: len(run.lines) - RUN_LINES]
    assert b"".join(run.said).count(b"started again") == 1
    assert code == 0
