"""kill -9 while the children of one job are told, in the midst of a set and between two sets."""

import pytest

from faults.books import in_the_way, query, read_books
from faults.siege import Batch, Siege
from faults.waiting import until
from up.weft_up import post, prove_audit

CHILDREN = 20_000
IN_SECOND_SET = 9_000
"""The first set has 5,000 children, the second the next 10,000."""
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
ROW = "SELECT FROM weft.job WHERE batch_id = $1 AND job_id = $2 FOR UPDATE"
"""Of a child, at which the driver has to wait in its second set."""
TOLD = "SELECT count(*) FROM weft.job WHERE batch_id = $1 AND state = 0"


@pytest.mark.parametrize("part", ["driver", "postgres"])
def test_killed_between_two_children(siege: Siege, part: str) -> None:
    gate = siege.home.parent / "gate"
    wait = f"until [ -e {gate} ]; do sleep 0.05; done"
    document = {
        "name": "scatter",
        "jobs": [
            {"name": "source", "command": ["/bin/sh", "-c", wait]},
            {"name": "scatter", "count": CHILDREN, "parents": ["source"]},
            {"name": "gather", "command": ["/bin/true"], "parents": ["scatter"]},
        ],
    }
    batch = Batch(post(siege.home, "/v1/batches", document)["id"], [], siege.evidence())
    with in_the_way(siege.home, ROW, batch.batch_id, IN_SECOND_SET):
        gate.touch()
        until(lambda: query(siege.home, WAITING)[0][0], "the driver waits", explain=siege.tail)
        told = CHILDREN + 1 - query(siege.home, TOLD, batch.batch_id)[0][0]
        killed_at = siege.kill(part)
    siege.until_back(part)
    siege.until_work_goes_on(batch, killed_at)
    siege.until_complete(batch)
    books = read_books(siege.home, batch.batch_id)
    prove_audit(siege.home)

    assert told == 5_000
    assert books.states == {"success": CHILDREN + 2}
    assert books.succeeded_twice() == []
    assert books.overlaps() == []
