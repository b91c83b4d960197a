"""A mistake at any step of the agent, or a refusal: no job but the one it is about is harmed."""

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import structlog

from contexts import beside
from weft.core.errors import (
    LinkRefused,
    ServedQueueNotFound,
    ServerReplaced,
    Unauthenticated,
    WeftError,
    WorkerAlive,
)
from weft.core.states import AttemptKey, Reason
from weft.plugins.runners.spawner import SpawnerRunner
from weft.ports import patience
from weft.ports.store import WorkerStore
from weft.ports.transport import Route
from weft.ports.worker_link import Look
from weft.wire.log_format import own_path
from weft.worker.agent import agent, consuming
from weft.worker.agent.attempts import Attempts
from weft.worker.agent.consuming import Consuming
from weft.worker.agent.session import Session
from weft_link.worker import shipping
from weft_link.worker.calls import Looking
from weft_link.worker.shipping import Shipper
from worker.fake_store import FakeStore
from worker.spawner_process import marked, until_gone
from worker.test_agent import spawners_of, until_there
from worker.worker_process import Worker, sh

ERRORS = pytest.mark.parametrize("error", [RecursionError, MemoryError, ValueError])
BAD = 2
"""The job about which a mistake is made."""
_REGISTERS = "register_worker"


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "_AGAIN_LONGEST_S", 0.01)


async def mistaken(error: type[Exception]) -> None:
    await asyncio.sleep(0)
    raise error("a mistake")


@ERRORS
async def test_a_mistake_in_any_loop_begins_a_new_session(
    error: type[Exception], short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each session has it in another loop; the job that runs meanwhile is the same attempt."""
    worker, through = Worker(short_path, FakeStore()), asyncio.Event()
    loops_of, sessions = Session._loops, list[int]()

    def loops(session: Session) -> list[Coroutine[None, None, None]]:
        found = loops_of(session)
        sessions.append(len(found))
        at = len(sessions) - 2  # the first one starts the job
        if 0 <= at < len(found):
            found[at].close()
            found[at] = mistaken(error)
        elif at < 0:
            found.append(until_running(worker, error))
        elif at == len(found):
            through.set()
        return found

    monkeypatch.setattr(Session, "_loops", loops)
    gate = short_path / "gate"
    await worker.start()
    worker.store.submit(until_there(gate))
    assert worker.task is not None
    waiting = asyncio.create_task(through.wait())
    await asyncio.wait({worker.task, waiting}, timeout=30, return_when="FIRST_COMPLETED")
    assert through.is_set(), worker.task
    gate.touch()
    (report,) = await worker.store.until(1)
    await worker.end()

    assert (report.reason, report.attempt, worker.output(report)) == (None, 1, b"on\n")


async def until_running(worker: Worker, error: type[Exception]) -> None:
    await worker.store.until_started(1)
    raise error("a mistake")


class Hasty(FakeStore):
    """Each of its calls fails once, or three times if all that it knew is gone."""

    def __init__(self, error: type[Exception]) -> None:
        super().__init__()
        self.failed = Counter[str]()
        for name in calls():
            setattr(self, name, self._once(name, getattr(self, name), error))

    def _once(
        self, name: str, call: Callable[..., Awaitable[Any]], error: type[Exception]
    ) -> Callable[..., Awaitable[Any]]:
        async def failing_once(*args: object, **named: object) -> object:
            if self.failed[name] < (3 if error is ServerReplaced else 1):
                self.failed[name] += 1
                raise error(name)
            return await call(*args, **named)

        return failing_once


def calls() -> Iterator[str]:
    for name, _ in inspect.getmembers(FakeStore, inspect.iscoroutinefunction):
        if hasattr(WorkerStore, name) and name != _REGISTERS:
            yield name


@pytest.mark.parametrize("error", [*ERRORS.args[1], ServerReplaced])
async def test_a_mistake_in_any_call_of_the_store_loses_no_job(
    error: type[Exception], short_path: Path
) -> None:
    store = Hasty(error)
    worker = Worker(short_path, store)
    worker.heartbeat_s = 0.05
    with structlog.testing.capture_logs() as told:
        await worker.start()
        store.submit(*(sh("exit 0") for _ in range(5)))
        await store.until(5)
        await store.until_heartbeats(1)
        store.submit(sh("echo on"))
        *_, report = await store.until(6)
        await worker.end()

    assert {"claim_jobs", "get_chunks", "heartbeat", "wait_for_work"} <= {*store.failed}
    assert report.reason is None
    assert error is not ServerReplaced or not [t for t in told if t["log_level"] == "error"]


STEPS: dict[str, tuple[type, str, Callable[..., bool]]] = {
    "specs": (FakeStore, "get_chunks", lambda _, firsts: BAD in firsts),
    "submit": (SpawnerRunner, "submit", lambda some: BAD in [one.key.job_id for one in some]),
    "end": (Attempts, "_take_end", lambda ended, _: ended.key.job_id == BAD),
    "report": (
        FakeStore,
        "complete_attempts",
        lambda _, reports: any(one.job_id == BAD and one.reason is None for one in reports),
    ),
}
"""Where, and whether it is about the job."""


@ERRORS
@pytest.mark.parametrize("step", STEPS)
async def test_a_job_that_fails_a_step_ends_alone(
    step: str, error: type[Exception], short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, name, is_bad = STEPS[step]
    call = getattr(kind, name)

    def poisoned(it: object, *args: object) -> object:
        if is_bad(*args):
            raise error("poison")
        return call(it, *args)

    monkeypatch.setattr(kind, name, poisoned)
    worker = Worker(short_path, FakeStore())
    await worker.start()
    worker.store.submit(*(sh("exit 0") for _ in range(4)))
    reports = await worker.store.until(4)
    await worker.end()

    found = {report.job_id: report.reason for report in reports}
    assert found == {1: None, BAD: Reason.SYSTEM, 3: None, 4: None}


class OneMistake:
    """An api whose first answer is a mistake; it counts the calls."""

    incarnation_id = 1

    def __init__(self, error: type[Exception]) -> None:
        self._error = error
        self.names: list[str] = []
        self.is_done = asyncio.Event()

    async def call(self, name: str, *_: object) -> int:
        """Do as `LinkCaller` does."""
        self.names.append(name)
        if len(self.names) == 1:
            raise self._error("a mistake")
        self.is_done.set()
        return 0


class NoFiles:
    """The directory of an attempt that has left nothing."""

    async def listed(self, _: object) -> list[object]:
        """Do as `RunningFiles` does."""
        return []


@ERRORS
async def test_a_mistake_ends_no_loop_of_a_worker_outside(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "EVERY_S", 0.01)
    shipped, answered = OneMistake(error), OneMistake(error)
    shipper, looking = Shipper(cast("Any", shipped)), Looking(cast("Any", answered), "node")
    key = AttemptKey(1, 1, 1)
    shipper.root, looking.running = tmp_path, cast("Any", NoFiles())
    file = own_path(tmp_path, 1, 1, 1)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"out")
    shipper.follow([key])
    for number in "12":
        looking.ask(msgspec.json.encode(Look(number=number, key=key)).decode())
    async with beside(shipper.run()), beside(looking.run()):
        await asyncio.gather(shipped.is_done.wait(), answered.is_done.wait())

    assert answered.names == ["answer_look"] * 2


async def test_a_consumer_that_fails_is_told_and_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also by what no transport raises."""
    monkeypatch.setattr(patience, "RETRY_LONGEST_S", 0.0)
    again = asyncio.Event()
    tries = iter([KeyError("a mistake"), None])

    class Failing(Consuming):
        def __init__(self) -> None:
            pass

        async def _consume(self, consumer: consuming._Consumer) -> None:
            assert consumer.name == "rabbit"
            if (error := next(tries)) is not None:
                raise error
            again.set()
            await asyncio.Event().wait()

    consumer = consuming._Consumer("rabbit", Route("local", "q1"))
    with structlog.testing.capture_logs() as told:
        async with beside(Failing()._consume_always(consumer)) as task:
            await again.wait()
            assert not task.done()
    assert [(one["event"], one["queue"]) for one in told] == [("transport.consumer_failed", "q1")]


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
    await worker.begin(until_there(short_path / "never"))
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
    await worker.begin(sh("sleep 4009.5"))
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


@pytest.mark.parametrize("fails", [True, False])
async def test_task_that_lost_its_cancellation_is_cancelled_again(
    monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """What it closed on its way out had failed; what ran beside it has failed, or both end."""
    monkeypatch.setattr(patience, "_CANCELLED_AGAIN_S", 0.01)
    closings = iter([OSError("closed by the other side")] * 2)

    async def go_on() -> None:
        while True:
            with suppress(OSError):
                try:
                    await asyncio.Event().wait()
                finally:
                    for error in closings:
                        raise error

    async def begin_both(begin: Callable[[patience.Work], None]) -> None:
        begin(go_on())
        if fails:
            raise KeyError
        running.cancel()
        await asyncio.Event().wait()

    running = asyncio.create_task(patience.run_beside(begins=begin_both))
    await asyncio.wait({running}, timeout=20)
    left = [*closings]
    with pytest.raises(KeyError if fails else asyncio.CancelledError):
        running.result()
    assert left == []


async def test_loop_that_somebody_else_cancels_ends_those_beside_it() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match="cancelled"):
        await patience.run_beside(cancelled(), patience.wait_at_most(None, asyncio.Event()))


async def test_idle_spawner_waits_for_the_successor_of_a_dead_agent(worker: Worker) -> None:
    await worker.crash()
    await worker.start()

    assert len(worker.store.incarnations) == 1
