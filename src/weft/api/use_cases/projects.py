"""Billing projects: administrators of the tenant make, limit, close and delete them."""

from collections.abc import Sequence

import msgspec

from weft.api.services import Services
from weft.api.use_cases.limits import pointing_to_limits
from weft.ports.store import Caller, Row
from weft.submission.services import Answer, Origin
from weft.telemetry.log import get_logger
from weft.wire.documents.billing import ProjectDocument, ProjectEdit

log = get_logger()


async def list_projects(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the caller's projects by name; to somebody who manages the tenant all of it."""
    return await services.store.list_projects(caller, None)


async def get_project(services: Services, caller: Caller, name: str) -> Answer:
    """Return what a project cost so far. Raise `ProjectNotFound`."""
    return dict((await services.store.list_projects(caller, name))[0])


async def create_project(
    services: Services, caller: Caller, document: ProjectDocument, origin: Origin
) -> Answer:
    """Make a project; return it. Raise `ProjectExists`."""
    await services.store.create_project(
        caller, document.name, cost_max=document.cost_max, idempotency_key=origin.key
    )
    return await _changed(services, caller, document.name, "created")


async def change_project(
    services: Services, caller: Caller, name: str, edit: ProjectEdit
) -> Answer:
    """Close or reopen a project, or change its limits; return it. Raise `ProjectNotFound`,
    `SoftLimitAboveLimit`.
    """
    patch = msgspec.to_builtins(edit)
    with pointing_to_limits(patch, "cost_max", "cost_soft_max"):
        await services.store.change_project(caller, name, patch)
    return await _changed(services, caller, name, "changed")


async def delete_project(services: Services, caller: Caller, name: str) -> Answer:
    """Delete a closed project. Raise `ProjectNotFound`, `ProjectOpen`."""
    await services.store.delete_project(caller, name)
    log.info("project.changed", project=name, user=caller.user_name, change="deleted")
    return {"name": name}


async def was_project(services: Services, caller: Caller, name: str) -> bool:
    """Say whether a project of this name was deleted; its name stays taken."""
    return await services.store.was_project(caller, name)


async def set_member(
    services: Services, caller: Caller, name: str, user: str, *, is_member: bool
) -> Answer:
    """Let a user charge a project, or no longer; return it. Raise `ProjectNotFound`,
    `UserNotFound`.
    """
    await services.store.set_project_member(caller, name, user, is_member=is_member)
    return await _changed(services, caller, name, "members")


async def _changed(services: Services, caller: Caller, name: str, change: str) -> Answer:
    log.info("project.changed", project=name, user=caller.user_name, change=change)
    return await get_project(services, caller, name)
