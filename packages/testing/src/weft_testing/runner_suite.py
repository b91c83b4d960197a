"""What every runner must do: a suite that an author of a runner subclasses.

    class TestMine(RunnerSuite):
        def runner(self) -> Runner:
            return MyRunner(self.site)

The methods are coroutines; pytest runs them with `asyncio_mode = auto` of pytest-asyncio.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Command, Reason
from weft.ports.log_store import AttemptLog, LogStore
from weft.ports.runner import Assignment, Ended, Happened, Known, Runner
from weft.wire.spec import JobSpec

WITHIN_S = 20.0


def assignment(job_id: int, *, runs_s: float = 0.0, exit_code: int = 0) -> Assignment:
    """Return an attempt that writes a line, sleeps and exits."""
    script = f"echo {job_id}; sleep {runs_s}; exit {exit_code}"
    spec = JobSpec(command=("/bin/sh", "-c", script))
    return Assignment(AttemptKey(1, job_id, 1), spec, 100, 16, (1, job_id))


def begun(happened: Happened) -> set[AttemptKey]:
    """Return what has started."""
    return {started.key for started in happened.started}


def over(happened: Happened) -> list[AttemptKey]:
    """Return what has ended or was withdrawn."""
    return [*(ended.key for ended in happened.ended), *happened.withdrawn]


def log_of(end: Ended) -> AttemptLog:
    """Return what the database would say of the output of an attempt that succeeded."""
    return AttemptLog(
        end.key.batch_id,
        end.key.job_id,
        end.key.attempt,
        ended=True,
        location=end.location,
        stdout_bytes=end.stdout_bytes,
        stderr_bytes=end.stderr_bytes,
        truncated=end.truncated,
        state="success",
    )


class RunnerWatch:
    """Everything that one runner tells."""

    def __init__(self, runner: Runner, known: Known) -> None:
        self.runner = runner
        self.known = known
        self.told = Happened()
        self._changed = asyncio.Event()

    async def follow(self) -> None:
        """Collect for ever."""
        async for happened in self.runner.happened():
            self.told = Happened(
                [*self.told.started, *happened.started],
                [*self.told.entered, *happened.entered],
                [*self.told.ended, *happened.ended],
                [*self.told.withdrawn, *happened.withdrawn],
                [*self.told.obeyed, *happened.obeyed],
            )
            self._changed.set()

    async def until(self, fact: Callable[[Happened], bool]) -> Happened:
        """Wait until a fact holds of what was told."""
        async with asyncio.timeout(WITHIN_S):
            while not fact(self.told):
                self._changed.clear()
                await self._changed.wait()
        return self.told

    async def begin(self, one: Assignment) -> None:
        """Submit an attempt, and wait until it is told that one has started."""
        await self.runner.submit([one])
        await self.until(lambda told: len(told.started) == 1)

    async def run(self, one: Assignment) -> Ended:
        """Submit an attempt, and wait for its end."""
        await self.runner.submit([one])
        return await self.end_of(one)

    async def end_of(self, one: Assignment) -> Ended:
        """Wait for the end of an attempt."""
        told = await self.until(lambda told: any(end.key == one.key for end in told.ended))
        return next(end for end in told.ended if end.key == one.key)


class RunnerSuite:
    """Tests of the port `runner`. Set up: what `runner` needs; tear down: what it left."""

    def runner(self) -> Runner:
        """Return a runner of the same worker: as each agent makes its own."""
        raise NotImplementedError

    exit_code = 3
    """Of an attempt that fails by itself."""

    def assignment(self, job_id: int, *, runs_s: float = 0.0, fails: bool = False) -> Assignment:
        """Return an attempt that writes a line, takes this long, and may fail by itself."""
        return assignment(job_id, runs_s=runs_s, exit_code=self.exit_code if fails else 0)

    @asynccontextmanager
    async def adopted(self) -> AsyncIterator[RunnerWatch]:
        """Be an agent: adopt, read what happens, and let go."""
        runner = self.runner()
        watch = RunnerWatch(runner, await runner.adopt())
        following = asyncio.ensure_future(watch.follow())
        try:
            yield watch
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            runner.leave()

    @asynccontextmanager
    async def ended(self) -> AsyncIterator[RunnerWatch]:
        """Be an agent that ends the runner afterwards."""
        async with self.adopted() as agent:
            yield agent
            await agent.runner.end()

    async def test_attempt_ends_with_its_exit_code(self) -> None:
        """Times are of this host's monotonic clock."""
        begun_ns = time.monotonic_ns()
        good, bad = self.assignment(1, runs_s=0.3), self.assignment(2, fails=True)
        async with self.ended() as agent:
            await agent.runner.submit([good, bad])
            ends = [await agent.end_of(good), await agent.end_of(bad)]
            assert [(end.reason, end.exit_code) for end in ends] == [
                (None, 0),
                (Reason.EXIT, self.exit_code),
            ]
            assert begun_ns < ends[0].started_ns < ends[0].ended_ns < time.monotonic_ns()
            assert good.key in [started.key for started in agent.told.started]

    async def test_attempt_that_is_known_is_not_run_twice(self) -> None:
        """Submit may be repeated, also after the end."""
        assignment, other = self.assignment(1), self.assignment(2)
        async with self.ended() as agent:
            await agent.runner.submit([assignment])
            await agent.run(assignment)
            await agent.runner.submit([assignment, other])
            await agent.end_of(other)
            assert [end.key for end in agent.told.ended] == [assignment.key, other.key]

    async def test_attempt_that_cannot_run_ends_as_a_bad_spec(self) -> None:
        """Its neighbours run."""
        good = self.assignment(1)
        bad = Assignment(AttemptKey(1, 2, 1), JobSpec(executor="none"), 100, 16, (1, 2))
        async with self.ended() as agent:
            await agent.runner.submit([bad, good])
            refused, ended = await agent.end_of(bad), await agent.end_of(good)
            assert (refused.reason, refused.started_ns) == (Reason.BAD_SPEC, 0)
            assert refused.message
            assert ended.reason is None

    def blocked(self) -> tuple[Assignment, Ask]:
        """Return an attempt whose executor or engine raises `Blocked`, and what it asks for."""
        raise NotImplementedError

    async def test_attempt_that_cannot_run_now_says_what_it_waits_for(self) -> None:
        """Its neighbours run."""
        good, (bad, ask) = self.assignment(1), self.blocked()
        async with self.ended() as agent:
            await agent.runner.submit([bad, good])
            refused, ended = await agent.end_of(bad), await agent.end_of(good)
            assert (refused.reason, refused.started_ns) == (Reason.BLOCKED, 0)
            assert refused.ask == ask
            assert ended.reason is None

    async def test_stop_ends_with_its_reason(self) -> None:
        """One that ended by itself keeps its own."""
        assignment, ended = self.assignment(1, runs_s=60), self.assignment(2)
        async with self.ended() as agent:
            await agent.runner.submit([assignment, ended])
            await agent.end_of(ended)
            keys = [assignment.key, ended.key, AttemptKey(9, 9, 9)]
            agent.runner.stop(keys, reason=Reason.CANCELLED, grace_ms=100)
            assert (await agent.end_of(assignment)).reason == Reason.CANCELLED
            assert [end.key for end in agent.told.ended] == [ended.key, assignment.key]

    async def test_commands_are_answered(self) -> None:
        """Each once; a runner may say that it cannot obey."""
        one, ended = self.assignment(1, runs_s=60), self.assignment(2)
        async with self.ended() as agent:
            await agent.runner.submit([one, ended])
            await agent.end_of(ended)
            agent.runner.command([Command(7, one.key, extra_ms=1), Command(8, ended.key, 10)])
            told = await agent.until(lambda told: len(told.obeyed) > 1)
            assert sorted(number for number, _ in told.obeyed) == [7, 8]
            assert all(refusal for _, refusal in told.obeyed)
            agent.runner.stop([one.key], reason=Reason.CANCELLED, grace_ms=0)
            await agent.end_of(one)

    async def test_attempts_continue_while_the_worker_is_confirmed(self) -> None:
        """For a time, or without a limit."""
        assignment = self.assignment(1, runs_s=0.3)
        async with self.ended() as agent:
            now_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            agent.runner.keep_until(now_ns + int(WITHIN_S * 1e9))
            await agent.runner.submit([assignment])
            agent.runner.keep_until(0)
            assert (await agent.end_of(assignment)).exit_code == 0

    def sampled_logs(self) -> LogStore | None:
        """Return what reads the runner's samples of each 100 ms; None: it keeps none."""
        return None

    async def test_what_a_long_attempt_uses_is_sampled(self) -> None:
        """With its output, until it ends; a short one has no sample."""
        if (logs := self.sampled_logs()) is None:
            return
        long, short = self.assignment(1, runs_s=0.8), self.assignment(2)
        async with self.ended() as agent:
            await agent.runner.submit([long, short])
            ends = [await agent.end_of(assignment) for assignment in (long, short)]
            found, none = [await logs.samples(log_of(end)) for end in ends]
            ran_ms = (ends[0].ended_ns - ends[0].started_ns) // 1_000_000
            assert found
            assert all(0 < one.at_ms <= ran_ms and one.memory_bytes > 0 for one in found)
            assert list(none) == []

    async def test_withdrawn_or_run_and_never_both(self) -> None:
        """Whichever comes first."""
        some = [self.assignment(number) for number in range(1, 21)]
        keys = {assignment.key for assignment in some}
        async with self.ended() as agent:
            await agent.runner.submit(some)
            agent.runner.withdraw(sorted(keys))
            happened = await agent.until(lambda happened: len(over(happened)) >= len(some))
            assert sorted(over(happened)) == sorted(keys)

    async def test_next_agent_adopts_what_runs(self) -> None:
        """The incarnation stays, even if its agent thought that nobody would come."""
        short, long = self.assignment(1, runs_s=0.5), self.assignment(2, runs_s=60)
        async with self.adopted() as first:
            await first.runner.submit([short, long])
            await first.until(lambda happened: {short.key, long.key} <= begun(happened))
            await first.runner.abandon()
        async with self.ended() as second:
            known = second.known
            assert known.incarnation == first.known.incarnation
            assert long.key in {*known.waiting, *(started.key for started in known.live)}
            if short.key not in [ended.key for ended in known.ended]:
                assert (await second.end_of(short)).exit_code == 0

    async def test_end_is_kept_until_it_is_acknowledged(self) -> None:
        """By any agent."""
        assignment = self.assignment(1)
        async with self.adopted() as first:
            await first.runner.submit([assignment])
            await first.end_of(assignment)
        async with self.adopted() as second:
            assert [end.key for end in second.known.ended] == [assignment.key]
            second.runner.acknowledge([assignment.key])
            other = self.assignment(2)
            await second.runner.submit([other])
            await second.end_of(other)  # what was said before it has been done
            second.runner.acknowledge([other.key])
            await self.settled()
        async with self.ended() as third:
            assert third.known.ended == []

    async def settled(self) -> None:
        """Wait until what an agent said last has arrived; most runners need nothing here."""

    async def test_a_new_incarnation_knows_nothing(self) -> None:
        """After `end` whatever the older one had is gone."""
        async with self.ended() as agent:
            await agent.runner.submit([self.assignment(1, runs_s=60)])
            await agent.until(lambda happened: len(happened.started) == 1)
            await agent.runner.end()
            agent.runner.leave()
            known = await agent.runner.adopt()
            assert known.incarnation != agent.known.incarnation
            assert known.older_are_gone
            assert (list(known.waiting), list(known.live), list(known.ended)) == ([], [], [])
