"""An agent that the store refuses, with a real spawner: nothing idle is left, no job is lost."""

import asyncio
from pathlib import Path

import pytest

from weft.core.errors import (
    LinkRefused,
    ServedQueueNotFound,
    Unauthenticated,
    WeftError,
    WorkerAlive,
)
from worker.fake_store import FakeStore
from worker.spawner_process import marked, until_gone
from worker.test_agent import spawners_of, until_there
from worker.worker_process import Worker, sh


async def worker_after_refusal(path: Path, error: WeftError) -> Worker:
    """Return a worker that runs, after one that was refused at its start has left no process."""
    worker = Worker(path, FakeStore())
    worker.store.refuses_with = error
    with pytest.raises(type(error)):
        await worker.start()
    until_gone(*marked(str(path)))
    worker.store.refuses_with = None
    await worker.start()
    return worker


@pytest.mark.parametrize("error", [WorkerAlive("taken"), ServedQueueNotFound("none")])
async def test_refused_worker_leaves_no_process(short_path: Path, error: WeftError) -> None:
    """Neither a spawner that it has just started, nor one with jobs of an earlier agent."""
    worker = await worker_after_refusal(short_path, error)
    worker.store.submit(until_there(short_path / "never"))
    await worker.store.until_started(1)
    await worker.crash()
    jobs = marked(str(short_path / "never"))
    worker.store.refuses_with = error
    with pytest.raises(type(error)):
        await worker.start()

    assert jobs
    until_gone(*jobs, *marked(str(short_path)))


async def until_refused(worker: Worker) -> None:
    """Let the store refuse the worker from now on, as when its token is revoked."""
    worker.store.refuses_with = Unauthenticated("the token is revoked")
    worker.store.notify("work", "")
    assert worker.task is not None
    with pytest.raises(Unauthenticated):
        await worker.task


@pytest.mark.parametrize("error", [LinkRefused("not this name"), Unauthenticated("revoked")])
async def test_worker_outside_that_is_refused_leaves_no_idle_process(
    short_path: Path, error: WeftError
) -> None:
    """Neither when it registers nor later."""
    worker = await worker_after_refusal(short_path, error)
    left = marked(str(short_path))
    await until_refused(worker)

    assert left
    until_gone(*left)


@pytest.mark.heavy
async def test_jobs_of_a_refused_worker_go_on_and_are_adopted(
    worker: Worker, short_path: Path
) -> None:
    """As when its token is replaced: also what has ended meanwhile."""
    gates = [short_path / "first", short_path / "second"]
    worker.store.submit(*map(until_there, gates))
    await worker.store.until_started(2)
    for gate in gates:
        left = marked(str(gate))
        await until_refused(worker)
        gate.touch()
        await asyncio.to_thread(until_gone, *left)
        worker.store.refuses_with = None
        await worker.start()
    reports = await worker.store.until(2)

    assert [(one.reason, one.attempt) for one in reports] == [(None, 1)] * 2
    assert len(worker.store.incarnations) == 1


async def test_fence_ends_jobs_and_spawner_of_a_refused_worker(worker: Worker) -> None:
    await worker.stop()
    worker.fence_s, worker.heartbeat_s = 1.0, 0.1
    await worker.start()
    worker.store.submit(sh("sleep 4009.5"))
    await worker.store.until_started(1)
    jobs, spawners = marked("4009.5"), spawners_of(worker)
    await until_refused(worker)

    assert jobs
    await asyncio.to_thread(until_gone, *jobs, *spawners)


async def test_spawner_without_agent_ends_with_the_fence(worker: Worker) -> None:
    """Else a worker whose agent was killed, and whose token is revoked, leaves it for ever."""
    await worker.stop()
    worker.fence_s, worker.heartbeat_s = 1.0, 0.1
    await worker.start()
    spawners = spawners_of(worker)
    await worker.crash()

    assert spawners
    await asyncio.to_thread(until_gone, *spawners)
    await worker.start()
    assert spawners_of(worker)


async def test_agent_of_a_worker_that_fails_elsewhere_does_not_adopt_again(worker: Worker) -> None:
    spawners = spawners_of(worker)
    assert worker.agent is not None
    assert worker.task is not None
    await worker.agent.abandon()
    await worker.task

    assert spawners
    await asyncio.to_thread(until_gone, *spawners)
    assert len(worker.store.incarnations) == 1


async def test_idle_spawner_waits_for_the_successor_of_a_dead_agent(worker: Worker) -> None:
    await worker.crash()
    await worker.start()

    assert len(worker.store.incarnations) == 1
