"""What every adapter of the port `PermissionStore` must do: a part of the api's suite."""

from dataclasses import replace
from uuid import uuid4

from weft.core.errors import BatchNotFound, PermissionMissing, UserNotFound
from weft.core.permissions import Permission
from weft.core.rights import UserRole
from weft.testing.store_site import StoreTests, refused


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
