"""What a job waits for, in words: which workers count."""

from typing import Any

import pytest

from weft.cli.terminal import waits

ROOM = {"n_running": 0, "cpu": 2, "cpu_used": 0, "memory": 2**30, "memory_used": 0}


class Overview:
    """A client that sees these workers."""

    def __init__(self, *states: str) -> None:
        self.workers = [{**ROOM, "state": state} for state in states]

    async def overview(self) -> dict[str, Any]:
        return {"workers": self.workers, "running": 1, "ready": 1}


@pytest.mark.parametrize(
    ("states", "missing"),
    [
        ((), "a worker: none is connected"),
        (("cordoned", "draining"), "a worker: all are cordoned, see `weft worker ls`"),
        (("cordoned", "active"), None),
    ],
)
async def test_cordoned_workers_take_no_job(states: tuple[str, ...], missing: str | None) -> None:
    client: Any = Overview(*states)

    assert await waits._worker(client, 1, 2**20) == missing
