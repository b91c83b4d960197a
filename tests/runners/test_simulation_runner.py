"""The runner `simulation` passes the suite of the port `runner`, and takes each step."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from weft.core.ends.conditions import Ask, Blocked
from weft.core.states import AttemptKey, Reason
from weft.plugins.executors.simulation import NoSimulation, SimulationExecutor
from weft.plugins.log_stores.files.plugin import FileLogWriter
from weft.plugins.log_stores.files.store import FileLogStore
from weft.plugins.runners.simulation import SimulationRunner
from weft.ports.runner import Assignment
from weft.wire.documents.simulations import (
    Compute,
    Fail,
    HttpCall,
    Log,
    SimulationDocument,
    Sleep,
    Step,
)
from weft.wire.spec import JobSpec
from weft_testing.runner_suite import RunnerSuite, log_of

ASK = Ask("licence_missing", "tcp", {"host": "licences", "port": "1"})
LONG = Compute(iterations=10**12)


class LicensedExecutor(SimulationExecutor):
    """Never has a licence."""

    def steps_of(self, spec: JobSpec) -> tuple[Step, ...]:
        raise Blocked(ASK.condition, ASK.tester, ASK.parameters, message=f"{spec.executor} waits")


def simulated(job_id: int, *steps: Step, timeout_s: float | None = None) -> Assignment:
    """Return an attempt that takes these steps."""
    spec = JobSpec(
        executor="simulation", simulation=SimulationDocument(steps), timeout_s=timeout_s
    )
    return Assignment(AttemptKey(1, job_id, 1), spec, 1, 0, (1, job_id))


def commands_of_children() -> Iterator[str]:
    """Yield the commands of processes of this one; what other tests left dead has none."""
    for one in psutil.Process().children():
        with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
            yield str(one.cmdline())


class TestSimulationRunner(RunnerSuite):
    exit_code = 1

    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        self.logs = tmp_path / "logs"
        executors = {"simulation": SimulationExecutor(), "licensed": LicensedExecutor()}
        self.one = SimulationRunner(executors, FileLogWriter(self.logs), processes_max=1)

    def runner(self) -> SimulationRunner:
        """Return the only one of this process."""
        return self.one

    def assignment(self, job_id: int, *, runs_s: float = 0.0, fails: bool = False) -> Assignment:
        end = [Fail("it had to")] if fails else []
        return simulated(job_id, Log(f"{job_id}"), Sleep(round(runs_s * 1000)), *end)

    def blocked(self) -> tuple[Assignment, Ask]:
        spec = JobSpec(executor="licensed")
        return Assignment(AttemptKey(1, 2, 1), spec, 1, 0, (1, 2)), ASK

    async def output_of(self, one: Assignment) -> bytes:
        async with self.ended() as agent:
            end = await agent.run(one)
            assert end.reason is None
            (pieces,) = await FileLogStore(self.logs).read_all([log_of(end)])
            data = b"".join(piece.data for piece in pieces)
            assert len(data) == end.stdout_bytes
        return data

    async def test_lines_of_all_steps_are_its_output(self) -> None:
        """Also of those that stand behind a wait."""
        steps = (Log("a"), Sleep(250), Log(None), HttpCall(1, "http://10.0.0.1/"), Log("\u00e9"))
        assert await self.output_of(simulated(1, *steps)) == b"a\n\n\xc3\xa9\n"

    async def test_failure_ends_it_with_its_message(self) -> None:
        """Later steps are not taken."""
        one = simulated(1, Fail("no more"), Sleep(60_000))
        async with self.ended() as agent:
            end = await agent.run(one)
            assert (end.reason, end.exit_code, end.message) == (Reason.EXIT, 1, "no more")

    async def test_time_limit_ends_it(self) -> None:
        one = simulated(1, Sleep(60_000), timeout_s=0.05)
        async with self.ended() as agent:
            await agent.runner.submit([one])
            assert (await agent.end_of(one)).reason == Reason.TIMEOUT

    async def test_computing_holds_up_nobody_and_stops_at_once(self) -> None:
        """It has a process of its own, which is killed; another waits for its place."""
        some = [simulated(n, LONG) for n in (1, 2)]
        quick = simulated(3, Compute(1000), Sleep(1))
        async with self.ended() as agent:
            await agent.runner.submit(some)
            await agent.until(lambda told: len(told.started) == len(some))
            begun = time.monotonic()
            await agent.run(quick)
            assert time.monotonic() - begun < 1
            keys = [one.key for one in some]
            agent.runner.stop(keys, reason=Reason.CANCELLED, grace_ms=10_000)
            ends = [await agent.end_of(one) for one in some]
            assert [end.reason for end in ends] == [Reason.CANCELLED] * 2
        assert not [one for one in commands_of_children() if "add_up" in one]

    async def test_cpu_of_a_computation_is_told(self) -> None:
        one = simulated(1, Compute(20_000_000))
        async with self.ended() as agent:
            end = await agent.run(one)
            assert end.reason is None
            assert end.cpu_ms > 0

    @pytest.mark.heavy
    async def test_thousands_sleep_in_one_process(self) -> None:
        """And all end together."""
        some = [simulated(n, Sleep(500)) for n in range(10_000)]
        async with self.ended() as agent:
            n_children = len(psutil.Process().children())
            await agent.runner.submit(some)
            assert len(psutil.Process().children()) == n_children
            told = await agent.until(lambda told: len(told.ended) == len(some))
            assert all(one.reason is None for one in told.ended)

    async def test_silence_of_the_database_ends_all(self) -> None:
        one = simulated(1, Sleep(60_000))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            now_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            agent.runner.keep_until(now_ns + 50_000_000)
            assert (await agent.end_of(one)).reason == Reason.LOST

    async def test_stop_before_the_first_step_is_told(self) -> None:
        one = simulated(1, Sleep(60_000))
        async with self.ended() as agent:
            await agent.runner.submit([one])
            agent.runner.stop([one.key], reason=Reason.CANCELLED, grace_ms=0)
            assert (await agent.end_of(one)).reason == Reason.CANCELLED
            await asyncio.sleep(0)
            assert len(agent.told.ended) == 1


def test_spec_without_a_simulation_is_refused() -> None:
    """Only another program than the api can have stored it."""
    with pytest.raises(NoSimulation):
        SimulationExecutor().steps_of(JobSpec(executor="simulation"))
