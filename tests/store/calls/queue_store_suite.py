"""What every adapter of the port `QueueStore` must do: a part of the api's suite."""

import msgspec

from store.calls.store_site import StoreTests, refused
from weft.core.errors import QueueFull, QueueHasJobs
from weft.core.queues import Queue
from weft.ports.store import Shape
from weft.testing.builders import job_rows


class QueueStoreSuite(StoreTests):
    """Tests of the port `QueueStore`."""

    def queue(self, name: str, priority: int) -> Queue:
        """Return a queue in the caller's pool."""
        return Queue(name=name, priority=priority, pools=(self.site.pool,))

    async def test_queues_are_listed_in_the_order_of_routing(self) -> None:
        """The default one is the last; the queues of others are not there."""
        api, caller = self.site.api, self.site.caller
        await api.save_queues(caller, [self.queue("low", 1), self.queue("high", 2)])
        await api.save_queues(caller, [self.queue("low", 3), self.queue("high", 2)])
        found = await api.list_queues(caller, with_counts=False)
        assert [(one["name"], one["priority"]) for one in found] == [
            ("low", 3),
            ("high", 2),
            ("default", None),
        ]
        assert {one["n_waiting"] for one in found} == {None}
        others = await api.list_queues(self.site.stranger)
        assert [one["name"] for one in others] == ["default"]
        await api.save_queues(caller, [])
        assert [one["name"] for one in await api.list_queues(caller)] == ["default"]

    async def test_jobs_of_queues_are_counted_and_keep_them(self) -> None:
        """Before and after the fold."""
        api, caller = self.site.api, self.site.caller
        await api.save_queues(caller, [self.queue("q", 1)])
        words = (("pool", self.site.pool), ("queue", "q"))
        rows = job_rows(3, shapes=[Shape(words=words), Shape()], shape_index=[0, 1, 0])
        batch = await self.site.submit(rows)
        for _ in range(2):
            counts = [one["n_waiting"] for one in await api.list_queues(caller)]
            assert counts == [2, 1]
            with refused(QueueHasJobs):
                await api.save_queues(caller, [])
            await self.site.drive()
        jobs = await api.list_jobs(caller, batch, after=0, limit=9)
        assert [job["queue"] for job in jobs] == ["q", "default", "q"]
        await self.site.run()
        assert [one["n_waiting"] for one in await api.list_queues(caller)] == [0, 0]
        await api.save_queues(caller, [])

    async def test_queues_keep_their_limits(self) -> None:
        """Of jobs that run, in all and of a user, and of jobs that wait."""
        api, caller = self.site.api, self.site.caller
        words = (("pool", self.site.pool), ("queue", "q"))
        for limits in ({"max_running": 1}, {"max_running_per_user": 1}):
            queue = msgspec.structs.replace(self.queue("q", 1), max_waiting=2, **limits)
            await api.save_queues(caller, [queue])
            await self.site.submit(job_rows(2, shapes=[Shape(words=words)]))
            with refused(QueueFull):
                await self.site.submit(job_rows(1, shapes=[Shape(words=words)]))
            claimed = await self.site.claim()
            assert len(claimed) == 1
            await self.site.end(*claimed)
            assert len(await self.site.run()) == 1
        await api.save_queues(caller, [])

    async def test_a_queue_is_drained(self) -> None:
        """The others stay as they are, and so do its limits."""
        api, caller = self.site.api, self.site.caller
        queue = msgspec.structs.replace(self.queue("q", 1), max_running=3)
        await api.save_queues(caller, [queue, self.queue("other", 2)])
        assert await api.drain_queue(caller, "q")
        assert not await api.drain_queue(self.site.stranger, "q")
        found = await api.list_queues(caller, with_counts=False)
        assert [(one["name"], one["state"], one["max_running"]) for one in found] == [
            ("other", "enabled", None),
            ("q", "draining", 3),
            ("default", "enabled", None),
        ]
        await api.save_queues(caller, [])

    async def test_waiting_jobs_move_to_another_queue(self) -> None:
        """Those that have run stay. They are listed, one batch at a time, until none are left."""
        api, caller, pool = self.site.api, self.site.caller, self.site.pool
        await api.save_queues(caller, [self.queue("q", 1)])
        batch = await self.site.submit(3)
        claimed = await self.site.claim(1)
        page = await api.list_waiting(caller, after=(batch, 0), limit=2)
        assert page is not None
        assert [(page.batch_id, one["job_id"]) for one in page.jobs] == [(batch, 2), (batch, 3)]
        assert {one["asked"].get("queue") for one in page.jobs} == {None}
        assert page.jobs[0]["spec"].timeout_s is None
        end = (batch, page.last_job)
        assert not getattr(await api.list_waiting(caller, after=end, limit=2), "jobs", ())
        moved = [await api.move_jobs(caller, batch, [1, 2, 3], queue="q", pool=pool)]
        for _ in range(2):
            moved += [await api.move_jobs(caller, batch, [2], queue="default", pool=None)]
        assert moved == [2, 1, 0]
        jobs = await api.list_jobs(caller, batch, after=0, limit=9)
        assert [job["queue"] for job in jobs] == ["default", "default", "q"]
        changes = [
            (one["actor"], one["message"])
            for one in await api.job_history(caller, batch, 2)
            if one["subtype"] == "moved"
        ]
        assert changes == [
            (f"user {caller.user_name}", "from queue default to q"),
            (f"user {caller.user_name}", "from queue q to default"),
        ]
        await self.site.end(*claimed)
        assert await self.site.run() == [2, 3]
        await api.save_queues(caller, [])
