"""What a job waits for, in words: which workers count, and what is said first."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from weft.cli.terminal.waits import Waits
from weft.core.amounts import coming

GIB = 2**30
WANTED = {"cpu": 1.0, "memory": GIB}
READY = {
    "batch_id": 7, "job_id": 2, "state": "ready", "held": False, "queue": "large", "parents": [],
    "resources": WANTED, "group_id": 0, "groups": [],
}  # fmt: skip
KEY = {"concurrency_key": {"key": "db", "n": 1}}
OUT = "cordoned or draining"
UNCORDON = "`weft worker uncordon node1`"


def worker(number: int, state: str = "active", **facts: object) -> dict[str, Any]:
    return {
        "worker": f"node{number}", "pool": "large", "state": state, "n_running": 0,
        "cpu": 2, "cpu_used": 0, "memory": 2 * GIB, "memory_used": 0, **facts,
    }  # fmt: skip


class Server:
    """A client that sees these workers."""

    def __init__(self, *workers: dict[str, Any]) -> None:
        self.workers = workers

    async def overview(self) -> dict[str, Any]:
        return {"workers": self.workers, "running": 1, "ready": 1}

    async def list_queues(self) -> list[dict[str, Any]]:
        full = {"name": "full", "pools": ["large"], "max_running": 2, "n_running": 2}
        return [{"name": "large", "pools": ["large"], "max_running": None}, full]

    async def get_batch(self, _: int) -> dict[str, Any]:
        return {"id": 7, "held": False, "n_running": 1, "max_running": None}


async def reason(job: dict[str, Any], *workers: dict[str, Any]) -> str | None:
    client: Any = Server(*workers)
    return await Waits(client).reason(job)


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ([], "waits for a worker: none is connected"),
        ([worker(1, pool="a")], "waits for a worker of pool large: none is connected"),
        ([worker(1, "cordoned")], f"waits for a worker: node1 is cordoned; {UNCORDON}"),
        (
            [worker(1, "cordoned"), worker(2, "draining"), worker(3, cpu=0.5)],
            f"waits for a worker: those that could take it are {OUT} (node1, node2); {UNCORDON}",
        ),
        (
            [worker(1, cpu=0.5)],
            "waits for a worker that is large enough: it needs 1 cores, 1.0 GiB memory",
        ),
        ([worker(1, cpu_used=2)], "waits for a worker with room: 1 running, 1 ready"),
        ([worker(1, "cordoned"), worker(2)], None),
    ],
)
async def test_workers_that_could_take_a_job(
    workers: list[dict[str, Any]], expected: str | None
) -> None:
    assert await reason(READY, *workers) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"state": "pending", "parents": [1, 2]}, "waits for its parents j1–j2"),
        ({**KEY, "key_holders": [{"batch_id": 3, "job_id": 1}]},
         'waits for b3.j1, which has the key "db"'),
        ({**KEY, "key_holders": [{"batch_id": 3, "job_id": n} for n in (1, 2, 3)]},
         'waits for b3.j1 and 2 more, which have the key "db"'),
        (KEY, None),
        ({"not_before": "2000-01-01T00:00:00Z"}, None),
        ({"queue": "full"}, "waits: queue full runs 2 of 2 jobs"),
        ({"state": "running"}, None),
        ({"state": "success"}, None),
    ],
)  # fmt: skip
async def test_other_reasons(fields: dict[str, Any], expected: str | None) -> None:
    assert await reason({**READY, **fields}, worker(1)) == expected


@pytest.mark.parametrize(
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
