"""What every adapter of the port `EditStore` must do: a part of the api's suite."""

from typing import Any, Final

from store.calls.store_site import TRACE_ID, TREE, UNKEYED, StoreTests, refused
from weft.core.errors import (
    BatchRunning,
    GroupExists,
    GroupNotFound,
    IdempotencyConflict,
    InvalidValue,
    JobEnded,
    JobNotFailed,
    JobNotFound,
    NothingToResubmit,
    ParentFailed,
    RenameTooLarge,
)
from weft.core.states import Reason
from weft.ports.store import EditLimits
from weft.testing.builders import job_rows

LIMITS: Final = EditLimits(attributes_max=2, rename_groups_max=2)


class EditTests(StoreTests):
    """Names, attributes and priorities."""

    async def edit_group(self, batch: int, group: int, **patch: Any) -> bool:  # noqa: ANN401 (a document)
        """Change a group."""
        return await self.site.api.edit_group(
            self.site.caller, batch, group, patch=patch, limits=LIMITS
        )

    async def edit_job(self, batch: int, job: int, **patch: Any) -> bool:  # noqa: ANN401 (a document)
        """Change a job."""
        return await self.site.api.edit_job(
            self.site.caller, batch, job, patch=patch, limits=LIMITS
        )

    async def test_patch_changes_what_it_names(self) -> None:
        """Of a batch: its group 0. Null removes; a repeat changes nothing and leaves no trace."""
        batch = await self.site.submit(1, name="old", attributes={"a": "1", "b": "2"})
        patch = {"name": "new", "attributes": {"a": None, "c": "3"}}
        assert await self.edit_group(batch, 0, **patch)
        assert not await self.edit_group(batch, 0, **patch)
        document = await self.site.api.get_batch(self.site.caller, batch)
        assert (document["name"], document["attributes"]) == ("new", {"b": "2", "c": "3"})
        (change,) = await self.history(batch)
        assert (change["kind"], change["actor"]) == (
            "edited",
            f"user {self.site.caller.user_name}",
        )

    async def test_new_name_of_a_group_is_in_the_paths_below(self) -> None:
        """One that is taken is refused."""
        batch = await self.site.submit(1, groups=TREE)
        assert await self.edit_group(batch, 1, name="z")
        assert (await self.site.api.get_group(self.site.caller, batch, "/z/b"))["group_id"] == 2
        with refused(GroupNotFound):
            await self.site.api.get_group(self.site.caller, batch, "/a")
        with refused(GroupExists):
            await self.edit_group(batch, 1, name="c")
        with refused(GroupNotFound):
            await self.edit_group(batch, 99, name="c")

    async def test_edits_have_limits(self) -> None:
        """Of attributes, and of paths that a new name changes."""
        batch = await self.site.submit(1, groups=TREE)
        too_many = {"a": "1", "b": "2", "c": "3"}
        with refused(InvalidValue):
            await self.edit_group(batch, 0, attributes=too_many)
        with refused(InvalidValue):
            await self.edit_job(batch, 1, attributes=too_many)
        one = EditLimits(attributes_max=2, rename_groups_max=1)
        with refused(RenameTooLarge):
            await self.site.api.edit_group(
                self.site.caller, batch, 1, patch={"name": "z"}, limits=one
            )

    async def test_history_of_a_group_comes_newest_first_page_by_page(self) -> None:
        """Each change has a number."""
        batch = await self.site.submit(1)
        for name in "abc":
            await self.edit_group(batch, 0, name=name)
        newest, middle = await self.history(batch, limit=2)
        (oldest,) = await self.history(batch, before=middle["id"])
        assert newest["id"] > middle["id"] > oldest["id"]
        assert '"c"' in newest["message"]
        with refused(GroupNotFound):
            await self.site.api.group_history(self.site.caller, batch, 9, before=None, limit=9)

    async def test_job_is_edited(self) -> None:
        """Its priority only until it has ended."""
        batch = await self.site.submit(3)
        assert await self.edit_job(batch, 3, priority=5, name="first", attributes={"a": "1"})
        assert not await self.edit_job(batch, 3, priority=5, name="first", attributes={"a": "1"})
        job = await self.site.api.get_job(self.site.caller, batch, 3)
        assert (job["name"], job["priority"], job["attributes"]) == ("first", 5, {"a": "1"})
        assert await self.site.run(1) == [3]
        assert await self.edit_job(batch, 3, name=None)
        with refused(JobEnded):
            await self.edit_job(batch, 3, priority=6)
        with refused(JobNotFound):
            await self.edit_job(batch, 4, name="x")

    async def test_priority_of_a_group_is_changed_in_the_background(self) -> None:
        """Of its jobs and those below it; other fields change at once."""
        batch = await self.site.submit(job_rows(3, group=[0, 1, 2]), groups=TREE)
        operation = await self.site.api.prioritize_group(
            self.site.caller, batch, 1, patch={"priority": 3, "name": "z"}, limits=LIMITS,
            trace_id=TRACE_ID,
        )  # fmt: skip
        group = await self.site.api.get_group(self.site.caller, batch, 1)
        assert group["name"] == "z"
        assert (await self.site.ended(operation))["state"] == "success"
        jobs = await self.site.api.list_jobs(self.site.caller, batch, after=0, limit=9)
        assert [job["priority"] for job in jobs] == [0, 3, 3]

    async def test_hidden_batch_is_left_out_of_lists(self) -> None:
        """Unless they ask for it; its number finds it."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1, name="quiet")
        page: dict[str, Any] = {"before": None, "limit": 9, "name": "quiet"}
        assert await api.hide_batch(caller, batch, hidden=True)
        assert not await api.hide_batch(caller, batch, hidden=True)
        assert await api.list_batches(caller, **page) == []
        (listed,) = await api.list_batches(caller, **page, hidden=True)
        assert listed["hidden"]
        assert (await api.get_batch(caller, batch))["hidden"]
        (change,) = await self.history(batch)
        assert change["kind"] == "hidden"
        assert await api.hide_batch(caller, batch, hidden=False)
        assert len(await api.list_batches(caller, **page)) == 1

    async def test_failed_jobs_run_again(self) -> None:
        """All, or those that are named or match, with what was cancelled because of them."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(3, parents={3: [2]}))
        assert await self.site.run(reason=Reason.EXIT) == [1, 2]
        await self.site.drive()
        wanted: dict[str, Any] = {"job_ids": [2], "query": None, "within_group": None}
        with refused(ParentFailed):
            await api.retry_jobs(caller, batch, **{**wanted, "job_ids": [3]}, **UNKEYED)
        key = {**UNKEYED, "idempotency_key": "again"}
        operation = await api.retry_jobs(caller, batch, **wanted, **key)
        assert await api.retry_jobs(caller, batch, **wanted, **key) == operation
        with refused(IdempotencyConflict):
            await api.retry_jobs(caller, batch, **wanted, **{**key, "digest": b"other"})
        assert (await self.site.ended(operation))["result"] == {"n_retried": 2}
        with refused(JobNotFailed):
            await api.retry_jobs(caller, batch, **wanted, **UNKEYED)
        with refused(JobNotFound):
            await api.retry_jobs(caller, batch, **{**wanted, "job_ids": [4]}, **UNKEYED)
        for query, retried in (("job_id > 1", 0), ("job_id = 1", 1), (None, 0)):
            wanted = {"job_ids": None, "query": query, "within_group": None}
            operation = await api.retry_jobs(caller, batch, **wanted, **UNKEYED)
            assert (await self.site.ended(operation))["result"] == {"n_retried": retried}

    async def test_batch_is_resubmitted(self) -> None:
        """As a new one, from all jobs or from those that failed; once for each key."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(2, name="old")
        wanted: dict[str, Any] = {"failed": False, "changes": {"batch": {"name": "new"}}}
        key = {**UNKEYED, "idempotency_key": "as-new"}
        with refused(BatchRunning):
            await api.resubmit_batch(caller, batch, **{**wanted, "failed": True}, **key)
        operation = await api.resubmit_batch(caller, batch, **wanted, **key)
        assert await api.resubmit_batch(caller, batch, **wanted, **key) == operation
        with refused(IdempotencyConflict):
            await api.resubmit_batch(caller, batch, **wanted, **{**key, "digest": b"other"})
        result = (await self.site.ended(operation))["result"]
        assert result["n_jobs"] == len((1, 2))
        new = await api.get_batch(caller, result["batch_id"])
        assert (new["name"], new["resubmitted_from"]) == ("new", batch)
        await self.site.run()
        with refused(NothingToResubmit):
            await api.resubmit_batch(caller, batch, **{**wanted, "failed": True}, **UNKEYED)

    async def history(self, batch: int, *, before: int | None = None, limit: int = 9) -> list[Any]:
        """Return a page of the changes of a batch."""
        rows = await self.site.api.group_history(
            self.site.caller, batch, 0, before=before, limit=limit
        )
        return list(rows)


class HoldTests(StoreTests):
    """Holds and releases."""

    async def test_held_group_is_not_claimed(self) -> None:
        """Nor what is below it; running jobs continue."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(3, group=[1, 2, 0]), groups=TREE)
        (running,) = await self.site.claim(1)
        assert running.job_id == 1
        assert await api.hold_group(caller, batch, 1)
        assert not await api.hold_group(caller, batch, 1)
        assert (await api.get_group(caller, batch, 1))["held"]
        assert await self.site.run() == [3]
        await self.site.end(running)
        assert (await api.get_job(caller, batch, 1))["state"] == "success"
        assert await api.release_group(caller, batch, 1)
        assert not await api.release_group(caller, batch, 1)
        await self.site.drive()
        assert await self.site.run() == [2]
        with refused(GroupNotFound):
            await api.hold_group(caller, batch, 9)
        with refused(GroupNotFound):
            await api.release_group(caller, batch, 9)

    async def test_held_jobs_are_not_claimed(self) -> None:
        """Each is answered by a word; a group that holds a job goes on to hold it."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(3, group=[0, 0, 1]), groups=TREE)
        assert await self.site.run(1) == [1]
        assert await api.hold_jobs(caller, batch, [1, 2, 3]) == {
            1: "success",
            2: "held",
            3: "held",
        }
        assert await self.site.run() == []
        await api.hold_group(caller, batch, 1)
        released = await api.release_jobs(caller, batch, [1, 2, 3])
        assert released == {1: "success", 2: "released", 3: "held"}
        await self.site.drive()
        assert await self.site.run() == [2]
        for call in (api.hold_jobs, api.release_jobs):
            with refused(JobNotFound):
                await call(caller, batch, [1, 4])


class EditStoreSuite(EditTests, HoldTests):
    """Tests of the port `EditStore`."""
