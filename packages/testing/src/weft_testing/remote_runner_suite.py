"""What a runner must do whose engine is elsewhere, beside what every runner must."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from weft.core.states import Phase, Reason
from weft.ports.log_store import LogStore
from weft.ports.runner import Assignment, Happened
from weft.wire.log_format import STDERR, STDOUT
from weft_testing.runner_suite import (
    WITHIN_S,
    RunnerSuite,
    RunnerWatch,
    assignment,
    begun,
    log_of,
    over,
)


def _said(happened: Happened) -> list[tuple[Phase, str]]:
    """Return what an engine said of attempts that run."""
    return [(e.phase, e.message) for e in happened.entered if e.phase == Phase.EXECUTING]


class RemoteRunnerSuite(RunnerSuite):
    """Tests of runners whose engine is elsewhere."""

    def submitted(self) -> list[str]:
        """Return the names that the engine knows."""
        raise NotImplementedError

    async def die_before_submit(self, one: Assignment) -> None:
        """Be an agent that is killed between its handle and the engine."""
        raise NotImplementedError

    async def test_handle_without_its_job_is_submitted_by_the_next_agent(self) -> None:
        """The handle is written first."""
        one = assignment(1)
        await self.die_before_submit(one)
        assert self.submitted() == []
        async with self.ended() as agent:
            assert agent.known.waiting == [one.key]
            assert (await agent.end_of(one)).exit_code == 0
            assert self.submitted() == [one.key.name]

    async def test_handle_that_the_database_does_not_know_is_not_submitted(self) -> None:
        """The agent stops it before it reads what happens."""
        one = assignment(1)
        await self.die_before_submit(one)
        runner = self.runner()
        watch = RunnerWatch(runner, await runner.adopt())
        runner.stop(watch.known.waiting, reason=Reason.LOST, grace_ms=0)
        following = asyncio.ensure_future(watch.follow())
        ended = await watch.end_of(one)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        assert (ended.reason, ended.started_ns) == (Reason.LOST, 0)
        assert self.submitted() == []
        await runner.end()
        runner.leave()

    def away(self) -> AbstractAsyncContextManager[Callable[[str], Awaitable[None]]]:
        """Make the engine unreachable for a time; yield a function that waits until a call of this
        name (`submit`, `stop`) has failed.
        """
        raise NotImplementedError

    async def test_stop_is_repeated_until_the_engine_has_answered(self) -> None:
        """It was away when the cancel came."""
        one = assignment(1, runs_s=60)
        async with self.ended() as agent:
            await agent.runner.submit([one])
            await agent.until(lambda happened: one.key in begun(happened))
            async with self.away() as until_refused, asyncio.timeout(WITHIN_S):
                agent.runner.stop([one.key], reason=Reason.CANCELLED, grace_ms=0)
                await until_refused("stop")
            assert (await agent.end_of(one)).reason == Reason.CANCELLED

    async def test_attempt_that_is_stopped_before_it_is_submitted_never_is(self) -> None:
        """The call that failed may have arrived: their ends are known when the engine answers."""
        some = [assignment(1), assignment(2)]
        async with self.ended() as agent:
            async with self.away() as until_refused, asyncio.timeout(WITHIN_S):
                submitting = asyncio.ensure_future(agent.runner.submit(some))
                await until_refused("submit")
                keys = [one.key for one in some]
                agent.runner.stop(keys, reason=Reason.CANCELLED, grace_ms=0)
                agent.runner.withdraw(keys)
            ends = [await agent.end_of(one) for one in some]
            await submitting
            assert [(end.reason, end.started_ns) for end in ends] == [(Reason.CANCELLED, 0)] * 2
            assert self.submitted() == []

    async def test_attempts_wait_for_one_thing_while_the_engine_is_away(self) -> None:
        """What it was given without an answer stays on its way, and runs once."""
        tried, *later = [assignment(number) for number in range(1, 5)]
        async with self.ended() as agent:
            async with self.away() as until_refused, asyncio.timeout(WITHIN_S):
                submitting = asyncio.ensure_future(agent.runner.submit([tried]))
                await until_refused("submit")
                await submitting
                await agent.runner.submit(later)
                refused = [await agent.end_of(one) for one in later]
            assert (await agent.end_of(tried)).exit_code == 0
            assert {end.reason for end in refused} == {Reason.BLOCKED}
            asks = [end.ask for end in refused]
            assert asks[0] is not None
            assert (asks[0].condition, asks[0].tester) == ("executor_unavailable", "gateway")
            assert asks == [asks[0]] * len(later)
            assert len(agent.told.ended) == len(later) + 1

    async def test_attempt_that_is_withdrawn_before_it_is_submitted_never_is(self) -> None:
        """As with a stop; each is listed once."""
        some = [assignment(1), assignment(2)]
        async with self.ended() as agent:
            async with self.away() as until_refused, asyncio.timeout(WITHIN_S):
                submitting = asyncio.ensure_future(agent.runner.submit(some))
                await until_refused("submit")
                agent.runner.withdraw([one.key for one in some])
            happened = await agent.until(lambda happened: len(over(happened)) >= len(some))
            await submitting
            assert sorted(happened.withdrawn) == [one.key for one in some]
            assert self.submitted() == []

    async def test_adopted_attempt_that_is_stopped_meanwhile_is_not_submitted(self) -> None:
        """Neither by this agent nor by the next one, if this one dies before it tells the end."""
        some = [assignment(1), assignment(2)]
        for one in some:
            await self.die_before_submit(one)
        async with self.adopted() as first:
            async with self.away() as until_refused, asyncio.timeout(WITHIN_S):
                await until_refused("submit")
                keys = [one.key for one in some]
                first.runner.stop(keys, reason=Reason.CANCELLED, grace_ms=0)
            for one in some:
                await first.end_of(one)
        async with self.ended() as second:
            assert second.known.waiting == [one.key for one in some]
            ends = [await second.end_of(one) for one in some]
            assert [end.reason for end in ends] == [Reason.CANCELLED] * 2
            assert self.submitted() == []

    async def test_gateway_is_there_while_its_engine_is_away(self) -> None:
        """It knows its attempts, which go on, and tells their ends when the engine answers."""
        runs, stranger = assignment(1, runs_s=1), assignment(2, runs_s=60)
        async with self.adopted() as first:
            await first.runner.submit([runs, stranger])
            await first.until(lambda happened: {runs.key, stranger.key} <= begun(happened))
        runner = self.runner()
        async with self.away(), asyncio.timeout(WITHIN_S):
            watch = RunnerWatch(runner, await runner.adopt())
            assert sorted(watch.known.waiting) == [runs.key, stranger.key]
            runner.stop([stranger.key], reason=Reason.LOST, grace_ms=0)
            following = asyncio.ensure_future(watch.follow())
        assert (await watch.end_of(runs)).exit_code == 0
        ended = await watch.end_of(stranger)
        assert ended.reason == Reason.LOST
        assert ended.started_ns > 0
        assert sorted(self.submitted()) == [runs.key.name, stranger.key.name]
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await runner.end()
        runner.leave()

    async def test_attempts_outlive_the_host(self) -> None:
        """So an agent that stops in order leaves them."""
        assert self.runner().outlives_host

    async def test_new_state_directory_proves_nothing(self) -> None:
        """It may stand for a lost one, whose attempts the engine still runs."""
        async with self.ended() as agent:
            assert not agent.known.older_are_gone

    async def test_proof_of_an_end_is_for_every_later_agent(self) -> None:
        """The one that ended the older incarnation may die before it registers the new one."""
        async with self.ended():
            pass
        async with self.adopted() as second:
            assert second.known.older_are_gone
        async with self.ended() as third:
            assert third.known.incarnation == second.known.incarnation
            assert third.known.older_are_gone

    async def test_what_was_to_end_ends_before_the_next_agent_takes_anything(self) -> None:
        """The engine was away then, and an attempt of the same name may be another one later: it
        is neither taken for the old one nor told of it.
        """
        old = assignment(1, runs_s=60)
        async with self.adopted() as first:
            await first.runner.submit([old])
            await first.until(lambda happened: old.key in begun(happened))
            async with self.away():
                await first.runner.end()
        async with self.ended() as second:
            assert second.known.incarnation != first.known.incarnation
            assert second.known.older_are_gone
            assert (second.known.waiting, second.known.live, second.known.ended) == ([], [], [])
            assert self.submitted() == []
            new = assignment(1, exit_code=self.exit_code)
            await second.runner.submit([new])
            end = await second.end_of(new)
            assert end.exit_code == self.exit_code
            (pieces,) = await self.log_store().read_all([log_of(end)])
            written = sum(len(piece.data) for piece in pieces if piece.kind == STDOUT)
            assert written == end.stdout_bytes

    async def test_name_is_the_attempt(self) -> None:
        """So that a second submission is the same one."""
        one = assignment(7, runs_s=60)
        async with self.ended() as agent:
            await agent.runner.submit([one])
            await agent.until(lambda happened: len(happened.started) == 1)
            assert self.submitted() == ["weft-b1-j7-a1"]

    def log_store(self) -> LogStore:
        """Return the log store into which the runner collects."""
        raise NotImplementedError

    async def test_output_is_collected_with_the_end(self) -> None:
        """Once, however often an agent finds the end."""
        one = assignment(1)
        async with self.adopted() as first:
            await first.runner.submit([one])
            await first.end_of(one)
        async with self.ended() as second:
            (end,) = second.known.ended
            (pieces,) = await self.log_store().read_all([log_of(end)])
            sizes = [sum(len(p.data) for p in pieces if p.kind == s) for s in (STDOUT, STDERR)]
            assert sizes == [end.stdout_bytes, end.stderr_bytes]
            assert sum(sizes) > 0

    async def test_waiting_in_the_engine_is_a_phase(self) -> None:
        """And so is each that follows."""
        one = assignment(1)
        async with self.ended() as agent:
            await agent.run(one)
            phases = [entered.phase for entered in agent.told.entered if entered.key == one.key]
            assert phases[:2] == [Phase.SUBMITTING, Phase.QUEUED_REMOTE]

    async def test_what_the_engine_says_is_told(self) -> None:
        """Where an attempt runs, while it runs."""
        one = assignment(1, runs_s=60)
        async with self.ended() as agent:
            await agent.runner.submit([one])
            happened = await agent.until(lambda happened: bool(_said(happened)))
            assert [phase for phase, _ in _said(happened)] == [Phase.EXECUTING]
            (_, said) = _said(happened)[0]
            assert said
