"""What every adapter of the port `ApiStore` must do with jobs of doors: a part of its suite."""

from dataclasses import replace
from uuid import uuid4

from store.calls.store_site import UNKEYED, StoreTests
from weft.core.access.permissions import Permission
from weft.core.access.rights import UserRole
from weft.core.states import JobState, Reason
from weft.ports.store import ForeignJobs, ForeignOrder


class ForeignJobSuite(StoreTests):
    """Tests of lists of such jobs."""

    async def test_jobs_of_a_door_are_found_by_the_ids_of_the_door(self) -> None:
        """And counted, the newest first; strangers see none."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        for name in ("a", "b"):
            await self.site.submit(1, door="d", foreign_id=name, foreign_trace="t")
        whole = ForeignJobs(door="d", limit=1)
        found = await api.list_foreign_jobs(caller, whole)
        assert (found["total"], [one["foreign_id"] for one in found["jobs"]]) == (2, ["b"])
        one = ForeignJobs(door="d", foreign_id="a", states=[JobState.READY], limit=9)
        (job,) = (await api.list_foreign_jobs(caller, one))["jobs"]
        assert (job["foreign_trace"], job["state"], job["n_failed"]) == ("t", "ready", 0)
        for order, first in ((ForeignOrder.CHANGED_LAST, "b"), (ForeignOrder.CHANGED_FIRST, "a")):
            page = await api.list_foreign_jobs(caller, replace(whole, order=order))
            assert [job["foreign_id"] for job in page["jobs"]] == [first]
        changed = await api.list_foreign_jobs(caller, replace(whole, order=order, first_row=2))
        assert changed == {"total": 2, "jobs": []}
        assert await api.list_foreign_jobs(stranger, whole) == {"total": 0, "jobs": []}

    async def test_member_of_the_billing_project_sees_a_job_once_it_is_granted(self) -> None:
        """By its id and in every list; one who sees the tenant sees all."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "eve", UserRole.USER, token)
        eve = await api.authenticate(token)
        assert eve is not None
        batches = [await self.site.submit(1, door="d", foreign_id=name) for name in "ab"]
        whole = ForeignJobs(door="d", limit=9)
        lists = [
            replace(whole, foreign_id="a"),
            replace(whole, states=[JobState.READY]),
            *(replace(whole, order=order) for order in ForeignOrder),
        ]
        for wanted in lists:
            assert await api.list_foreign_jobs(eve, wanted) == {"total": 0, "jobs": []}
        await api.share_batch(caller, batches[0], "eve", Permission.READ)
        for wanted in lists:
            found = await api.list_foreign_jobs(eve, wanted)
            assert (found["total"], [job["foreign_id"] for job in found["jobs"]]) == (1, ["a"])
        operator = replace(eve, role=UserRole.OPERATOR)
        assert (await api.list_foreign_jobs(operator, whole))["total"] == len(batches)

    async def test_jobs_that_are_hidden_or_deleted_do_not_count(self) -> None:
        """Until they are shown again."""
        api, caller = self.site.api, self.site.caller
        batches = [await self.site.submit(1, door="d", foreign_id=name) for name in "abc"]
        whole = ForeignJobs(door="d", limit=9)
        await api.hide_batch(caller, batches[0], hidden=True)
        await api.delete_batch(caller, batches[1], **UNKEYED)
        left = await api.list_foreign_jobs(caller, whole)
        assert (left["total"], [job["foreign_id"] for job in left["jobs"]]) == (1, ["c"])
        await api.hide_batch(caller, batches[0], hidden=False)
        for order in ForeignOrder:
            shown = await api.list_foreign_jobs(caller, replace(whole, order=order))
            names = {job["foreign_id"] for job in shown["jobs"]}
            assert (shown["total"], names) == (2, {"a", "c"})

    async def test_jobs_in_some_states_are_counted_however_they_came_there(self) -> None:
        """Before the driver has noted their ends and afterwards, and when they run once more;
        hidden ones are left out.
        """
        api, caller = self.site.api, self.site.caller
        for name in "abcd":
            await self.site.submit(1, door="d", foreign_id=name)
        claimed = sorted(await self.site.claim(3), key=lambda one: one.batch_id)
        await self.site.end(claimed[0])
        await self.site.end(*claimed[1:], reason=Reason.EXIT)

        async def shown(*states: JobState) -> str:
            pages = [
                await api.list_foreign_jobs(
                    caller, ForeignJobs(door="d", states=states, order=order, limit=9)
                )
                for order in (ForeignOrder.CHANGED_FIRST, ForeignOrder.CHANGED_LAST)
            ]
            first, last = ([job["foreign_id"] for job in page["jobs"]] for page in pages)
            assert sorted(first) == sorted(last)
            assert [page["total"] for page in pages] == [len(first)] * 2
            return "".join(sorted(first))

        for _ in range(2):
            assert await shown(JobState.SUCCESS) == "a"
            assert await shown(JobState.FAILED, JobState.CANCELLED) == "bc"
            assert await shown(JobState.READY) == "d"
            await self.site.drive()
        again = await api.retry_jobs(
            caller, claimed[1].batch_id, job_ids=[1], query=None, within_group=None, **UNKEYED
        )
        await self.site.ended(again)
        assert await shown(JobState.FAILED) == "c"
        assert await shown(JobState.READY) == "bd"
        await self.site.run(1)
        for _ in range(2):
            assert await shown(JobState.SUCCESS, JobState.FAILED) in {"abc", "acd"}
            await self.site.drive()
        await api.hide_batch(caller, claimed[0].batch_id, hidden=True)
        await api.hide_batch(caller, claimed[2].batch_id, hidden=True)
        assert await shown(JobState.FAILED) == ""
        assert await shown(JobState.SUCCESS) in {"b", "d"}
