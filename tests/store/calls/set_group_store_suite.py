"""What every adapter of the port `SetGroupStore` must do: a part of the api's suite."""

from typing import Final

from store.calls.store_site import TRACE_ID, TREE, UNKEYED, StoreTests, refused
from weft.core.errors import (
    BatchCancelled,
    BatchNotFound,
    GroupExists,
    GroupNotFound,
    JobNotFound,
    NotASet,
    OperationNotCancellable,
    OperationNotFound,
    TooManyGroups,
    TooManySets,
)
from weft.ports.store import GroupLimits, NewSet
from weft.testing.builders import job_rows

FEW: Final = GroupLimits(batch_groups_max=2, job_sets_max=1)


class SetTests(StoreTests):
    """Sets that are filled by hand or by a query."""

    async def new_set(self, batch: int, name: str = "mine") -> int:
        """Make an empty set."""
        number, _is_new = await self.site.api.create_set(
            self.site.caller, batch, NewSet(name=name)
        )
        return number

    async def query_set(self, batch: int, query: str, within_group: int | None = None) -> int:
        """Begin to fill a set; return the operation."""
        return await self.site.api.create_query_set(
            self.site.caller, batch, NewSet(name="found"), query=query,
            within_group=within_group, **UNKEYED,
        )  # fmt: skip

    async def n_jobs(self, batch: int, group: int | str) -> int:
        """Return the size of a group."""
        document = await self.site.api.get_group(self.site.caller, batch, group)
        return int(document["n_jobs"])

    async def test_set_is_created_once(self) -> None:
        """One of this name that was made in another way is another one."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        number, is_new = await api.create_set(caller, batch, NewSet(name="x"))
        assert is_new
        assert await api.create_set(caller, batch, NewSet(name="x")) == (number, False)
        with refused(GroupExists):
            await api.create_set(caller, batch, NewSet(name="x", cancel_after_n_failures=1))
        first, second = [(await api.create_set(caller, batch, NewSet()))[0] for _ in range(2)]
        assert first != second

    async def test_jobs_are_put_into_a_set(self) -> None:
        """All or none of a call; a repeat adds none twice."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(3, groups=TREE)
        mine = await self.new_set(batch)
        assert await api.add_members(caller, batch, mine, [1, 2]) == len([1, 2])
        assert await api.add_members(caller, batch, mine, [2, 3, 3]) == 1
        for error, group, job in (
            (JobNotFound, mine, 4),
            (GroupNotFound, 99, 1),
            (NotASet, 1, 1),
        ):
            with refused(error):
                await api.add_members(caller, batch, group, [1, job])
        assert await self.n_jobs(batch, mine) == len([1, 2, 3])
        assert (await api.get_job(caller, batch, 3))["groups"] == [mine]

    async def test_cancelled_set_takes_no_jobs(self) -> None:
        """And a cancelled batch no set."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        mine = await self.new_set(batch)
        await api.cancel_group(caller, batch, mine, force=False)
        with refused(BatchCancelled):
            await api.add_members(caller, batch, mine, [1])
        await api.cancel_group(caller, batch, 0, force=False)
        with refused(BatchCancelled):
            await self.new_set(batch, "other")

    async def test_sets_have_limits(self) -> None:
        """Of groups in a batch, and of sets that a job is in."""
        caller = self.site.caller
        batch = await self.site.submit(1)
        async with self.site.open_api(FEW) as api:
            numbers = [
                (await api.create_set(caller, batch, NewSet(name=name)))[0] for name in "ab"
            ]
            with refused(TooManyGroups):
                await api.create_set(caller, batch, NewSet(name="c"))
            await api.add_members(caller, batch, numbers[0], [1])
            with refused(TooManySets):
                await api.add_members(caller, batch, numbers[1], [1])

    async def test_query_fills_a_set_that_is_shown_when_it_is_complete(self) -> None:
        """With the jobs that were there when it was asked for."""
        batch = await self.site.submit(5)
        operation = await self.query_set(batch, "job_id > 2")
        await self.site.submit(2, batch=batch)
        with refused(GroupNotFound):
            await self.n_jobs(batch, "found")
        with refused(GroupExists):
            await self.query_set(batch, "job_id > 2")
        document = await self.site.ended(operation)
        assert (document["state"], document["result"]["n_members"]) == ("success", 3)
        assert await self.n_jobs(batch, "found") == len([3, 4, 5])

    async def test_query_finds_within_a_group(self) -> None:
        """And below it."""
        batch = await self.site.submit(job_rows(3, group=[0, 1, 2]), groups=TREE)
        await self.site.ended(await self.query_set(batch, "", within_group=1))
        assert await self.n_jobs(batch, "found") == len([2, 3])


class OperationTests(StoreTests):
    """Work in the background."""

    async def delete(self, batch: int, key: str | None = None) -> int:
        """Begin to remove a batch; return the operation."""
        return await self.site.api.delete_batch(
            self.site.caller, batch, trace_id=TRACE_ID, idempotency_key=key, digest=b"a"
        )

    async def test_deleted_batch_is_gone_at_once(self) -> None:
        """A repeat with the same key is no error."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(2)
        operation = await self.delete(batch, "k")
        assert await self.delete(batch, "k") == operation
        with refused(BatchNotFound):
            await self.delete(batch)
        with refused(BatchNotFound):
            await api.get_batch(caller, batch)
        assert await self.site.run() == []
        store, _incarnation_id = await self.site.worker()
        assert list(await store.list_removed([batch])) == []
        assert (await self.site.ended(operation))["state"] == "success"
        assert list(await store.list_removed([batch, await self.site.submit(1)])) == [batch]

    async def test_operations_are_documents(self) -> None:
        """Newest first, page by page, and of one batch."""
        api, caller = self.site.api, self.site.caller
        batches = [await self.site.submit(1) for _ in range(3)]
        one, two, three = [await self.delete(batch) for batch in batches]
        document = await api.get_operation(caller, one)
        assert (document["id"], document["batch_id"]) == (one, batches[0])
        assert (document["kind"], document["state"]) == ("delete_batch", "running")
        assert document["trace_id"] == TRACE_ID
        page = await api.list_operations(caller, before=None, limit=2, batch_id=None)
        assert [row["id"] for row in page] == [three, two]
        page = await api.list_operations(caller, before=two, limit=2, batch_id=None)
        assert [row["id"] for row in page] == [one]
        page = await api.list_operations(caller, before=None, limit=2, batch_id=batches[1])
        assert [row["id"] for row in page] == [two]
        with refused(OperationNotFound):
            await api.get_operation(caller, three + 100)

    async def test_operation_on_many_batches_can_be_cancelled(self) -> None:
        """Others cannot. It is on batches that were there when it was asked for."""
        api, caller = self.site.api, self.site.caller
        first, second = [await self.site.submit(1) for _ in range(2)]
        arguments = {"action": "hold", "query": f"b{first}"}
        begun, cancelled = [
            await api.begin_batch_action(caller, arguments, **UNKEYED) for _ in range(2)
        ]
        document = await api.cancel_operation(caller, cancelled)
        assert (document["state"], document["batch_id"]) == ("cancelled", None)
        assert await api.cancel_operation(caller, cancelled) == document
        assert (await self.site.ended(begun))["result"]["n_changed"] == 1
        with refused(OperationNotFound):
            await api.cancel_operation(self.site.stranger, begun)
        with refused(OperationNotCancellable):
            await api.cancel_operation(caller, await self.delete(second))


class SetGroupStoreSuite(SetTests, OperationTests):
    """Tests of the port `SetGroupStore`."""
