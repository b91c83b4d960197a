"""What an attempt has left is kept before its end is reported."""

import asyncio
from pathlib import Path
from typing import Literal

import pytest

from weft.core.states import Phase, Reason
from weft.ports.runner import Ended, Started
from weft.ports.store import KeptFile
from weft.wire.documents.files import FileOutput
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.incarnation import incarnation_of
from weft.worker.agent.keeping import Keeping
from weft.worker.stager.directories import JobDirectories, Plan
from worker.test_reporting import REGISTERED, OrderedStore, key, site_of


class SlowStore(OrderedStore):
    """Never says that files are recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def record_files(self, *_: object, **__: object) -> bool:
        self.asked.set()
        return await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("reason", "when", "collects"),
    [(None, "success", True), (Reason.EXIT, "success", False), (Reason.EXIT, "failure", True)],
)
async def test_attempt_that_leaves_nothing_collects_nothing(
    tmp_path: Path, reason: Reason | None, when: Literal["success", "failure"], *, collects: bool
) -> None:
    """A status of that phase would say that a failed job had gone so far."""
    store = SlowStore()
    incarnation = incarnation_of(site_of(store, tmp_path), REGISTERED)
    outbox = incarnation.outbox
    directories = JobDirectories(tmp_path / "files")
    directories.make(key(1))
    directories.keep_plan(key(1), Plan(outputs=(FileOutput(from_="**", when=when),), kept=()))
    incarnation.files.adopt([key(1)])
    incarnation.held.add(key(1), cpu_m=1000, memory_mib=1).is_sent = True
    incarnation.files.take(Ended(key(1), 10, 100, reason=reason), anyway=False)
    running = asyncio.create_task(Keeping(incarnation, Attempts(incarnation)).run())
    async with asyncio.timeout(60):
        await store.asked.wait()
    running.cancel()
    entered = [one.phase for one in outbox.take_phases()]
    assert entered == ([Phase.COLLECTING] if collects else [])


async def test_attempt_is_stopped_while_its_outputs_are_copied(tmp_path: Path) -> None:
    """Until then it says where they are copied to, and that it ran, however short it was."""
    store, kept = SlowStore(), tuple[KeptFile, ...]()
    incarnation = incarnation_of(site_of(store, tmp_path), REGISTERED)
    attempts, outbox = Attempts(incarnation), incarnation.outbox
    directories = JobDirectories(tmp_path / "files")
    directories.make(key(1))
    copied = FileOutput(from_="**", to="store://s/p/", optional=True)
    directories.keep_plan(key(1), Plan(outputs=(copied,), kept=kept))
    incarnation.files.adopt([key(1)])
    incarnation.held.add(key(1), cpu_m=1000, memory_mib=1).is_sent = True
    incarnation.files.take(Ended(key(1), 10, 100), anyway=False)
    running = asyncio.create_task(Keeping(incarnation, attempts).run())
    async with asyncio.timeout(60):
        await store.asked.wait()
        (started,), (entered,) = outbox.take_starts(), outbox.take_phases()
        attempts.ended.clear()
        attempts.stop([key(1)])
        await attempts.ended.wait()
    running.cancel()
    (ended,) = outbox.take_ends()

    message = "its outputs are copied to store://s/p/"
    assert (started, entered.phase, entered.message) == (
        Started(key(1), 10), Phase.COLLECTING, message
    )  # fmt: skip
    assert (ended.reason, ended.started_ns) == (Reason.CANCELLED, 10)
    assert not attempts.keeping
