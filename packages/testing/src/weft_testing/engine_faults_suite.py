"""What a remote runner must do when its engine goes wrong, but for being away."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from weft.core.states import Reason
from weft_testing.remote_runner_suite import RemoteRunnerSuite
from weft_testing.runner_suite import WITHIN_S, RunnerWatch, assignment, begun


class EngineFaultsSuite(RemoteRunnerSuite):
    """Tests of engines that answer garbage, and forget jobs."""

    lost_as: tuple[Reason, ...] = (Reason.LOST,)
    """Why an attempt ends that was removed by hand."""

    keeps_start = True
    """Whether the engine says when such a one began."""

    def garbled(self) -> AbstractAsyncContextManager[Callable[[str], Awaitable[None]]]:
        """Let the engine answer nonsense for a time; yield as `away` does."""
        raise NotImplementedError

    async def remove_by_hand(self, name: str) -> None:
        """Remove all that the engine has of an attempt, as somebody does who may."""
        raise NotImplementedError

    async def test_job_that_is_removed_by_hand_is_lost(self) -> None:
        """It does not run for ever, and what it wrote until then is kept."""
        one = assignment(1, runs_s=60)
        async with self.ended() as agent:
            await agent.runner.submit([one])
            await agent.until(lambda happened: one.key in begun(happened))
            await self.remove_by_hand(one.key.name)
            end = await agent.end_of(one)
            assert end.reason in self.lost_as
            assert end.started_ns > 0 or not self.keeps_start

    async def test_job_that_is_gone_when_a_gateway_comes_back_is_not_run_again(self) -> None:
        """It may have ended long ago, and its engine does not keep it for ever."""
        one = assignment(1, runs_s=60)
        async with self.adopted() as first:
            await first.runner.submit([one])
            await first.until(lambda happened: one.key in begun(happened))
        await self.remove_by_hand(one.key.name)
        async with self.ended() as second:
            assert (await second.end_of(one)).reason in self.lost_as
            assert self.submitted() == []

    async def test_odd_answers_end_neither_gateway_nor_attempts(self) -> None:
        """Nor does the next gateway fail that finds them; later all goes on."""
        one, other = assignment(1, runs_s=2), assignment(2)
        async with self.adopted() as first:
            await first.runner.submit([one])
            await first.until(lambda happened: one.key in begun(happened))
        runner = self.runner()
        async with self.garbled() as until_failed, asyncio.timeout(WITHIN_S):
            watch = RunnerWatch(runner, await runner.adopt())
            known = [*watch.known.waiting, *(live.key for live in watch.known.live)]
            assert known == [one.key]
            following = asyncio.ensure_future(watch.follow())
            submitting = asyncio.ensure_future(runner.submit([other]))
            await until_failed("submit")
            await submitting
        ends = [await watch.end_of(one), await watch.end_of(other)]
        assert [(end.reason, end.exit_code) for end in ends] == [(None, 0)] * 2
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await runner.end()
        runner.leave()

    async def test_what_is_forgotten_while_the_engine_is_away_goes_later(self) -> None:
        """Without another gateway, and although nothing else happens."""
        one = assignment(1)
        async with self.ended() as agent:
            await agent.run(one)
            async with self.away():
                agent.runner.acknowledge([one.key])
                await asyncio.sleep(0)
            async with asyncio.timeout(WITHIN_S):
                while await asyncio.to_thread(self.submitted):
                    pass
