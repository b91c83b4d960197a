"""What every adapter of the port `FailureStore` must do: a part of the api's suite."""

from store.calls.store_site import StoreTests
from weft.core.states import Reason


class FailureStoreSuite(StoreTests):
    """Tests of the port `FailureStore`."""

    async def test_failed_jobs_are_listed_by_cause(self) -> None:
        """Counts are right before and after the driver has added them up; a page goes on after
        its last job; strangers see nothing.
        """
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(3)
        await self.site.run(1)
        await self.site.run(1, reason=Reason.TIMEOUT)
        await self.site.run(1, reason=Reason.EXIT)
        before = await api.list_causes(caller, batch, show_all=False, limit=1)
        await self.site.drive()
        after = await api.list_causes(caller, batch, show_all=False, limit=1)
        first, second = await api.list_dead_letters(caller, batch_id=batch, limit=9)
        key = (batch, first["cause_id"], first["job_id"])
        assert before == after
        assert (before["n_jobs"], before["n_causes"], len(before["causes"])) == (2, 2, 1)
        assert before["causes"][0]["cause"] == f"{first['cause_id']:012x}"
        assert {first["reason"], second["reason"]} == {"timeout", "exit"}
        assert {first["job_id"], second["job_id"]} == {2, 3}
        assert await api.list_dead_letters(caller, limit=9, after=key) == [second]
        assert await api.list_dead_letters(caller, limit=9, cause_id=key[1]) == [first]
        (late,) = await api.list_dead_letters(caller, limit=9, reason=Reason.TIMEOUT)
        assert late["final_retry_count"] == 0
        assert await api.list_dead_letters(self.site.stranger, limit=9) == []

    async def test_acknowledged_jobs_are_not_listed(self) -> None:
        """The note is kept; a repeat finds nothing more."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(2)
        await self.site.run(reason=Reason.EXIT)
        wanted = {"cause_id": None, "job_ids": None, "until": None}
        counts = [
            await api.acknowledge_failures(caller, batch, **wanted, note="known", limit=1)
            for _ in range(3)
        ]
        (one, _) = await api.list_dead_letters(caller, batch_id=batch, acknowledged=True, limit=9)
        found = await api.list_causes(caller, batch, show_all=True, limit=9)
        assert counts == [1, 1, 0]
        assert await api.list_dead_letters(caller, limit=9) == []
        assert one["acknowledged"]["note"] == "known"
        assert (found["n_jobs"], found["n_acknowledged"]) == (0, 2)
