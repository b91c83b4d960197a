"""The primary is killed and its standby takes over: one that has all commits, or one that lags."""

import time

import pytest

from faults.books import query, read_books
from faults.conftest import Facts
from faults.siege import Batch, Siege, besieged
from faults.standby import replicated
from faults.test_two_workers import second_worker
from faults.waiting import hold_for, until
from up.weft_up import temporary_home
from weft_siege.evidence import Planned

JOBS = 16_000
SMALL, SMALL_JOBS = 40, 2
FULL = 0.9
WINDOW_S = 1.0
BATCHES = "SELECT batch_id FROM weft.batch"


def rate(batch: Batch) -> float:
    """Return how many lines a second the jobs of a batch write."""
    begun, before = time.monotonic(), batch.evidence.count
    hold_for(WINDOW_S)
    return (batch.evidence.count - before) / (time.monotonic() - begun)


def run_small(siege: Siege) -> list[Batch]:
    """Submit small batches that run first, each with a file of its own; wait until they ran."""
    batches = []
    for _ in range(SMALL):
        evidence = siege.evidence()
        job = evidence.quick()
        urgent = Planned(job.kind, {**job.document, "priority": 9})
        batches.append(siege.submit(evidence, [urgent] * SMALL_JOBS))
    for batch in batches:
        siege.until_ran(batch, 1.0)
    return batches


def prove_ends(siege: Siege, batch: Batch) -> None:
    """Prove that each job has one success, which its own file has too, and none lived twice."""
    siege.until_complete(batch)
    books = read_books(siege.home, batch.batch_id)
    lines = batch.evidence.lines()
    ran = {(line.job_id, line.attempt) for line in lines}
    silent = {job_id for job_id, job in enumerate(batch.jobs, 1) if not job.words}

    assert books.states == {"success": len(batch.jobs)}
    assert books.succeeded_twice() == []
    assert {key for key in books.successes.items() if key[0] not in silent} <= ran
    assert [line for line in lines if line.word == "twice"] == []
    siege.prove_outputs(batch)


@pytest.mark.heavy
@pytest.mark.timeout(300)
@pytest.mark.parametrize("lags", [False, True], ids=["synchronous", "lags"])
def test_standby_takes_over(*, lags: bool, recorded: Facts) -> None:
    """What a standby that lags lacks ran already, and is run again, or is gone as a whole."""
    with (
        replicated() as pair,
        temporary_home() as home,
        besieged(home, "--database", pair.dsn, recorded=recorded, WEFT_DRIVERS="2") as siege,
        second_worker(siege),
    ):
        if not lags:
            pair.wait_for_standby()
        evidence = siege.evidence()
        batch = siege.submit(evidence, evidence.mix(JOBS, seed=58))
        siege.until_ran(batch, 0.05)
        full = rate(batch)
        if lags:
            pair.hold_back()
        told = run_small(siege)
        killed_at = time.monotonic()
        pair.fail_over(lags=lags)
        most = sum(len(job.words) for job in batch.jobs)
        until(
            lambda: rate(batch) >= FULL * full or evidence.count >= most, "full rate, or all ran"
        )
        siege.note_recovery(killed_at)
        there = {row["batch_id"] for row in query(home, BATCHES)}
        gone = [one for one in told if one.batch_id not in there]
        again = run_small(siege)
        for one in [batch, *told, *again]:
            if one not in gone:
                prove_ends(siege, one)
        siege.prove_clean(batch)
        doubled = evidence.doubled()
        recorded.update(jobs=JOBS, lost=SMALL_JOBS * len(gone), doubled=doubled)

    assert (len(gone), doubled > 0) == ((SMALL, True) if lags else (0, False))
    assert {one.batch_id for one in told}.isdisjoint(one.batch_id for one in again)
