"""What every adapter of the port `UserStore` must do: a part of the api's suite."""

from dataclasses import replace
from typing import Final
from uuid import uuid4

from store.calls.store_site import UNKEYED, StoreTests, refused
from weft.core.access.rights import UserRole
from weft.core.errors import (
    LastAdministrator,
    RightMissing,
    Unauthenticated,
    UserExists,
    UserNotFound,
)
from weft.core.problem_document import problem_document
from weft.core.states import Reason
from weft.ports.store import Caller

ANY_ROLE: Final = tuple(UserRole)


class UserStoreSuite(StoreTests):
    """Tests of the port `UserStore`."""

    async def add(self, name: str, role: UserRole = UserRole.USER) -> Caller:
        """Let a user into the caller's tenant; return who they are with their token."""
        token = uuid4().hex
        await self.site.api.add_user(self.site.caller, name, role, token)
        found = await self.site.api.authenticate(token)
        assert found is not None
        return found

    async def test_user_has_a_role_until_removed(self) -> None:
        """Every api is told of each change; a repeat of the removal does nothing."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        made = await api.add_user(caller, "bob", UserRole.USER, token)
        bob = await api.authenticate(token)
        assert bob is not None
        assert (bob.user_id, bob.user_name, bob.role) == (made["user_id"], "bob", UserRole.USER)
        told = await self.site.notice(
            "callers",
            after=lambda: api.set_user_role(caller, "BOB", UserRole.OPERATOR, may_give=ANY_ROLE),
        )
        assert told == str(-bob.user_id)
        assert await api.authenticate(token) == replace(bob, role=UserRole.OPERATOR)
        listed = await api.list_users(caller, after=0, limit=9)
        assert [one["name"] for one in listed] == [caller.user_name, "bob"]
        assert await api.list_users(caller, after=0, limit=1) == listed[:1]
        told = await self.site.notice(
            "callers", after=lambda: api.remove_user(caller, "bob", may_give=ANY_ROLE)
        )
        assert told == str(-bob.user_id)
        assert await api.authenticate(token) is None
        assert await api.list_users(caller, after=listed[0]["user_id"], limit=9) == []
        again = await api.remove_user(caller, "bob", may_give=ANY_ROLE)
        assert again["user_id"] == bob.user_id

    async def test_trusted_issuer_vouches_for_users(self) -> None:
        """The role is the issuer's; who was removed stays out; every api is told of a change."""
        api, caller = self.site.api, self.site.caller
        tenant = await self._tenant()
        assert await api.admit_user(tenant, "eve", None, may_create=False) is None
        assert await api.admit_user("nowhere", "eve", None, may_create=True) is None
        eve = await api.admit_user(tenant.upper(), "eve", None, may_create=True)
        assert eve is not None
        assert (eve.tenant_id, eve.role) == (caller.tenant_id, UserRole.USER)
        assert await api.admit_user(tenant, "EVE", None, may_create=True) == eve
        told = await self.site.notice(
            "callers",
            after=lambda: api.admit_user(tenant, "eve", UserRole.OPERATOR, may_create=False),
        )
        assert told == str(-eve.user_id)
        assert await api.admit_user(tenant, "eve", None, may_create=False) == replace(
            eve, role=UserRole.OPERATOR
        )
        await api.remove_user(caller, "eve", may_give=ANY_ROLE)
        assert await api.admit_user(tenant, "eve", UserRole.USER, may_create=True) is None
        kate = await self.add("kate")
        folded = await api.admit_user(tenant, "\N{KELVIN SIGN}ate", None, may_create=True)
        assert folded is None or folded.user_id != kate.user_id

    async def test_removed_user_comes_back(self) -> None:
        """With what they submitted, not with their tokens."""
        api, caller = self.site.api, self.site.caller
        bob = await self.add("bob")
        old, new = uuid4().hex, uuid4().hex
        await api.remove_user(caller, "bob", may_give=ANY_ROLE)
        with refused(Unauthenticated):
            await api.create_token(bob, old, name="x", scopes=None, valid_s=None, tokens_max=9)
        bearer = replace(bob, token_id=0)  # of a token of another issuer
        await api.create_token(bearer, old, name="x", scopes=None, valid_s=None, tokens_max=9)
        assert await api.authenticate(old) is None
        back = await api.add_user(caller, "Bob", UserRole.VIEWER, new)
        assert (back["user_id"], back["role"]) == (bob.user_id, "viewer")
        assert await api.authenticate(old) is None
        assert await api.authenticate(new) is not None

    async def test_name_is_taken_in_its_tenant_only(self) -> None:
        """Without regard to case; a repeat with the same key replaces the token, if nobody has
        used it.
        """
        api, caller = self.site.api, self.site.caller
        first, second = uuid4().hex, uuid4().hex
        made = await api.add_user(caller, "bob", UserRole.USER, first, idempotency_key="k")
        again = await api.add_user(caller, "bob", UserRole.USER, second, idempotency_key="k")
        assert again["user_id"] == made["user_id"]
        assert await api.authenticate(first) is None
        bob = await api.authenticate(second)
        assert bob is not None
        for name, key in (("BoB", None), ("BoB", "other"), ("bob", "k")):
            with refused(UserExists):
                await api.add_user(caller, name, UserRole.USER, uuid4().hex, idempotency_key=key)
        assert await api.authenticate(second) == bob
        other = await api.add_user(self.site.stranger, "bob", UserRole.USER, uuid4().hex)
        assert other["user_id"] != made["user_id"]

    async def test_repeat_gives_no_token_of_somebody_else(self) -> None:
        """The key of a token that the user made, or of a request for another role, is none."""
        api, caller, own = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "bob", UserRole.ADMIN, uuid4().hex, idempotency_key="k")
        bob = await self.site.api.admit_user(await self._tenant(), "bob", None, may_create=False)
        assert bob is not None
        await api.create_token(
            bob, own, name="ci", scopes=None, valid_s=None, tokens_max=9, idempotency_key="own"
        )
        for role, key in ((UserRole.ADMIN, "own"), (UserRole.VIEWER, "k")):
            with refused(UserExists):
                await api.add_user(caller, "bob", role, uuid4().hex, idempotency_key=key)
        assert await api.authenticate(own) is not None

    async def _tenant(self) -> str:
        tenants = await self.site.api.list_tenants(after=self.site.caller.tenant_id - 1, limit=1)
        return str(tenants[0]["name"])

    async def test_users_of_others_are_not_there(self) -> None:
        """Nobody of another tenant is listed, changed or removed."""
        api, stranger = self.site.api, self.site.stranger
        bob = await self.add("bob")
        listed = await api.list_users(stranger, after=0, limit=99)
        assert bob.user_id not in [one["user_id"] for one in listed]
        with refused(UserNotFound):
            await api.set_user_role(stranger, "bob", UserRole.VIEWER, may_give=ANY_ROLE)
        with refused(UserNotFound):
            await api.remove_user(stranger, "bob", may_give=ANY_ROLE)
        await self.site.submit()
        user_id = self.site.caller.user_id
        assert await api.list_open_batches(stranger, user_id, after=0, limit=9) == []

    async def test_last_administrator_stays(self) -> None:
        """Of those who may manage the tenant, and of those who may do all."""
        api, caller = self.site.api, self.site.caller
        for name, role, less in (
            ("t", UserRole.TENANT_ADMIN, UserRole.OPERATOR),
            ("a", UserRole.ADMIN, UserRole.TENANT_ADMIN),
        ):
            await self.add(name, role)
            with refused(LastAdministrator):
                await api.set_user_role(caller, name, less, may_give=ANY_ROLE)
            with refused(LastAdministrator):
                await api.remove_user(caller, name, may_give=ANY_ROLE)
            await api.set_user_role(caller, name, role, may_give=ANY_ROLE)
        await api.remove_user(caller, "t", may_give=ANY_ROLE)
        await self.add("b", UserRole.ADMIN)
        await api.set_user_role(caller, "a", UserRole.USER, may_give=ANY_ROLE)

    async def test_rights_are_those_of_the_moment(self) -> None:
        """A caller whose role was changed meanwhile, or who has a lesser one, changes nobody."""
        api = self.site.api
        stale = replace(self.site.caller, role=UserRole.TENANT_ADMIN)
        await self.add("boss", UserRole.ADMIN)
        with refused(RightMissing):
            await api.add_user(stale, "eve", UserRole.USER, uuid4().hex)
        for caller, may_give in ((stale, ANY_ROLE), (self.site.caller, (UserRole.USER,))):
            with refused(RightMissing):
                await api.set_user_role(caller, "boss", UserRole.USER, may_give=may_give)
            with refused(RightMissing):
                await api.remove_user(caller, "boss", may_give=may_give)

    async def test_open_batches_are_listed(self) -> None:
        """Those of the user whose jobs have not all ended."""
        api, caller = self.site.api, self.site.caller
        bob = await self.add("bob")
        ended = await self.site.submit()
        await self.site.run()
        await self.site.drive()
        first, second = [await self.site.submit() for _ in range(2)]
        found = await api.list_open_batches(caller, caller.user_id, after=0, limit=9)
        assert (ended in found, found[-2:]) == (False, [first, second])
        assert await api.list_open_batches(caller, caller.user_id, after=first, limit=9) == [
            second
        ]
        await self.site.drive()
        assert await api.list_open_batches(caller, caller.user_id, after=0, limit=1) == [first]
        assert await api.list_open_batches(caller, bob.user_id, after=0, limit=9) == []

    async def test_work_that_is_not_done_is_stopped(self) -> None:
        """The user's alone; a batch that was being made is never there."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        bob = await self.add("bob", UserRole.OPERATOR)
        batch = await self.site.submit()
        (one,) = await self.site.claim()
        await self.site.end(one, reason=Reason.EXIT)
        await self.site.drive()
        asked = [
            await api.resubmit_batch(who, batch, failed=False, changes={}, **UNKEYED)
            for who in (caller, bob)
        ]
        asked.append(
            await api.retry_jobs(
                bob, batch, job_ids=None, query=None, within_group=None, **UNKEYED
            )
        )
        problem = problem_document(RightMissing("gone", hint="Ask another one."), "")
        await api.stop_work(stranger, bob.user_id, problem)
        running = [await api.get_operation(caller, operation) for operation in asked]
        for _ in range(2):
            await api.stop_work(caller, bob.user_id, problem)
        other, *stopped = [await self.site.ended(operation) for operation in asked]
        assert {one["state"] for one in running} == {"running"}
        assert other["state"] == "success"
        assert [(one["state"], one["error"]["title"]) for one in stopped] == [
            ("failed", "gone")
        ] * 2
        found = await api.list_batches(caller, before=None, limit=1, name=None)
        assert [row["id"] for row in found] == [other["result"]["batch_id"]]
