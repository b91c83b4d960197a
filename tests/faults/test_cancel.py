"""A cancel that races with a kill: what was acknowledged holds."""

import os
import threading
import urllib.error
from datetime import UTC, datetime

import pytest

from faults.books import read_books
from faults.siege import Batch, Siege
from faults.waiting import until
from up.weft_up import post

JOBS = 5000
BARRIER = 4 * len(os.sched_getaffinity(0))
"""As many jobs as run side by side, of 250 mCPU each; an even number."""


def cancel(siege: Siege, batch: Batch) -> datetime | None:
    """Cancel a batch; return when that was acknowledged, None if it was not."""
    try:
        post(siege.home, f"/v1/batches/{batch.batch_id}/cancel", {})
    except (urllib.error.URLError, OSError, ValueError):
        return None
    return datetime.now(UTC)


@pytest.mark.parametrize("part", ["agent", "spawner", "driver", "api", "postgres"])
def test_cancel_during_a_kill(siege: Siege, part: str) -> None:
    evidence = siege.evidence()
    # Something must be left to cancel, however long it takes until the api is back.
    barrier = [evidence.gated(siege.home / "never") for _ in range(BARRIER)]
    half = (JOBS - BARRIER) // 2
    batch = siege.submit(
        evidence, [*evidence.mix(half, seed=4), *barrier, *evidence.mix(half, seed=5)]
    )
    siege.until_ran(batch, 0.1)
    acknowledged: list[datetime] = []
    canceller = threading.Thread(
        target=lambda: acknowledged.append(until(lambda: cancel(siege, batch), "it is cancelled"))
    )
    canceller.start()
    killed_at = siege.strike(part)
    canceller.join()
    siege.until_complete(batch)
    siege.note_recovery(killed_at)

    books = read_books(siege.home, batch.batch_id)
    (acknowledged_at,) = acknowledged
    late = [one for one in books.attempts if one.claimed_at > acknowledged_at]
    lost = JOBS - books.states.total()
    siege.recorded.update(jobs=JOBS, lost=lost, doubled=evidence.doubled())
    assert late == []
    assert books.states.keys() <= {"success", "cancelled"}
    assert books.states.total() == JOBS
    assert books.states["cancelled"] > JOBS / 4
    assert books.overlaps() == []
    assert evidence.out_of_order() == []
    assert evidence.doubled() <= (books.n_lost if part == "spawner" else 0)
    siege.prove_outputs(batch, job_ids=books.successes)
    siege.prove_clean(batch)
