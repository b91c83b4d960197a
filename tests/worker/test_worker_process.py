"""A real agent process, a real spawner and the real database: who is killed, and what is left."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from weft.core.errors import WorkerAlive
from weft.core.states import JobState, Reason
from weft.ports.store import UNKEYED, Caller, JobRows, NewBatch, Row, Shape
from weft.store import ApiStore, open_admin, open_api_store
from weft.wire.spec import JobSpec, encode_chunk
from worker.agent_process import AgentProcess
from worker.spawner_process import can_suspend, clocks_of_timers, marked, until_gone
from worker.worker_process import sh

pytestmark = pytest.mark.slow
TOKEN = "a token of these tests"
WITHIN_S = 60.0


class Weft:
    """The api's store, as a user without an api."""

    def __init__(self, store: ApiStore, caller: Caller, dsn: str) -> None:
        self._store = store
        self._caller = caller
        self._dsn = dsn

    async def submit(self, *specs: JobSpec) -> int:
        """Create a batch of small jobs."""
        rows = JobRows(
            first_job=1,
            n_jobs=len(specs),
            shapes=[Shape(memory_mib=64)],
            shape_index=[0],
            group_id=[0],
            priority=[0],
            always_run=[False],
            max_attempts=[1],
            retry_on=[0],
            chunk_first=[1],
            chunk_n=[len(specs)],
            chunk_body=[encode_chunk(list(specs))],
        )
        batch_id, _, _ = await self._store.submit(self._caller, NewBatch(), [], rows, UNKEYED)
        return batch_id

    async def until(self, batch_id: int, **counts: int) -> None:
        """Wait until the batch's document has at least these counts."""
        async with asyncio.timeout(WITHIN_S):
            async for _ in self._store.notices.listen("events"):
                await self._store.wait_for_events()
                batch = await self._store.get_batch(self._caller, batch_id)
                if all(batch[name] >= count for name, count in counts.items()):
                    return

    async def jobs(self, batch_id: int) -> Sequence[Row]:
        """Return the documents of the jobs."""
        return await self._store.list_jobs(self._caller, batch_id, after=0, limit=1000)

    async def attempts(self, batch_id: int, job_id: int = 1) -> Sequence[Row]:
        """Return the documents of a job's attempts."""
        return await self._store.list_attempts(self._caller, batch_id, job_id)

    async def cancel(self, batch_id: int) -> None:
        """Cancel all of it."""
        await self._store.cancel_group(self._caller, batch_id, 0, force=False)

    async def drain(self) -> str:
        """Drain the worker; return its state."""
        await self._store.drain_worker(self._caller, "w", None, reason=None)
        return await self.state()

    async def uncordon(self) -> None:
        """Let the worker take jobs again."""
        await self._store.uncordon_worker(self._caller, "w", None)

    async def state(self) -> str:
        """Return the worker's state."""
        return str((await self.worker())["state"])

    async def worker(self) -> Row:
        """Return the worker's document."""
        return await self._store.get_worker(self._caller, "w", None)

    async def assert_audit_is_clean(self) -> None:
        """Recompute everything."""
        async with open_admin(self._dsn) as admin:
            assert [found for found in await admin.audit() if found.rows] == []


@asynccontextmanager
async def open_weft(dsns: dict[str, str]) -> AsyncIterator[Weft]:
    async with open_admin(dsns["admin"]) as admin:
        await admin.ensure_local_user(tenant="local", user="ada", token=TOKEN)
    async with open_api_store(dsns["weft_api"]) as store:
        caller = await store.authenticate(TOKEN)
        assert caller is not None
        yield Weft(store, caller, dsns["admin"])


@pytest.fixture
async def weft(database: dict[str, str]) -> AsyncIterator[Weft]:
    async with open_weft(database) as result:
        yield result
        await result.assert_audit_is_clean()


@pytest.fixture
async def agent(database: dict[str, str], short_path: Path) -> AsyncIterator[AgentProcess]:
    one = AgentProcess(short_path, database)
    await asyncio.to_thread(one.start)
    yield one
    sys.stdout.write(one.log())  # shown if the test fails
    await asyncio.to_thread(one.end)


async def test_killed_agent_is_succeeded_without_a_second_attempt(
    weft: Weft, agent: AgentProcess
) -> None:
    batch = await weft.submit(sh("sleep 1; exit 3"), *(sh("echo hi") for _ in range(200)))
    await weft.until(batch, n_completed=20)
    await asyncio.to_thread(agent.kill)
    await asyncio.to_thread(agent.start)
    await weft.until(batch, n_completed=201)

    jobs = await weft.jobs(batch)
    assert (jobs[0]["attempt"], jobs[0]["exit_code"]) == (1, 3)
    assert {job["state"] for job in jobs[1:]} == {JobState.SUCCESS.word}
    for job in jobs:
        *leases, _last = await weft.attempts(batch, job["job_id"])
        # Claimed in the moment of the kill and never told to the spawner.
        assert [one["started_at"] for one in leases] == [None] * len(leases)


async def test_killed_spawner_leaves_no_process_and_its_jobs_run_again(
    weft: Weft, agent: AgentProcess
) -> None:
    batch = await weft.submit(
        sh("setsid sleep 5001 & sleep 5002"), *(sh("true") for _ in range(50))
    )
    await weft.until(batch, n_completed=50, n_running=1)
    left = marked("sleep\0005001") | marked("sleep\0005002")
    await asyncio.to_thread(agent.kill_spawner)
    await asyncio.to_thread(until_gone, *left)
    await until_attempts(weft, batch, 2)

    (first, second) = await weft.attempts(batch)
    assert (first["reason"], second["state"]) == ("lost", "running")
    await weft.cancel(batch)
    await weft.until(batch, n_completed=51)


async def until_attempts(weft: Weft, batch: int, count: int) -> None:
    async with asyncio.timeout(WITHIN_S):
        while len(await weft.attempts(batch)) < count:
            await asyncio.sleep(0)


async def test_both_killed_at_once(weft: Weft, agent: AgentProcess) -> None:
    batch = await weft.submit(*(sh("sleep 0.01; echo x") for _ in range(200)))
    await weft.until(batch, n_completed=20)
    await asyncio.to_thread(agent.kill)
    await asyncio.to_thread(agent.kill_spawner)
    await asyncio.to_thread(agent.start)
    await weft.until(batch, n_completed=200)

    assert {job["state"] for job in await weft.jobs(batch)} == {JobState.SUCCESS.word}


@pytest.mark.skipif(not can_suspend(), reason="the kernel lends no time namespace")
async def test_host_that_was_suspended_before_runs_jobs(
    weft: Weft, database: dict[str, str], short_path: Path
) -> None:
    """Agent and spawner use one clock for the fence; heartbeats follow it as well."""
    agent = AgentProcess(short_path, database, after_suspension=True)
    try:
        await asyncio.to_thread(agent.start)
        batch = await weft.submit(sh("true"))
        await weft.until(batch, n_completed=1)
        (job,) = await weft.jobs(batch)
        assert agent.process is not None
        async with asyncio.timeout(WITHIN_S):
            while clocks_of_timers(agent.process.pid) != {time.CLOCK_BOOTTIME}:
                await asyncio.sleep(0)
    finally:
        await asyncio.to_thread(agent.end)

    assert (job["state"], job["attempt"]) == (JobState.SUCCESS.word, 1)


async def test_stopped_worker_gives_its_jobs_back(weft: Weft, agent: AgentProcess) -> None:
    batch = await weft.submit(sh('trap "" TERM; while :; do sleep 0.05; done'), sh("sleep 60"))
    await weft.until(batch, n_running=2)
    await asyncio.to_thread(agent.stop)

    assert agent.spawner_pids() == []
    assert {job["state"] for job in await weft.jobs(batch)} == {JobState.READY.word}
    await weft.cancel(batch)


async def test_cancelled_job_is_killed_with_its_children(weft: Weft, agent: AgentProcess) -> None:
    batch = await weft.submit(sh("setsid sleep 5003 & sleep 5004"))
    await weft.until(batch, n_running=1)
    async with asyncio.timeout(WITHIN_S):
        while not (left := marked("sleep\0005003")):
            await asyncio.sleep(0)
    await weft.cancel(batch)
    await asyncio.to_thread(until_gone, *left)
    await weft.until(batch, n_completed=1)

    (job,) = await weft.jobs(batch)
    assert (job["state"], job["reason"]) == ("cancelled", Reason.CANCELLED.word)


async def until_exit(agent: AgentProcess) -> int:
    assert agent.process is not None
    return await asyncio.to_thread(agent.process.wait, WITHIN_S)


@pytest.mark.parametrize("is_killed", [False, pytest.param(True, marks=pytest.mark.heavy)])
async def test_drained_worker_ends_in_order_without_a_driver(
    weft: Weft, agent: AgentProcess, tmp_path: Path, *, is_killed: bool
) -> None:
    """Its job goes on; also when the agent is killed meanwhile, whose successor drains on."""
    go = tmp_path / "go"
    waits = sh(f"until [ -e {go} ]; do sleep 0.02; done")
    batch = await weft.submit(waits)
    await weft.until(batch, n_running=1)
    state = await weft.drain()
    later = await weft.submit(sh("true"))
    if is_killed:
        await asyncio.to_thread(agent.kill)
        await asyncio.to_thread(agent.start)
        assert await weft.state() == "draining"
    go.touch()
    code = await until_exit(agent)

    assert (state, code, await weft.state()) == ("draining", 0, "deleted")
    assert agent.spawner_pids() == []
    (job,) = await weft.jobs(batch)
    assert (job["state"], job["attempt"]) == (JobState.SUCCESS.word, 1)
    assert [one["state"] for one in await weft.jobs(later)] == [JobState.READY.word]
    await asyncio.to_thread(agent.start)
    await weft.until(later, n_completed=1)
    assert await weft.state() == "active"


async def test_idle_worker_drains_at_once_and_one_whose_drain_is_taken_back_works(
    weft: Weft, agent: AgentProcess, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    batch = await weft.submit(sh(f"until [ -e {go} ]; do sleep 0.02; done"))
    await weft.until(batch, n_running=1)
    await weft.drain()
    await weft.uncordon()
    go.touch()
    batch = await weft.submit(sh("true"))
    await weft.until(batch, n_completed=1)
    await weft.drain()

    assert await until_exit(agent) == 0
    assert await weft.state() == "deleted"


async def test_slots_are_the_jobs_that_run_at_a_time(
    weft: Weft, database: dict[str, str], short_path: Path
) -> None:
    """Whatever fits beside them; a third job would find both directories."""
    agent = AgentProcess(
        short_path,
        database,
        WEFT_WORKER_CPU_M="64000",
        WEFT_WORKER_SLOTS="2",
        WEFT_WORKER_LABELS="rack=12",
    )
    one, two = short_path / "one", short_path / "two"
    script = (
        f"for d in {one} {two}; do mkdir $d 2>&- && sleep 0.1 && rmdir $d && exit; done; exit 9"
    )
    try:
        await asyncio.to_thread(agent.start)
        batch = await weft.submit(*(sh(script) for _ in range(30)))
        await weft.until(batch, n_completed=30)
        jobs = await weft.jobs(batch)
        worker = await weft.worker()
    finally:
        await asyncio.to_thread(agent.end)

    assert {job["exit_code"] for job in jobs} == {0}
    assert (worker["slots"], worker["offers"]["rack"]) == (2, ["12"])


async def test_second_agent_of_a_name_is_refused_while_the_first_lives(
    weft: Weft, agent: AgentProcess, tmp_path: Path
) -> None:
    """In the same home it would find the spawner and take it from the first."""
    go = tmp_path / "go"
    batch = await weft.submit(sh(f"until [ -e {go} ]; do sleep 0.02; done"))
    await weft.until(batch, n_running=1)
    first = agent.process
    second = await asyncio.to_thread(agent.run_another)
    go.touch()
    await weft.until(batch, n_completed=1)

    assert second == WorkerAlive.exit_code
    assert f'"code":"{WorkerAlive.code}"' in agent.log()
    assert first is not None
    assert first.poll() is None
    (job,) = await weft.jobs(batch)
    assert (job["state"], job["attempt"]) == (JobState.SUCCESS.word, 1)
