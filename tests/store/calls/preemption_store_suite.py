"""What every adapter of the port `DriverStore` must do with jobs that make room for others: a part
of its suite.
"""

from store.calls.store_site import StoreTests
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import Row, Shape
from weft.testing.builders import job_rows, start_report

LATER_S = 1e7


class PreemptionStoreSuite(StoreTests):
    """A job of a queue with a priority, and a preemptible one of the default queue."""

    async def test_preempted_job_waits_and_its_cause_preempts_once(self) -> None:
        """The attempt ends as preempted, whatever its worker reports, and the job is ready."""
        store, epoch, api = self.site.driver, await self.site.lead(), self.site.api
        pool, caller = self.site.pool, self.site.caller
        await api.save_queues(caller, [Queue(name="urgent", priority=1, pools=(pool,))])
        rows = job_rows(2)
        rows.rare_job, rows.rare_fields = [1], [{"preemptible": True}]
        low = await self.site.submit(rows)
        claimed = await self.site.claim()
        worker, incarnation_id = await self.site.worker()
        await worker.start_attempts(incarnation_id, [start_report(one) for one in claimed])
        words = (("pool", pool), ("queue", "urgent"))
        high = await self.site.submit(job_rows(1, shapes=[Shape(words=words)]))
        await self.site.drive()
        (found,) = await self.preemption_rounds(epoch)
        (waiting,) = found["waiting"]
        assert (waiting["batch_id"], waiting["job_id"], waiting["priority"]) == (high, 1, 1)
        running = found["hosts"][0]["running"]
        assert [(one["job_id"], one["may_be_stopped"]) for one in running] == [
            (1, True), (2, False),
        ]  # fmt: skip
        both = [(low, 1, 1), (low, 2, 1)]
        assert await store.preempt_jobs(epoch, (high, 1), both, wait_s=LATER_S) == 1
        assert await store.preempt_jobs(epoch, (high, 1), both, wait_s=LATER_S) == 0
        assert await self.preemption_rounds(epoch) == []
        assert await worker.list_to_stop(incarnation_id, both) == both[:1]
        await self.site.end(claimed[0], reason=Reason.CANCELLED)
        job = await api.get_job(caller, low, 1)
        assert (job["state"], job["reason"]) == ("ready", "preempted")
        (why,) = await api.why_jobs(caller, low, [1])
        assert [gate.kind for gate in why.gates] == ["preempted"]
        assert [(one.batch_id, one.job_id) for one in await self.site.claim()] == [(high, 1)]
        await api.save_queues(caller, [])

    async def preemption_rounds(self, epoch: int) -> list[Row]:
        """Return what there is to decide in the pool of this test."""
        rows = await self.site.driver.preemption_rounds(epoch)
        return [row for row in rows if row["pool"] == self.site.pool]
