"""Users, their tokens, and what is theirs alone."""

from dataclasses import replace
from typing import Final
from uuid import uuid4

import pytest

from store.site import Site
from weft.core.access.rights import UserRole
from weft.core.errors import RightMissing, TenantExists, Unauthenticated, UserExists
from weft.core.states import AttemptKey
from weft.ports.store import Caller, StoredSecret
from weft.wire.sealed import SecretRow

ANY_ROLE: Final = tuple(UserRole)


async def add_user(site: Site, name: str, role: UserRole = UserRole.USER) -> Caller:
    """Let a user into the caller's tenant; return who they are with their token."""
    token = uuid4().hex
    await site.api.add_user(site.caller, name, role, token)
    found = await site.api.authenticate(token)
    assert found is not None
    return found


async def tenant_name(site: Site) -> str:
    tenants = await site.api.list_tenants(after=site.caller.tenant_id - 1, limit=1)
    return str(tenants[0]["name"])


async def test_removed_user_comes_back(site: Site) -> None:
    """With what they submitted, not with their tokens."""
    api, caller = site.api, site.caller
    bob = await add_user(site, "bob")
    old, new = uuid4().hex, uuid4().hex
    await api.remove_user(caller, "bob", may_give=ANY_ROLE)
    with pytest.raises(Unauthenticated):
        await api.create_token(bob, old, name="x", scopes=None, valid_s=None, tokens_max=9)
    bearer = replace(bob, token_id=0)  # of a token of another issuer
    await api.create_token(bearer, old, name="x", scopes=None, valid_s=None, tokens_max=9)
    assert await api.authenticate(old) is None
    back = await api.add_user(caller, "Bob", UserRole.VIEWER, new)
    assert (back["user_id"], back["role"]) == (bob.user_id, "viewer")
    assert await api.authenticate(old) is None
    assert await api.authenticate(new) is not None


async def test_name_is_taken_in_its_tenant_only(site: Site) -> None:
    """Without regard to case; a repeat with the same key replaces the token, if nobody has
    used it.
    """
    api, caller = site.api, site.caller
    first, second = uuid4().hex, uuid4().hex
    made = await api.add_user(caller, "bob", UserRole.USER, first, idempotency_key="k")
    again = await api.add_user(caller, "bob", UserRole.USER, second, idempotency_key="k")
    assert again["user_id"] == made["user_id"]
    assert await api.authenticate(first) is None
    bob = await api.authenticate(second)
    assert bob is not None
    for name, key in (("BoB", None), ("BoB", "other"), ("bob", "k")):
        with pytest.raises(UserExists):
            await api.add_user(caller, name, UserRole.USER, uuid4().hex, idempotency_key=key)
    assert await api.authenticate(second) == bob
    other = await api.add_user(site.stranger, "bob", UserRole.USER, uuid4().hex)
    assert other["user_id"] != made["user_id"]


async def test_repeat_gives_no_token_of_somebody_else(site: Site) -> None:
    """The key of a token that the user made, or of a request for another role, is none."""
    api, caller, own = site.api, site.caller, uuid4().hex
    await api.add_user(caller, "bob", UserRole.ADMIN, uuid4().hex, idempotency_key="k")
    bob = await site.api.admit_user(await tenant_name(site), "bob", None, may_create=False)
    assert bob is not None
    await api.create_token(
        bob, own, name="ci", scopes=None, valid_s=None, tokens_max=9, idempotency_key="own"
    )
    for role, key in ((UserRole.ADMIN, "own"), (UserRole.VIEWER, "k")):
        with pytest.raises(UserExists):
            await api.add_user(caller, "bob", role, uuid4().hex, idempotency_key=key)
    assert await api.authenticate(own) is not None


async def test_rights_are_those_of_the_moment(site: Site) -> None:
    """A caller whose role was changed meanwhile, or who has a lesser one, changes nobody."""
    api = site.api
    stale = replace(site.caller, role=UserRole.TENANT_ADMIN)
    await add_user(site, "boss", UserRole.ADMIN)
    with pytest.raises(RightMissing):
        await api.add_user(stale, "eve", UserRole.USER, uuid4().hex)
    for caller, may_give in ((stale, ANY_ROLE), (site.caller, (UserRole.USER,))):
        with pytest.raises(RightMissing):
            await api.set_user_role(caller, "boss", UserRole.USER, may_give=may_give)
        with pytest.raises(RightMissing):
            await api.remove_user(caller, "boss", may_give=may_give)


async def test_tenant_is_made_once(site: Site) -> None:
    """Its name is unique without regard to case; a repeat with the key replaces the token, if
    nobody has used it.
    """
    api, admin, name = site.api, await add_user(site, "root", UserRole.ADMIN), f"a{uuid4().hex}"
    first, second = uuid4().hex, uuid4().hex
    made = [
        await api.create_tenant(admin, name, admin="ann", token=token, idempotency_key="k")
        for token in (first, second)
    ]
    assert made[0] == made[1]
    assert await api.authenticate(first) is None
    ann = await api.authenticate(second)
    assert ann is not None
    assert await api.tenant_name(ann) == name
    with pytest.raises(TenantExists):
        await api.create_tenant(admin, name, admin="ann", token=uuid4().hex, idempotency_key="k")
    assert await api.authenticate(second) == ann
    for given, user, key in (
        (name.upper(), "ann", None),
        (name, "ann", "other"),
        (name, "eve", "k"),
    ):
        with pytest.raises(TenantExists):
            await api.create_tenant(
                admin, given, admin=user, token=uuid4().hex, idempotency_key=key
            )


BODY, OTHER, NEW = (b"\1" + bytes([n] * 8) + bytes(40) for n in (1, 2, 3))
"""Secrets, encrypted with keys of different ids."""


def stored_secret(site: Site, caller: Caller, name: str, body: bytes | None) -> StoredSecret:
    return StoredSecret(SecretRow(caller.tenant_id, caller.user_id, name), body)


async def test_secrets_are_their_users(site: Site) -> None:
    """Nobody else lists, replaces or removes one, or gets one of the same name."""
    api, caller, stranger = site.api, site.caller, site.stranger
    made = await api.set_secret(caller, "db", BODY, secrets_max=9)
    assert set(made) == {"name", "created_at", "updated_at"}
    await api.set_secret(stranger, "db", OTHER, secrets_max=9)
    assert not await api.remove_secret(replace(stranger, user_id=caller.user_id), "db")
    again = await api.set_secret(caller, "db", NEW, secrets_max=9)
    assert again["created_at"] == made["created_at"] < again["updated_at"]
    assert list(await api.list_secrets(caller)) == [again]
    assert list(await api.list_secrets(replace(stranger, user_id=caller.user_id))) == []
    await site.submit(1)
    (one,) = await site.claim()
    store, worker = await site.worker()
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    found = await store.get_secrets(worker, [(key, "db"), (key, "none")])
    assert list(found) == [
        stored_secret(site, caller, "db", NEW),
        stored_secret(site, caller, "none", None),
    ]
    assert await api.remove_secret(caller, "db")
    assert not await api.remove_secret(caller, "db")
    assert list(await store.get_secrets(worker, [(key, "db")])) == [
        stored_secret(site, caller, "db", None)
    ]
    await site.end(one)
    assert list(await store.get_secrets(worker, [(key, "db")])) == [None]


async def test_secrets_and_saved_queries_go_with_their_user(site: Site) -> None:
    """A removed user has none, and makes none."""
    api, eve = site.api, await add_user(site, "eve")
    await api.set_secret(eve, "db", BODY, secrets_max=9)
    assert await api.save_query(eve, "a", "x", queries_max=2)
    await api.remove_user(site.caller, "eve", may_give=ANY_ROLE)
    assert [*await api.list_secrets(eve), *await api.list_saved_queries(eve)] == []
    with pytest.raises(Unauthenticated):
        await api.set_secret(eve, "db", BODY, secrets_max=9)
    with pytest.raises(Unauthenticated):
        await api.save_query(eve, "a", "x", queries_max=2)
