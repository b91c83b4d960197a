"""Administrators of the site who change what tenants share are named in their own tenant."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from store.pool_rows import stranger
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.pools import Pool
from weft.ports.store import Caller

NEUTRAL = "site administrator"


async def told(world: World, caller: Caller, name: str, licence: str) -> dict[str, Any]:
    """Return what a caller is told of who did what, by each way of asking."""
    api = world.api
    shown = await api.get_worker(caller, name, world.pool)
    listed = await api.list_workers(caller, with_deleted=True, limit=999)
    top = (await api.overview(caller))["workers"]
    return {
        "worker": shown["cordoned_by"],
        "history": [one["actor"] for one in shown["history"]],
        "list": [one["cordoned_by"] for one in listed if one["worker"] == name],
        "overview": [one["cordoned_by"] for one in top if one["worker"] == name],
        "licence": [
            one["set_by"] for one in await api.list_licences(caller) if one["licence"] == licence
        ],
        "pool": (await api.list_pool_changes(caller, world.pool, limit=1))[0]["reason"],
    }


@pytest.mark.parametrize("role", [UserRole.USER, UserRole.TENANT_ADMIN])
async def test_users_of_other_tenants_are_not_told_their_names(
    own_world: World, role: UserRole
) -> None:
    world, root = own_world, replace(own_world.caller, role=UserRole.ADMIN)
    name, licence = f"w{uuid4().hex}", f"l{uuid4().hex}"
    await world.worker(name)
    for function in ("cordon", "uncordon", "cordon"):
        more = {"reason": "hot"} if function == "cordon" else {}
        await getattr(world.api, f"{function}_worker")(root, name, world.pool, **more)
    await world.api.set_licence(root, licence, 2)
    await world.api.save_pools(root, [Pool(name=world.pool, provider="none", max_workers=1)])
    other = await stranger(world)
    found = {
        who: await told(world, caller, name, licence)
        for who, caller in (
            ("their own tenant", replace(world.caller, role=role)),
            ("another tenant", replace(other, role=role)),
            ("the site", replace(other, role=UserRole.ADMIN)),
        )
    }

    by = dict.fromkeys(("their own tenant", "the site"), "user ada")
    for who, actor in {**by, "another tenant": NEUTRAL}.items():
        assert found[who] == {
            "worker": actor,
            "history": [actor] * 3,
            "list": [actor],
            "overview": [actor],
            "licence": [actor],
            "pool": f"{actor} changed its description",
        }, who
