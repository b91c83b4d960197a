"""The order in which starts and ends are told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from weft.core.attempt_key import AttemptKey
from weft.ports.runner import Ended, Started
from weft.ports.store import EndReport, StartReport, WorkerStore
from weft.worker.agent.block_files import BlockFiles
from weft.worker.agent.reporting import Reporting


class OrderedStore:
    """Notes what comes, and answers ends when it is told to."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []
        self.something = asyncio.Event()

    async def start_attempts(self, _: int, reports: Sequence[StartReport]) -> Sequence[str]:
        self._note("start", [report.job_id for report in reports])
        return ["ok" for _ in reports]

    async def complete_attempts(self, _: int, reports: Sequence[EndReport]) -> Sequence[str]:
        self._note("end", [report.job_id for report in reports])
        return ["ok" for _ in reports]

    def _note(self, what: str, job_ids: Sequence[int]) -> None:
        self.told += [(what, job_id) for job_id in job_ids]
        self.something.set()

    async def until(self, count: int) -> list[tuple[str, int]]:
        async with asyncio.timeout(60):
            while len(self.told) < count:
                self.something.clear()
                await self.something.wait()
        return self.told


def key(job_id: int) -> AttemptKey:
    return AttemptKey(1, job_id, 1)


async def test_start_waits_for_the_end_whose_place_it_took(tmp_path: Path) -> None:
    """Else all would be lost as if they had run at once, when this host dies between the two."""
    store = OrderedStore()
    block_files = BlockFiles(tmp_path)
    reporting = Reporting(cast("WorkerStore", store), 1, lambda _: None, block_files=block_files)
    running = asyncio.create_task(reporting.run())
    reporting.add_end(Ended(key(1), 10, 100))
    with_a_claim = reporting.take()
    reporting.add_start(Started(key(2), 50))
    reporting.add_start(Started(key(3), 101))
    before = list(await store.until(1))
    # The claim is slow. What comes meanwhile does not let the start pass either.
    reporting.add_end(Ended(key(4), 60, 103))
    reporting.add_start(Started(key(5), 102))
    await asyncio.wait({running}, timeout=0.1)
    meanwhile = list(store.told)
    reporting.told(with_a_claim, ["ok"])
    after = list(await store.until(4))
    running.cancel()

    assert before == meanwhile == [("start", 2)]
    assert sorted(after[1:]) == [("end", 4), ("start", 3), ("start", 5)]
