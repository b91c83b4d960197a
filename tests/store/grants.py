"""Members of projects and grants on batches, as rows: who sees what."""

from dataclasses import replace

from store.world import World
from weft.core.access.rights import Permission
from weft.ports.store import Caller


async def leave(world: World, caller: Caller) -> Caller:
    """Take a user out of all projects; return them as a route that only reads knows them."""
    await world.admin.execute("DELETE FROM weft.billing_member WHERE user_id = $1", caller.user_id)
    return replace(caller, needs=Permission.READ)


async def join(world: World, caller: Caller, project: int) -> None:
    await world.admin.execute(
        "INSERT INTO weft.billing_member VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        project,
        caller.user_id,
        caller.tenant_id,
    )


async def project_of(world: World, name: str, *members: Caller) -> int:
    """Make a billing project that has these members; return its number."""
    project = await world.admin.fetchval(
        "INSERT INTO weft.billing_project (tenant_id, name) VALUES ($1, $2) RETURNING project_id",
        world.caller.tenant_id,
        name,
    )
    for member in members:
        await join(world, member, project)
    return int(project)


async def grant(world: World, caller: Caller, batch: int, permission: Permission) -> None:
    await world.admin.execute(
        "INSERT INTO weft.batch_grant VALUES ($1, $2, $3, $4, 'ada', clock_timestamp()) "
        "ON CONFLICT (batch_id, job_id, user_id) DO UPDATE SET permission = excluded.permission",
        batch,
        caller.user_id,
        caller.tenant_id,
        int(permission),
    )
