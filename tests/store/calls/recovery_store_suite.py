"""What every adapter of the port `DriverStore` must do with blocked jobs: a part of its suite."""

from functools import partial

from store.calls.store_site import UNKEYED, StoreTests
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import JobRows, Position, Row
from weft.testing.builders import job_rows

AGES_S = 1e6


class RecoveryTests(StoreTests):
    """A job whose retries wait."""

    async def state(self, batch_id: int) -> str:
        """Return the state of the first job."""
        return str((await self.site.api.get_job(self.site.caller, batch_id, 1))["state"])

    async def test_blocked_jobs_are_told_and_released(self) -> None:
        """A job whose retry waits is ready again at its date, not before."""
        driver, epoch = self.site.driver, await self.site.lead()
        await self.site.drive()
        before_s = await driver.recovery_due(epoch)
        batch_id = await self.site.submit(_waiting(AGES_S))
        (one,) = await self.site.claim()
        await self.site.end(one, reason=Reason.EXIT)
        due_s = await driver.recovery_due(epoch)
        await self.site.sweep("release_blocked")
        blocked = await self.state(batch_id)
        soon_id = await self.site.submit(_waiting(0.001))
        (one,) = await self.site.claim()
        await self.site.end(one, reason=Reason.EXIT)
        while await self.state(soon_id) == "blocked":
            await self.site.sweep("release_blocked")
        after = await self.state(soon_id)
        await self.site.run()
        await self.site.api.cancel_group(self.site.caller, batch_id, 0, force=False)
        assert before_s is None
        assert AGES_S / 2 < (due_s or 0) <= AGES_S
        assert blocked == "blocked"
        assert after == "ready"

    async def test_attempts_beyond_limits_are_stopped(self) -> None:
        """Once the worker has stopped one, or is given up, its job is ready again."""
        driver, epoch, api = self.site.driver, await self.site.lead(), self.site.api
        limits: dict[str, float | str] = {
            "action": "requeue",
            "rounds": 1,
            "silent_s": AGES_S,
            "assigned_s": 0.001,
        }
        await api.save_queues(self.site.caller, [Queue(name="default", monitor=limits)])
        batch_id = await self.site.submit(1)
        (one,) = await self.site.claim()
        store, worker = await self.site.worker()
        key = one.batch_id, one.job_id, one.attempt
        await store.heartbeat(worker, [key], draining=False)
        (row,) = await driver.stop_overdue(epoch, limit_jobs=9, confirm_s=AGES_S)
        told = await store.list_to_stop(worker, [key])
        blocked = await self.state(batch_id)
        await self.site.end(one)
        nothing = await driver.stop_overdue(epoch, limit_jobs=9, confirm_s=AGES_S)
        assert (row["batch_id"], row["job_id"], row["attempt"]) == key
        assert (row["worker"], row["goes_on"]) == ("w", True)
        assert "phase assigned" in row["message"]
        assert (list(told), list(nothing)) == ([key], [])
        assert (blocked, await self.state(batch_id)) == ("blocked", "ready")
        (one,) = await self.site.claim()
        await store.heartbeat(worker, [(*key[:2], one.attempt)], draining=False)
        (row,) = await driver.stop_overdue(epoch, limit_jobs=9, confirm_s=0)
        (lost,) = await driver.stop_overdue(epoch, limit_jobs=9, confirm_s=0)
        assert not row["goes_on"]
        assert (lost["batch_id"], lost["worker"]) == (None, "w")
        assert await self.state(batch_id) == "error"
        await api.save_queues(self.site.caller, [Queue(name="default")])

    async def test_all_jobs_that_have_not_ended_are_looked_at(self) -> None:
        """In steps, until there are no more. None of them is with nobody."""
        driver, epoch = self.site.driver, await self.site.lead()
        n_jobs, limit = 3, 2
        await self.site.submit(n_jobs)
        await self.site.drive()
        position, n_live, orphans = Position(), list[int](), list[Row]()
        while found := await driver.patrol(epoch, position, limit_jobs=limit):
            position = found.position
            n_live.append(found.n_live)
            orphans += found.orphans
        await self.site.run()
        assert max(n_live) <= limit
        assert sum(n_live) >= n_jobs
        assert orphans == []

    async def test_failed_jobs_run_again_step_by_step(self) -> None:
        """A later retry of the batch waits for the earlier one."""
        epoch, api, caller = await self.site.lead(), self.site.api, self.site.caller
        batch_id = await self.site.submit(3)
        await self.site.run(reason=Reason.EXIT)
        one, other = [
            await api.retry_jobs(
                caller, batch_id, job_ids=None, query=None, within_group=None, **UNKEYED
            )
            for _ in range(2)
        ]
        step = partial(self.site.driver.retry_failed, matching=None, looked_upto=None, limit=2)
        assert await step(epoch, other) == "waits"
        assert await step(epoch, one) == "moved"
        jobs = await api.list_jobs(caller, batch_id, after=0, limit=9)
        assert [job["state"] for job in jobs] == ["ready", "ready", "failed"]
        assert await step(epoch, one) == "moved"
        assert (await self.site.ended(other))["result"] == {"n_retried": 0}

    async def test_batch_is_copied_step_by_step(self) -> None:
        """It is there after the last step; a step that is repeated adds nothing."""
        driver, epoch = self.site.driver, await self.site.lead()
        api, caller = self.site.api, self.site.caller
        batch_id = await self.site.submit(job_rows(2, parents={2: [1]}))
        operation = await api.resubmit_batch(caller, batch_id, failed=False, changes={}, **UNKEYED)
        assert await driver.step("copy_batch", epoch, operation, limit=9) == "jobs"
        found = await driver.list_resubmitted(epoch, operation, after=0, limit=9)
        assert found is not None
        assert [(job["job_id"], job["parents"]) for job in found.jobs] == [(1, None), (2, [-1])]
        assert (found.first, found.upto) == (1, 2)
        assert list(await driver.read_chunks(batch_id, [1])) == [1]
        for _ in range(2):
            await driver.add_resubmitted(
                epoch, operation, after=0, upto=2, job_ids=[1, 2],
                rows=job_rows(2, parents={2: [1]}),
            )  # fmt: skip
        assert await driver.step("copy_batch", epoch, operation, limit=9) == "moved"
        assert await driver.list_resubmitted(epoch, operation, after=2, limit=9) is None
        result = (await api.get_operation(caller, operation))["result"]
        assert (await api.get_batch(caller, result["batch_id"]))["n_jobs"] == len(found.jobs)


def _waiting(wait_s: float) -> JobRows:
    """Return a job that waits this long before it is tried again."""
    rows = job_rows(1, max_attempts=2, retry_on=[Reason.EXIT])
    rows.retry_on = [rows.retry_on[0] | 1]
    policy = {"policy": "constant", "wait_s": wait_s, "jitter": 0}
    rows.rare_job, rows.rare_fields = [1], [{"retry": policy}]
    return rows
