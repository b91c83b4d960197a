"""PostgreSQL is away, or its disk full, for 20 s: nothing fails, and work goes on after."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.error import HTTPError

import asyncpg
import pytest

from contexts import fill_disk, small_disk
from faults.books import query
from faults.conftest import Facts
from faults.database import stoppable_server
from faults.siege import Batch, Siege, besieged
from faults.waiting import hold_for, until
from up.weft_up import post, temporary_home, up

AWAY_S = 20.0
LOST_AFTER_S = "15"
"""Less than that: silence while the database is away must be held against nobody."""
SLACK_S = 3.0
"""On a busy machine a job may oversleep, and a report be late, by this much."""
JOBS = 1000
LONG_S = (8.0, 8.0, AWAY_S + 5, AWAY_S + 5)
"""How long the first jobs run: some end while the database is away, some after."""


def submit(siege: Siege) -> Batch:
    """Submit short jobs, and some that run for long."""
    evidence = siege.evidence()
    long = [evidence.slow(seconds) for seconds in LONG_S]
    batch = siege.submit(evidence, [*long, *evidence.mix(JOBS, seed=2)])
    siege.until_ran(batch, 0.2)
    return batch


def prove_nothing_failed(siege: Siege, batch: Batch, since: float) -> None:
    """Prove that each job ran once, also those that ran all the time."""
    siege.until_work_goes_on(batch, since)
    siege.until_complete(batch)
    books = siege.prove(batch)

    lengths = {
        one.job_id: (one.ended_at - one.started_at).total_seconds()
        for one in books.attempts
        if one.job_id <= len(LONG_S) and one.started_at
    }
    assert {books.successes[job_id] for job_id in lengths} == {1}
    assert len(lengths) == len(LONG_S)
    for job_id, seconds in enumerate(LONG_S, 1):
        assert seconds - SLACK_S < lengths[job_id] < seconds + SLACK_S


@pytest.mark.parametrize("way", ["asleep", "stopped", "killed"])
def test_external_database(way: str, recorded: Facts) -> None:
    with (
        stoppable_server() as server,
        temporary_home() as home,
        besieged(
            home, "--database", server.dsn, recorded=recorded, WEFT_LOST_AFTER_S=LOST_AFTER_S
        ) as siege,
    ):
        batch = submit(siege)
        pids = list(server.pids())
        asleep = partial(siege.put_to_sleep, pids)
        (server.stop if way == "stopped" else server.kill if way == "killed" else asleep)()
        hold_for(AWAY_S)
        siege.wake(pids) if way == "asleep" else server.start()
        prove_nothing_failed(siege, batch, time.monotonic())


@contextmanager
def cramped_database(home: Path) -> Iterator[Path]:
    """Give the database of a home a small disk; yield the path of a file that may fill it."""
    with up(home) as weft:
        weft.until_ready()
    kept = (home / "pg").rename(home.parent / "pg")
    with small_disk(home / "pg", "500m") as disk:
        subprocess.run(["cp", "-a", f"{kept}/.", str(disk)], check=True)
        yield disk / "filler"


def refusal(home: Path) -> tuple[int, str | None] | None:
    """Return with what a submission is refused."""
    try:
        post(home, "/v1/batches", {"jobs": [{"command": ["true", "x" * 1000]}] * 100})
    except HTTPError as error:
        return error.code, error.headers["retry-after"]
    return None


@pytest.mark.timeout(300)
def test_full_disk_of_the_database(recorded: Facts) -> None:
    """First calls fail; then PostgreSQL, which cannot write WAL, ends and does not recover."""
    with (
        temporary_home() as home,
        cramped_database(home) as filler,
        besieged(home, recorded=recorded, WEFT_LOST_AFTER_S=LOST_AFTER_S) as siege,
    ):
        batch = submit(siege)
        fill_disk(filler)
        until(lambda: refusal(home) == (507, "5"), "submissions are refused")
        hold_for(AWAY_S / 2)
        with pytest.raises((asyncpg.PostgresError, OSError)):
            query(home, "SELECT pg_logical_emit_message(true, '', repeat('x', 500000000))")
        until(lambda: refusal(home) == (503, "1"), "PostgreSQL has ended")
        hold_for(AWAY_S)
        filler.unlink()
        prove_nothing_failed(siege, batch, time.monotonic())
