"""What every adapter must do with submissions: a part of the suite of the port `ApiStore`."""

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Final

from store.calls.store_site import TRACE_ID, TREE, UNKEYED, StoreTests, refused
from weft.core.errors import (
    BatchCancelled,
    BatchFull,
    BunchDiffers,
    BunchOverlap,
    GroupExists,
    GroupNotFound,
    GroupTooDeep,
    IdempotencyConflict,
    JobNotFound,
    OutsideUpdate,
    ParentNotFound,
    ProjectNotFound,
    TooManyGroups,
    UpdateCommitted,
    UpdateIncomplete,
    UpdateNotFound,
)
from weft.ports.store import GroupLimits, NewBatch, NewGroup, Reserved
from weft.testing.builders import job_rows
from weft.wire.payload import PART_BYTES
from weft.wire.spec import JobSpec

NEW: Final = NewBatch(trace_id=TRACE_ID)


class SubmissionTests(StoreTests):
    """Batches, and jobs that are sent in one request."""

    async def test_batch_is_created_once_per_key(self) -> None:
        """The same key with another body is a mistake."""
        create = partial(self.site.api.create_batch, self.site.caller, NEW, idempotency_key="k")
        batch, is_new = await create(digest=b"a")
        assert is_new
        assert await create(digest=b"a") == (batch, False)
        with refused(IdempotencyConflict):
            await create(digest=b"b")
        other, is_new = await self.site.api.create_batch(
            self.site.stranger, NEW, idempotency_key="k", digest=b"b"
        )
        assert (other == batch, is_new) == (False, True)
        with refused(ProjectNotFound):
            await self.site.submit(1, billing_project="none")

    async def test_submission_is_made_once_per_key(self) -> None:
        """And answered in the same way, of a new batch or an existing one."""
        new: NewBatch | int = NEW
        for key in ("one", "two"):
            submit = partial(
                self.site.api.submit, self.site.caller, new, TREE, job_rows(2),
                idempotency_key=key, trace_id=TRACE_ID,
            )  # fmt: skip
            batch, reserved, is_new = await submit(digest=b"a")
            assert (reserved.n_jobs, reserved.committed, is_new) == (2, True, True)
            assert await submit(digest=b"a") == (batch, reserved, False)
            with refused(IdempotencyConflict):
                await submit(digest=b"b")
            new = await self.site.submit(1)

    async def test_numbers_are_relative_and_those_of_existing_jobs_negative(self) -> None:
        """Group 0 is the root."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(2, group=[0, 2]), groups=TREE)
        below = [NewGroup(group_id=1, parent_id=-2, name="d", attributes={"k": "v"})]
        _, reserved, _ = await api.submit(
            caller, batch, below, job_rows(2, parents={1: [-2], 2: [1, -1]}, group=[1, -1]),
            **UNKEYED,
        )  # fmt: skip
        assert (reserved.first_job, reserved.first_group) == (3, 4)
        jobs = [await api.get_job(caller, batch, job) for job in (3, 4)]
        assert [job["parents"] for job in jobs] == [[2], [1, 3]]
        assert [job["group_id"] for job in jobs] == [4, 1]
        assert (await api.get_group(caller, batch, 4))["path"] == "/a/b/d"

    async def test_refused_submission_leaves_nothing(self) -> None:
        """No job, no group and no reserved number."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        for error, rows in (
            (ParentNotFound, job_rows(2, parents={2: [-9]})),
            (GroupNotFound, job_rows(2, group=-9)),
        ):
            with refused(error):
                await api.submit(caller, batch, TREE, rows, **UNKEYED)
        assert len(await api.list_groups(caller, batch, after=-1, limit=9)) == 1
        _, reserved, _ = await api.submit(caller, batch, TREE, job_rows(1), **UNKEYED)
        assert (reserved.first_job, reserved.first_group) == (2, 1)


class UploadTests(StoreTests):
    """Updates that are sent in several requests."""

    async def begin(self, n_jobs: int, n_groups: int = 0) -> tuple[int, Reserved]:
        """Reserve numbers in a new batch."""
        batch, _is_new = await self.site.api.create_batch(
            self.site.caller, NEW, idempotency_key=None, digest=b""
        )
        update, _is_new = await self.site.api.create_update(
            self.site.caller, batch, n_jobs=n_jobs, n_groups=n_groups, **UNKEYED
        )
        return batch, update

    async def test_update_reserves_numbers_once_per_key(self) -> None:
        """Contiguous ones, beside those of other updates."""
        api, caller = self.site.api, self.site.caller
        batch, first = await self.begin(10, 2)
        create = partial(
            api.create_update, caller, batch, n_jobs=5, n_groups=1, idempotency_key="u",
            trace_id=TRACE_ID,
        )  # fmt: skip
        second, is_new = await create(digest=b"a")
        assert (first.first_job, first.first_group) == (1, 1)
        assert (second.first_job, second.first_group, is_new) == (11, 3, True)
        assert await create(digest=b"a") == (second, False)
        with refused(IdempotencyConflict):
            await create(digest=b"b")
        assert await api.get_update(caller, batch, second.update_id) == second

    async def test_bunches_come_in_any_order_and_twice(self) -> None:
        """Another body for the same numbers is told apart; a key is used with one body."""
        api, caller = self.site.api, self.site.caller
        batch, update = await self.begin(4)
        late = job_rows(2, first_job=3)
        add = partial(api.add_jobs, caller, batch, update.update_id)
        assert await add(late, digest=b"a") is True
        assert await add(late, digest=b"a") is False
        assert await add(late, digest=b"b") is None
        assert await add(job_rows(2), idempotency_key="k", digest=b"a") is True
        with refused(IdempotencyConflict):
            await add(job_rows(2), idempotency_key="k", digest=b"b")
        await api.commit_update(caller, batch, update.update_id)
        assert await self.site.run() == [1, 2, 3, 4]

    async def test_groups_are_added_once(self) -> None:
        """A number has one group."""
        api, caller = self.site.api, self.site.caller
        batch, update = await self.begin(0, len(TREE))
        add = partial(api.add_groups, caller, batch, update.update_id)
        last = partial(api.last_group_of_update, caller, batch, update.update_id)
        assert await last() == 0
        assert await add(TREE[:1])
        assert await last() == 1
        assert await add(TREE, idempotency_key="k", digest=b"a")
        assert not await add(TREE, idempotency_key="k", digest=b"a")
        with refused(IdempotencyConflict):
            await add(TREE, idempotency_key="k", digest=b"b")
        with refused(BunchDiffers):
            await add([NewGroup(group_id=1, name="other")])
        assert await last() == len(TREE)
        await api.commit_update(caller, batch, update.update_id)
        groups = await api.list_groups(caller, batch, after=-1, limit=9)
        assert [group["path"] for group in groups] == ["/", "/a", "/a/b", "/c"]

    async def test_update_does_not_exist_for_readers_before_its_commit(self) -> None:
        """Which needs all that was reserved, and may be repeated."""
        api, caller = self.site.api, self.site.caller
        batch, update = await self.begin(3)
        await api.add_jobs(caller, batch, update.update_id, job_rows(2))
        with refused(UpdateIncomplete):
            await api.commit_update(caller, batch, update.update_id)
        await api.add_jobs(caller, batch, update.update_id, job_rows(1, first_job=3))
        assert await api.list_jobs(caller, batch, after=0, limit=9) == []
        with refused(JobNotFound):
            await api.get_job(caller, batch, 1)
        assert await self.site.run() == []
        for _ in range(2):
            committed = await api.commit_update(caller, batch, update.update_id)
            assert committed == replace(update, committed=True)
        assert await self.site.run() == [1, 2, 3]

    async def test_bunch_is_read_as_it_was_sent(self) -> None:
        """With absolute numbers, also before the commit."""
        api, caller = self.site.api, self.site.caller
        batch, _ = await self.begin(2)
        update, _ = await api.create_update(caller, batch, n_jobs=3, n_groups=0, **UNKEYED)
        rows = job_rows(3, parents={3: [1]}, priority=4, names={2: "two"})
        await api.add_jobs(caller, batch, update.update_id, rows)
        two, three = await api.get_bunch(caller, batch, update.update_id, first_job=2, n_jobs=2)
        assert (two["name"], two["priority"], two["group"]) == ("two", 4, 0)
        assert (two["cpu_m"], two["memory_mib"], two["spec"]) == (1000, 512, JobSpec())
        assert (three["parents"], three["groups"], three["rare_fields"]) == ([3], [], {})

    async def test_jobs_must_fit_into_their_update(self) -> None:
        """Into its numbers, once each, and before its commit."""
        api, caller = self.site.api, self.site.caller
        batch, update = await self.begin(4)
        add = partial(api.add_jobs, caller, batch, update.update_id)
        with refused(OutsideUpdate):
            await add(job_rows(2, first_job=4))
        with refused(ParentNotFound):
            await add(job_rows(2, parents={2: [-9]}))
        with refused(GroupNotFound):
            await add(job_rows(2, group=-9))
        await add(job_rows(3))
        with refused(BunchOverlap):
            await add(job_rows(2, first_job=3))
        await add(job_rows(1, first_job=4))
        await api.commit_update(caller, batch, update.update_id)
        with refused(UpdateCommitted):
            await add(job_rows(1))

    async def test_groups_must_fit_into_their_update_and_tree(self) -> None:
        """Whose names are unique, and which has a depth."""
        caller = self.site.caller
        batch, update = await self.begin(0, 2)
        async with self.site.open_api(GroupLimits(depth_max=1)) as api:
            add = partial(api.add_groups, caller, batch, update.update_id)
            with refused(OutsideUpdate):
                await add([NewGroup(group_id=3, name="c")])
            with refused(GroupNotFound):
                await add([NewGroup(group_id=1, parent_id=-9, name="a")])
            with refused(GroupTooDeep):
                await add(TREE[:2])
            await add(TREE[:1])
            with refused(GroupExists):
                await add([NewGroup(group_id=2, name="a")])

    async def test_batch_has_limits(self) -> None:
        """Of jobs and of groups."""
        caller = self.site.caller
        batch, _update = await self.begin(1, 1)
        async with self.site.open_api(GroupLimits(batch_groups_max=2)) as api:
            create = partial(api.create_update, caller, batch, **UNKEYED)
            with refused(BatchFull):
                await create(n_jobs=(1 << 31) - 1, n_groups=0)
            with refused(TooManyGroups):
                await create(n_jobs=0, n_groups=2)
            update, _is_new = await create(n_jobs=1, n_groups=1)
        assert (update.first_job, update.first_group) == (2, 2)

    async def test_nothing_is_added_to_a_cancelled_batch(self) -> None:
        """Nor committed."""
        api, caller = self.site.api, self.site.caller
        batch, update = await self.begin(1)
        await api.add_jobs(caller, batch, update.update_id, job_rows(1))
        await api.cancel_group(caller, batch, 0, force=False)
        for call in (
            partial(api.create_update, caller, batch, n_jobs=1, n_groups=0, **UNKEYED),
            partial(api.submit, caller, batch, [], job_rows(1), **UNKEYED),
            partial(api.commit_update, caller, batch, update.update_id),
        ):
            with refused(BatchCancelled):
                await call()

    async def test_unknown_update_is_refused(self) -> None:
        """By each call that names one."""
        api, caller = self.site.api, self.site.caller
        batch, update = await self.begin(1)
        unknown = update.update_id + 1
        for call in (
            partial(api.get_update, caller, batch, unknown),
            partial(api.last_group_of_update, caller, batch, unknown),
            partial(api.add_groups, caller, batch, unknown, TREE),
            partial(api.add_jobs, caller, batch, unknown, job_rows(1)),
            partial(api.get_bunch, caller, batch, unknown, first_job=1, n_jobs=1),
            partial(api.commit_update, caller, batch, unknown),
        ):
            with refused(UpdateNotFound):
                await call()


class PayloadTests(StoreTests):
    """Large arguments, in parts."""

    async def test_payload_is_there_when_all_its_parts_are(self) -> None:
        """In its batch only; parts come in any order and twice."""
        api, caller = self.site.api, self.site.caller
        batch, other = await self.site.submit(1), await self.site.submit(1)
        data = bytes(PART_BYTES) + b"end"
        digest, unknown = sha256(data).digest(), sha256(b"").digest()
        add = partial(api.add_payload_part, caller, batch, digest, n_bytes=len(data))
        await add(2, data[PART_BYTES:])
        assert set(await api.missing_payloads(caller, batch, [digest, unknown])) == {
            digest,
            unknown,
        }
        for _ in range(2):
            await add(1, data[:PART_BYTES])
        assert list(await api.missing_payloads(caller, batch, [digest, unknown])) == [unknown]
        assert list(await api.missing_payloads(caller, other, [digest])) == [digest]
        store, _incarnation_id = await self.site.worker()
        assert await store.get_payload_part(batch, digest, 2) == (len(data), b"end")

    async def test_cancelled_batch_takes_no_payload(self) -> None:
        """Its jobs will not run."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        await api.cancel_group(caller, batch, 0, force=False)
        with refused(BatchCancelled):
            await api.add_payload_part(caller, batch, bytes(32), 1, b"x", n_bytes=1)


class SubmissionSuite(SubmissionTests, UploadTests, PayloadTests):
    """Tests of the calls that bring batches, groups and jobs."""
