"""What every adapter of the port `SecretStore` must do: a part of the api's suite."""

from dataclasses import replace
from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.access.rights import UserRole
from weft.core.attempt_key import AttemptKey
from weft.core.errors import TooManySecrets, Unauthenticated
from weft.ports.store import Caller, StoredSecret
from weft.wire.sealed import SecretRow

BODY, OTHER, NEW = (b"\1" + bytes([n] * 8) + bytes(40) for n in (1, 2, 3))
"""Values, encrypted with keys of different ids."""


class SecretStoreSuite(StoreTests):
    """Tests of the port `SecretStore`, and of what a worker gets of it."""

    def _stored(self, caller: Caller, name: str, body: bytes | None) -> StoredSecret:
        return StoredSecret(SecretRow(caller.tenant_id, caller.user_id, name), body)

    async def test_secrets_are_their_users(self) -> None:
        """Nobody else lists, replaces or removes one, or gets one of the same name."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        made = await api.set_secret(caller, "db", BODY, secrets_max=9)
        assert set(made) == {"name", "created_at", "updated_at"}
        await api.set_secret(stranger, "db", OTHER, secrets_max=9)
        assert not await api.remove_secret(replace(stranger, user_id=caller.user_id), "db")
        again = await api.set_secret(caller, "db", NEW, secrets_max=9)
        assert again["created_at"] == made["created_at"] < again["updated_at"]
        assert list(await api.list_secrets(caller)) == [again]
        assert list(await api.list_secrets(replace(stranger, user_id=caller.user_id))) == []
        await self.site.submit(1)
        (one,) = await self.site.claim()
        store, worker = await self.site.worker()
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        found = await store.get_secrets(worker, [(key, "db"), (key, "none")])
        assert list(found) == [
            self._stored(caller, "db", NEW), self._stored(caller, "none", None)
        ]  # fmt: skip
        assert await api.remove_secret(caller, "db")
        assert not await api.remove_secret(caller, "db")
        assert list(await store.get_secrets(worker, [(key, "db")])) == [
            self._stored(caller, "db", None)
        ]
        await self.site.end(one)
        assert list(await store.get_secrets(worker, [(key, "db")])) == [None]

    async def test_secrets_are_limited(self) -> None:
        """By their number; to replace one is always possible."""
        api, caller = self.site.api, self.site.caller
        for name in ("a", "b", "b"):
            await api.set_secret(caller, name, BODY, secrets_max=2)
        with refused(TooManySecrets):
            await api.set_secret(caller, "c", BODY, secrets_max=2)
        assert [one["name"] for one in await api.list_secrets(caller)] == ["a", "b"]

    async def test_secrets_go_with_their_user(self) -> None:
        """A removed user has none, and sets none."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "eve", UserRole.USER, token)
        eve = await api.authenticate(token)
        assert eve is not None
        await api.set_secret(eve, "db", BODY, secrets_max=9)
        await api.remove_user(caller, "eve", may_give=tuple(UserRole))
        assert list(await api.list_secrets(eve)) == []
        with refused(Unauthenticated):
            await api.set_secret(eve, "db", BODY, secrets_max=9)

    async def test_administrators_of_the_site_encrypt_all_anew(self) -> None:
        """A value that was set meanwhile stays; nobody else sees any or changes any."""
        api, caller, token = self.site.api, self.site.caller, uuid4().hex
        await api.add_user(caller, "root", UserRole.ADMIN, token)
        admin = await api.authenticate(token)
        assert admin is not None
        await api.set_secret(caller, "old", BODY, secrets_max=9)
        await api.set_secret(caller, "current", NEW, secrets_max=9)
        assert list(await api.list_stale_secrets(caller, NEW[1:9], limit=9)) == []
        mine = [
            (row, body)
            for row, body in await api.list_stale_secrets(admin, NEW[1:9], limit=1000)
            if row.user_id == caller.user_id
        ]
        assert mine == [(SecretRow(caller.tenant_id, caller.user_id, "old"), BODY)]
        assert await api.reseal_secrets(caller, mine, [NEW]) == 0
        assert await api.reseal_secrets(admin, [(mine[0][0], OTHER)], [NEW]) == 0
        assert await api.reseal_secrets(admin, mine, [NEW]) == 1
        assert mine[0][0] not in [
            row for row, _ in await api.list_stale_secrets(admin, NEW[1:9], limit=1000)
        ]
