"""What every adapter of the port `PermissionStore` must do: a part of the api's suite."""

from dataclasses import replace
from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.access.permissions import Permission
from weft.core.access.rights import UserRole
from weft.core.errors import BatchNotFound, JobNotFound, PermissionMissing, UserNotFound
from weft.testing.builders import job_rows


class PermissionStoreSuite(StoreTests):
    """Tests of the port `PermissionStore`."""

    async def test_batch_is_shared_until_it_is_not(self) -> None:
        """A permission replaces the one before; streams of who may do less are told to end."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "bob", UserRole.USER, token)
        await api.set_project_member(caller, "default", "bob", is_member=False)
        found = await api.authenticate(token)
        assert found is not None
        bob = replace(found, needs=Permission.READ)
        batch = await self.site.submit(1)
        with refused(BatchNotFound):
            await api.list_permissions(bob, batch, after=0, limit=9)
        with refused(UserNotFound):
            await api.share_batch(caller, batch, "nobody", Permission.READ)
        for permission in (Permission.WRITE, Permission.READ):
            shared = await api.share_batch(caller, batch, "BOB", permission)
            assert (shared["user_id"], shared["user"]) == (bob.user_id, "bob")
            assert (shared["batch_id"], shared["permission"]) == (batch, permission.word)
            assert await api.list_permissions(bob, batch, after=0, limit=9) == [shared]
            assert await api.list_allowed(replace(bob, needs=permission), [batch]) == {batch}
        assert not await api.list_allowed(replace(bob, needs=Permission.EXECUTE), [batch])
        assert await api.list_permissions(bob, batch, after=bob.user_id, limit=9) == []
        with refused(PermissionMissing):
            await api.share_batch(replace(bob, needs=Permission.ALL), batch, "bob", None)
        told = await self.site.notice(
            "callers", after=lambda: api.share_batch(caller, batch, "bob", None)
        )
        assert told == str(-bob.user_id)
        assert await api.list_permissions(caller, batch, after=0, limit=9) == []
        with refused(BatchNotFound):
            await api.get_batch(bob, batch)

    async def test_job_is_shared_alone_until_it_is_not(self) -> None:
        """The batch and its other jobs stay out of sight."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "joe", UserRole.USER, token)
        await api.set_project_member(caller, "default", "joe", is_member=False)
        found = await api.authenticate(token)
        assert found is not None
        joe = replace(found, needs=Permission.READ)
        batch = await self.site.submit(job_rows(3, parents={3: [2]}))
        with refused(BatchNotFound):
            await api.sees_batch(joe, batch)
        with refused(JobNotFound):
            await api.share_job(caller, batch, 9, "joe", Permission.READ)
        with refused(UserNotFound):
            await api.share_job(caller, batch, 2, "nobody", Permission.READ)
        one, other = 2, 3
        for job in (one, other):
            shared = await api.share_job(caller, batch, job, "JOE", Permission.EXECUTE)
            assert (shared["job_id"], shared["permission"]) == (job, "execute")
            assert await api.list_job_permissions(joe, batch, job, after=0, limit=9) == [shared]
        assert await api.list_permissions(caller, batch, after=0, limit=9) == []
        assert (await api.get_job(joe, batch, one))["job_id"] == one
        with refused(BatchNotFound):
            await api.get_job(joe, batch, 1)
        with refused(BatchNotFound):
            await api.get_batch(joe, batch)
        assert await api.list_children(joe, batch, one, after=0, limit=9) == []
        assert await api.list_parents(joe, batch, other, after=0, limit=9) == []
        assert not await api.list_allowed(joe, [batch])
        assert await api.list_allowed(caller, [batch, batch + 1]) == {batch}
        assert not await api.sees_batch(joe, batch)
        assert await api.sees_batch(caller, batch)
        with refused(PermissionMissing):
            await api.get_job(replace(joe, needs=Permission.WRITE), batch, one)
        (last,) = await api.list_shared_jobs(joe, before=None, limit=1)
        (first,) = await api.list_shared_jobs(joe, before=(batch, other), limit=9)
        assert [(one["job_id"], one["permission"]) for one in (last, first)] == [
            (other, "execute"),
            (one, "execute"),
        ]
        told = await self.site.notice(
            "callers", after=lambda: api.share_job(caller, batch, one, "joe", None)
        )
        assert told == str(-joe.user_id)
        with refused(BatchNotFound):
            await api.get_job(joe, batch, one)
