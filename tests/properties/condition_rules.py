"""Blocked jobs and conditions, as rules of the machine that calls the core and its model."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from properties.gate_rules import WORKERS
from properties.jobs_model import B
from properties.money_rules import MoneyRules
from properties.said_ends import End
from store.test_conditions import block, conditions, operator
from store.world import Worker
from weft.core.ends.conditions import Ask
from weft.core.states import Reason
from weft.ports.store import Claimed

ASKS = (0, 1)
_WAITING = """
    SELECT k.batch_id, k.job_id FROM weft.blocked_job k WHERE k.condition_id = $1
"""
Jobs = set[tuple[int, int]]


def _ask(number: int) -> Ask:
    return Ask("custom", "tcp", {"host": f"h{number}", "port": "1"})


WAIT = {"policy": "constant", "wait_s": 60, "jitter": 0}


class RecoveryRules(MoneyRules):
    """Let the dates of blocked jobs come."""

    @rule()
    def release_blocked(self) -> None:
        """Let the dates of all blocked jobs come."""
        at = datetime.now(UTC) + timedelta(minutes=2)
        epoch = self.run(self.world.lead())
        self.run(self.world.call("release_blocked", epoch=epoch, limit_jobs=1000, at=at))
        for model in self.models:
            model.unblock()


class ConditionRules(RecoveryRules):
    """Block jobs on conditions, test these, and decide by hand."""

    workers: list[Worker]
    held: dict[tuple[int, int], tuple[int, Claimed]]
    ended: list[tuple[int, Claimed, Reason | None]]

    def _some(self, owner: int, choices: list[int]) -> list[tuple[int, Claimed]]:
        raise NotImplementedError

    @precondition(lambda self: self.held)
    @rule(
        owner=st.sampled_from(WORKERS),
        choices=st.lists(st.integers(0, 9), min_size=1),
        ask=st.sampled_from(ASKS),
    )
    def block(self, owner: int, choices: list[int], ask: int) -> None:
        """End some attempts that ask to wait for something."""
        some = self._some(owner, choices)
        if not some:
            return
        worker = self.workers[owner]
        self.run(block(worker, *[one for _which, one in some], ask=_ask(ask)))
        for which, one in some:
            self.ended.append((owner, one, Reason.BLOCKED))
            del self.held[which, one.job_id]
            self.models[which].end((one.job_id, End(Reason.BLOCKED, waits_for=ask), True))

    @rule(ask=st.sampled_from(ASKS), passed=st.booleans())
    def test_condition(self, ask: int, *, passed: bool) -> None:
        """Let the date of a test come."""
        at, epoch = datetime.now(UTC) + timedelta(minutes=2), self.run(self.world.lead())

        async def test(one: dict[str, Any]) -> int:
            number = one["condition_id"]
            await self.world.api.test_condition(operator(self.world), number)
            due = await self.world.call(
                "due_conditions", epoch=epoch, busy=[], limit_rows=100, at=at
            )
            if number not in {row["condition_id"] for row in due if not row["is_over"]}:
                return 0  # it had no jobs
            arguments = {"epoch": epoch, "condition_ids": [number], "at": at}
            if not passed:
                await self.world.call("postpone_conditions", limit_jobs=1000, **arguments)
            await self.world.call("record_tests", have_passed=[passed], messages=[""], **arguments)
            await self._sweep("release_conditions")
            return int(one["n_next"]) if passed else 0

        self._unblock(ask, test)

    @rule(ask=st.sampled_from(ASKS), n=st.integers(1, 3))
    def release_condition(self, ask: int, n: int) -> None:
        """Let some jobs go on without a test."""

        async def release(one: dict[str, Any]) -> int:
            number = one["condition_id"]
            await self.world.api.release_condition(operator(self.world), number, n)
            await self._sweep("release_conditions")
            return n

        self._unblock(ask, release)

    @rule(ask=st.sampled_from(ASKS))
    def unblock_job(self, ask: int) -> None:
        """Let one job go on, whatever it waits for."""

        async def unblock(one: dict[str, Any]) -> int:
            caller, number = operator(self.world), one["condition_id"]
            jobs = (await self.world.api.get_condition(caller, number, limit_jobs=1))["jobs"]
            for job in jobs:
                assert await self.world.api.unblock_job(caller, job["batch_id"], job["job_id"])
            await self._sweep("release_blocked")
            return len(jobs)

        self._unblock(ask, unblock)

    @rule(ask=st.sampled_from(ASKS))
    def fail_condition(self, ask: int) -> None:
        """Give up what jobs wait for."""

        async def fail(one: dict[str, Any]) -> int:
            await self.world.api.fail_condition(operator(self.world), one["condition_id"])
            await self._sweep("fail_conditions")
            return 10**9

        self._unblock(ask, fail, ends=True)

    async def _sweep(self, function: str) -> None:
        epoch = await self.world.lead()
        while await self.world.driver.sweep(function, epoch, limit_jobs=2):
            pass

    def _unblock(
        self,
        ask: int,
        act: Callable[[dict[str, Any]], Coroutine[Any, Any, int]],
        *,
        ends: bool = False,
    ) -> None:
        """Let jobs of a condition go, as many as `act` says, and the same ones in the model."""
        found = [
            one
            for one in self.run(conditions(self.world))
            if one["parameters"] == _ask(ask).parameters
        ]
        expected = {
            (self.ids[which], job.number)
            for which, model in enumerate(self.models)
            for job in model.jobs.values()
            if job.state == B and job.waits_for == ask
        }
        if not found:
            assert not expected
            return
        before = self.run(self._waiting(found[0]["condition_id"]))
        assert {key for key in before if key[0] in self.ids} == expected
        assert found[0]["n_jobs"] == len(before)
        n_going = self.run(act(found[0]))
        gone = before - self.run(self._waiting(found[0]["condition_id"]))
        assert len(gone) == min(n_going, len(before))
        for batch_id, number in gone & expected:
            self.models[self.ids.index(batch_id)].go_on(number, ends=ends)

    async def _waiting(self, condition_id: int) -> Jobs:
        rows = await self.world.admin.fetch(_WAITING, condition_id)
        return {(row["batch_id"], row["job_id"]) for row in rows}
