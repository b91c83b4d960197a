"""The order in which starts and ends are told; what an attempt has left is kept before its end."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

import pytest

from contexts import beside
from weft.core.states import AttemptKey, Phase, Reason
from weft.plugins.log_stores.files.plugin import FileLogKeeper
from weft.ports.runner import Ended, Happened, Runner, Started, never_started
from weft.ports.store import EndReport, KeptFile, Notices, Registered, StartReport, WorkerStore
from weft.wire.documents.files import FileOutput
from weft.wire.sealed import SecretKeys
from weft.worker.agent.attempt_files import BlockFiles
from weft.worker.agent.attempts import Attempts, Keeping
from weft.worker.agent.checkpoints import CheckpointRemoval
from weft.worker.agent.incarnation import incarnation_of
from weft.worker.agent.outbox import Outbox
from weft.worker.agent.reporting import Reporting, end_report
from weft.worker.agent.site import AgentSite, FenceTerms, WorkerFacts
from weft.worker.agent.specs import Signatures
from weft.worker.stager.directories import JobDirectories, Plan
from worker.file_site import file_site


class OrderedStore:
    """Notes what comes, and answers ends when it is told to."""

    get_app_part = get_payload_part = None

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []
        self.something = asyncio.Event()

    async def start_attempts(self, _: int, reports: Sequence[StartReport]) -> Sequence[str]:
        self._note("start", [report.job_id for report in reports])
        return ["ok" for _ in reports]

    async def complete_attempts(self, _: int, reports: Sequence[EndReport]) -> Sequence[str]:
        self._note("end", [report.job_id for report in reports])
        return ["ok" for _ in reports]

    async def record_files(self, *_: object, storing_ms: int, **__: object) -> bool:
        self.asked_ns, self.storing_ms = time.monotonic_ns(), storing_ms
        return True

    def _note(self, what: str, job_ids: Sequence[int]) -> None:
        self.told += [(what, job_id) for job_id in job_ids]
        self.something.set()

    async def until(self, count: int) -> list[tuple[str, int]]:
        async with asyncio.timeout(60):
            while len(self.told) < count:
                self.something.clear()
                await self.something.wait()
        return self.told


class Ear:
    """A runner that only hears that ends are recorded."""

    outlives_host = False

    def __init__(self) -> None:
        self.acknowledged: list[AttemptKey] = []

    def acknowledge(self, keys: Sequence[AttemptKey]) -> None:
        self.acknowledged += keys

    def keep_until(self, *_: object, **__: object) -> None:
        """Nothing runs."""


REGISTERED = Registered(worker_id=1, incarnation_id=1, pool_id=1, live=())
FACTS = WorkerFacts(
    name="w",
    host="here",
    pool="default",
    version="0",
    cpu_m=4000,
    memory_mib=4000,
    storage_mib=0,
    gpu=0,
    offers={},
)


def site_of(store: OrderedStore, scratch: Path) -> AgentSite:
    worker_store = cast("WorkerStore", store)
    return AgentSite(
        store=worker_store,
        notices=cast("Notices", store),
        runner=cast("Runner", Ear()),
        facts=FACTS,
        grace_ms=0,
        heartbeat_s=60.0,
        fence=FenceTerms(),
        scratch=scratch,
        files=file_site(scratch),
        log_keeper=FileLogKeeper(scratch),
        checkpoint_removal=CheckpointRemoval(worker_store, scratch, again_s=600.0),
        signatures=Signatures(worker_store, SecretKeys),
    )


def key(job_id: int) -> AttemptKey:
    return AttemptKey(1, job_id, 1)


def test_settings_are_looked_for_in_one_pass_of_a_message() -> None:
    for message, told in (
        ("(" + "a_" * 500_000, ""),
        ("too large (input_bytes_max)", "weft.toml"),
    ):
        ended = never_started(AttemptKey(1, 1, 1), Reason.BAD_SPEC, now_ns=1, message=message)
        assert told in end_report(ended, 2).message


async def test_start_waits_for_the_end_whose_place_it_took(tmp_path: Path) -> None:
    """Else all would be lost as if they had run at once, when this host dies between the two."""
    store = OrderedStore()
    incarnation = incarnation_of(site_of(store, tmp_path), REGISTERED)
    reporting = Reporting(incarnation, Attempts(incarnation))
    outbox = incarnation.outbox
    async with beside(reporting.run()) as running:
        outbox.add_end(Ended(key(1), 10, 100))
        with_a_claim = outbox.take_ends()
        outbox.add_start(Started(key(2), 50))
        outbox.add_start(Started(key(3), 101))
        before = list(await store.until(1))
        # The claim is slow. What comes meanwhile does not let the start pass either.
        outbox.add_end(Ended(key(4), 60, 103))
        outbox.add_start(Started(key(5), 102))
        await asyncio.wait({running}, timeout=0.1)
        meanwhile = list(store.told)
        reporting.recorded(with_a_claim, ["ok"])
        after = list(await store.until(4))

    assert before == meanwhile == [("start", 2)]
    assert sorted(after[1:]) == [("end", 4), ("start", 3), ("start", 5)]


async def test_an_end_goes_from_the_runner_to_the_store_and_is_forgotten(tmp_path: Path) -> None:
    """What it reserved is free at once; it stays held until the store has it."""
    store = OrderedStore()
    site = site_of(store, tmp_path)
    incarnation = incarnation_of(site, REGISTERED)
    attempts, held = Attempts(incarnation), incarnation.held
    held.add(key(1), cpu_m=1000, memory_mib=1).is_sent = True
    attempts.take_in(Happened(ended=[Ended(key(1), 10, 100)]))
    free, kept = not held.live_count, set(held.by_key)
    async with beside(Reporting(incarnation, attempts).run()), asyncio.timeout(60):
        await incarnation.outbox.until_settled()

    assert (free, kept) == (True, {key(1)})
    assert store.told == [("end", 1)]
    assert not held.by_key
    assert cast("Ear", site.runner).acknowledged == [key(1)]


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
    async with beside(Keeping(incarnation, Attempts(incarnation)).run()), asyncio.timeout(60):
        await store.asked.wait()
    entered = [one.phase for one in outbox.take_phases()]
    assert entered == ([Phase.COLLECTING] if collects else [])


async def test_attempt_ends_with_its_outputs_not_with_their_record(tmp_path: Path) -> None:
    """Else a database that is away is billed, and seems to be work of the host."""
    store = OrderedStore()
    incarnation = incarnation_of(site_of(store, tmp_path), REGISTERED)
    directories = JobDirectories(tmp_path / "files")
    directories.make(key(1))
    directories.keep_plan(key(1), Plan(outputs=(FileOutput(from_="**", optional=True),)))
    incarnation.files.adopt([key(1)])
    kept = await incarnation.files.keep(Ended(key(1), 10, 100), incarnation.products.read)

    assert kept.ended_ns == 100 + store.storing_ms * 10**6 <= store.asked_ns


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
    async with beside(Keeping(incarnation, attempts).run()), asyncio.timeout(60):
        await store.asked.wait()
        (started,), (entered,) = outbox.take_starts(), outbox.take_phases()
        attempts.ended.clear()
        attempts.stop([key(1)])
        await attempts.ended.wait()
    (ended,) = outbox.take_ends()

    message = "its outputs are copied to store://s/p/"
    assert (started, entered.phase, entered.message) == (
        Started(key(1), 10),
        Phase.COLLECTING,
        message,
    )
    assert (ended.reason, ended.started_ns) == (Reason.CANCELLED, 10)
    assert not attempts.keeping


async def test_end_is_sent_once_and_waited_for_until_it_is_recorded(tmp_path: Path) -> None:
    outbox = Outbox(BlockFiles(tmp_path))
    one, other = (never_started(AttemptKey(1, n, 1), Reason.SYSTEM, now_ns=1) for n in (1, 2))
    outbox.add_start(Started(one.key, 0))  # which its end tells, too
    outbox.add_end(one)
    outbox.add_end(other)
    assert outbox.take_ends() == [one, other]
    outbox.add_end(one)
    task = asyncio.create_task(outbox.until_settled())
    outbox.settle([one.key])
    await asyncio.sleep(0)
    assert not task.done()
    outbox.settle([other.key])
    await task

    assert not outbox.take_ends()
    assert not outbox.take_starts()
