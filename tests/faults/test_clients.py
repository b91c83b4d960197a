"""Commands and streams of events go on when what they talk to dies and comes back."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from faults.books import query
from faults.commands import Command, started
from faults.event_reader import EventReader
from faults.siege import Siege
from faults.waiting import PATIENCE_S, until

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


JOBS = 4000
FAULTS = ((0.1, "api"), (0.3, "postgres"), (0.5, "api"), (0.6, "driver"), (0.7, "agent"))


def test_stream_has_no_gap_and_no_repeat(siege: Siege) -> None:
    with EventReader(siege.home).reading() as reader:
        assert reader.connected.wait(PATIENCE_S)
        evidence = siege.evidence()
        batch = siege.submit(evidence, evidence.mix(JOBS, seed=5))
        for share, part in FAULTS:
            siege.until_ran(batch, share)
            killed_at = siege.strike(part)
            siege.until_work_goes_on(batch, killed_at)
        siege.until_complete(batch)
        siege.prove(batch)
        rows = query(siege.home, "SELECT xid, event_id FROM weft.event ORDER BY xid, event_id")
        stored = [f"{row['xid']}-{row['event_id']}" for row in rows]
        until(lambda: reader.last_id == stored[-1], "the last event has come")

    assert [event["id"] for event in reader.events] == stored
    assert reader.connections > 2
    told: dict[int, list[str]] = defaultdict(list)
    for event in reader.events:
        for job_id in event["jobs"] or ():
            told[job_id].append(event["kind"])
    ends = Counter(kinds.count("jobs.success") for kinds in told.values())
    assert ends == {1: JOBS}
    assert all(
        kinds[-2:] == ["jobs.running", "jobs.success"] and len(kinds) % 2 == 0
        for kinds in told.values()
    )
    siege.recorded["note"] = f"{len(stored)} events, {reader.connections} connections"
