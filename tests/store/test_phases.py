"""Attempts of a remote runner, from the agent to the documents of their jobs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from builders import job_rows
from contexts import beside
from runners.directory_engine import DirectoryEngine
from store.test_conditions import conditions, look, soon
from store.world import World
from weft.core.why.facts import ClaimedFacts
from weft.plugins.log_stores.files.plugin import FileLogKeeper, FileLogWriter
from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles
from weft.wire.sealed import SecretKeys
from weft.wire.spec import JobSpec, encode_chunk
from weft.worker.agent.agent import Agent
from weft.worker.agent.checkpoints import CheckpointRemoval
from weft.worker.agent.site import AgentSite, FenceTerms, WorkerFacts
from weft.worker.agent.specs import Signatures
from worker.file_site import file_site

WITHIN_S = 60.0
SLEEPERS = """
    SELECT count(*) FROM weft.worker_incarnation i JOIN weft.pool p USING (pool_id)
    WHERE p.name = $1 AND i.waiting AND i.takes
"""


def agent_of(world: World, engine: DirectoryEngine, scratch: Path) -> Agent:
    handles, logs = Handles(scratch / "state"), FileLogWriter(scratch / "logs")
    runner = RemoteRunner(engine, handles, logs, "remote")
    store = world.backend.worker_store()
    facts = WorkerFacts(
        name="remote",
        host="here",
        pool=world.pool,
        version="0",
        cpu_m=100_000,
        memory_mib=100_000,
        storage_mib=1_000_000,
        gpu=0,
        offers={"executor": ["process", "function"]},
    )
    site = AgentSite(
        store=store,
        notices=store.notices,
        giving=store,
        runner=runner,
        facts=facts,
        grace_ms=100,
        heartbeat_s=60.0,
        fence=FenceTerms(),
        scratch=scratch,
        files=file_site(scratch),
        log_keeper=FileLogKeeper(Path("/nowhere")),
        checkpoint_removal=CheckpointRemoval(store, scratch / "checkpoints", again_s=600.0),
        signatures=Signatures(store, SecretKeys),
    )
    return Agent(site, on_ready=lambda: None)


@asynccontextmanager
async def stopped_in_order(agent: Agent) -> AsyncIterator[None]:
    """Let an agent work, then stop it as SIGTERM does."""
    async with beside(agent.run()):
        yield
        await agent.stop()


async def until(world: World, batch: int, **wanted: object) -> None:
    """Wait until the document of the job says this."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            job = await world.api.get_job(world.caller, batch, 1)
            if all(job[name] == value for name, value in wanted.items()):
                return


async def test_phases_of_a_remote_attempt_are_in_its_documents(
    world: World, tmp_path: Path
) -> None:
    """Queued elsewhere it does not run and costs nothing."""
    spec = JobSpec(command=("/bin/sh", "-c", "sleep 0.5; exit 3"))
    engine = DirectoryEngine(tmp_path / "engine", queued_s=3600)
    agent = agent_of(world, engine, tmp_path)
    async with stopped_in_order(agent):
        batch = await world.submit(replace(job_rows(1), chunk_body=[encode_chunk([spec])]))
        await until(world, batch, state="running", message="it waits: Priority")
        (live,) = await world.api.list_attempts(world.caller, batch, 1)
        group = await world.api.why_group(world.caller, batch, 0)
        engine.queued_s = 0  # it was submitted long ago, and its half second is over
        await until(world, batch, state="failed", phase=None, exit_code=3)
    (attempt,) = await world.api.list_attempts(world.caller, batch, 1)
    history = await world.api.job_history(world.caller, batch, 1)

    assert (live["phase"], live["started_at"]) == ("queued_remote", None)
    assert live["message"] == "it waits: Priority"
    assert group.claimed == ClaimedFacts(1, "remote", elsewhere=True, message="it waits: Priority")
    assert attempt["reason"] == "exit"
    assert attempt["started_at"] is not None
    assert [(one["phase"], one["message"]) for one in history if one["attempt"]][:2] == [
        ("assigned", None),
        ("queued_remote", "it waits: Priority"),
    ]


async def test_orderly_stop_leaves_a_remote_attempt_to_the_next_agent(
    world: World, tmp_path: Path
) -> None:
    """It is neither stopped nor lost, even if its engine is away when that agent starts."""
    engine = DirectoryEngine(tmp_path / "engine", queued_s=0)
    spec = JobSpec(command=("/bin/sh", "-c", "sleep 3600; exit 0"))
    batch = await world.submit(replace(job_rows(1), chunk_body=[encode_chunk([spec])]))
    async with stopped_in_order(agent_of(world, engine, tmp_path)):
        await until(world, batch, state="running", phase="executing")
    (status,) = (await engine.statuses(engine.names())).values()
    engine.queued_s = -3600  # its hour is over
    async with AsyncExitStack() as until_end:
        async with engine.away() as until_refused, asyncio.timeout(WITHIN_S):
            second = agent_of(world, engine, tmp_path)
            await until_end.enter_async_context(stopped_in_order(second))
            await until_refused("statuses")
        await until(world, batch, state="success")
    attempts = await world.api.list_attempts(world.caller, batch, 1)

    assert status.ended_s_ago is None
    assert len(attempts) == 1


async def test_sleeping_agent_starts_what_a_submission_has_claimed_for_it(
    world: World, tmp_path: Path
) -> None:
    """No heartbeat tells it meanwhile: a minute passes until the next one."""
    engine = DirectoryEngine(tmp_path / "engine", queued_s=0)
    spec = JobSpec(command=("/bin/sh", "-c", "sleep 0; exit 0"))
    agent = agent_of(world, engine, tmp_path)
    async with stopped_in_order(agent):
        async with asyncio.timeout(WITHIN_S):
            while not await world.admin.fetchval(SLEEPERS, world.pool):
                pass
        batch = await world.submit(replace(job_rows(1), chunk_body=[encode_chunk([spec])]))
        call = await world.admin.fetchval("SELECT call FROM weft.claim WHERE batch_id = $1", batch)
        await until(world, batch, state="success", attempt=1)

    assert call < 0


async def test_jobs_wait_for_an_engine_that_is_away_and_go_on_by_themselves(
    world: World, tmp_path: Path
) -> None:
    """The first is on its way all the time; the others wait on one condition."""
    engine = DirectoryEngine(tmp_path / "engine", queued_s=0)
    agent = agent_of(world, engine, tmp_path)
    spec = JobSpec(command=("/bin/sh", "-c", "sleep 0; exit 0"))

    async def submit(count: int) -> int:
        return await world.submit(
            replace(job_rows(count), chunk_body=[encode_chunk([spec] * count)])
        )

    async def tested() -> tuple[bool, str]:
        (one,) = await conditions(world)
        epoch = await world.lead()
        found = await world.driver.test_gateway(epoch, one["condition_id"], "remote")
        return found.passed, found.message

    async with stopped_in_order(agent):
        async with engine.away() as until_refused, asyncio.timeout(WITHIN_S):
            first = await submit(1)
            await until_refused("submit")
            await until(world, first, state="running", phase="submitting")
            later = await submit(3)
            while await world.states(later) != "bbb":
                await asyncio.sleep(0)
            fresh = await tested()
            await world.age("job", "claimed_at", by_s=60, batch_id=first)
            away = await tested()
            why = await world.api.why_job(world.caller, later, 1)
            assert await world.states(first) == "R"
        await until(world, first, state="success")
        back = await tested()
        await look(world, soon(3600))
        async with asyncio.timeout(WITHIN_S):
            while await world.states(later) != "sss":
                await asyncio.sleep(0)

    assert fresh[0]
    assert away == (False, "the engine of gateway remote has not answered 1 submissions")
    assert back == (True, "the engine of gateway remote answers")
    assert why.blocked is not None
    assert why.blocked.condition is not None
    told = why.blocked.condition
    assert (told.tester, told.parameters, told.n_jobs) == ("gateway", {"gateway": "remote"}, 3)
