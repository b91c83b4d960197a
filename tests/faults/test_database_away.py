"""PostgreSQL is away for 20 s: nothing fails, and work goes on after."""

import time

import pytest

from faults.conftest import Facts
from faults.database import stoppable_server
from faults.siege import Batch, Siege, besieged
from faults.waiting import hold_for
from up.weft_up import temporary_home
from weft.store.embedded.leftovers import server_pids

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


def test_database_that_sleeps(recorded: Facts) -> None:
    with (
        temporary_home() as home,
        besieged(home, recorded=recorded, WEFT_LOST_AFTER_S=LOST_AFTER_S) as siege,
    ):
        batch = submit(siege)
        pids = list(server_pids(home / "pg"))
        siege.put_to_sleep(pids)
        hold_for(AWAY_S)
        siege.wake(pids)

        prove_nothing_failed(siege, batch, time.monotonic())


@pytest.mark.parametrize("way", ["stopped", "killed"])
def test_external_database(way: str, recorded: Facts) -> None:
    with (
        stoppable_server() as server,
        temporary_home() as home,
        besieged(
            home, "--database", server.dsn, recorded=recorded, WEFT_LOST_AFTER_S=LOST_AFTER_S
        ) as siege,
    ):
        batch = submit(siege)
        if way == "stopped":
            server.stop()
        else:
            server.kill()
        hold_for(AWAY_S)
        server.start()

        prove_nothing_failed(siege, batch, time.monotonic())
