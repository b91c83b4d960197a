"""Billing projects, kept by administrators of the tenant."""

from collections.abc import Sequence

import msgspec

from weft.api.calls.call import call
from weft.api.calls.path_ids import ProjectName, UserName
from weft.api.services import Services
from weft.api.use_cases.limits import pointing_to_limits
from weft.core.access.rights import Right
from weft.ports.store import Caller, Origin, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.projects import ProjectCost, ProjectDeleted
from weft.wire.documents.projects import ProjectDocument, ProjectEdit


@call("GET /v1/billing-projects", Right.READ, page=ProjectCost, public=False)
async def list_projects(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the billing projects that the caller is a member of by name, with what they cost so
    far; to somebody who manages the tenant, all of it.
    """
    return await services.store.list_projects(caller, None)


@call("GET /v1/billing-projects/{p}", Right.READ, ProjectCost)
async def get_project(services: Services, caller: Caller, name: ProjectName) -> Answer:
    """Return what a billing project cost so far, and its members. Raise `ProjectNotFound`."""
    return dict((await services.store.list_projects(caller, name))[0])


@call("POST /v1/billing-projects", Right.MANAGE, ProjectCost)
async def create_project(
    services: Services, caller: Caller, document: ProjectDocument, origin: Origin
) -> Answer:
    """Create a billing project, with the caller as its first member; return it. Raise
    `RightMissing`, `ProjectExists`.
    """
    await services.store.create_project(
        caller, document.name, cost_max=document.cost_max, idempotency_key=origin.key
    )
    return await _changed(services, caller, document.name, "created")


@call("PATCH /v1/billing-projects/{p}", Right.MANAGE, ProjectCost, public=False, spread=False)
async def change_project(
    services: Services, caller: Caller, name: ProjectName, changes: ProjectEdit
) -> Answer:
    """Close or reopen a billing project, or change its limit; return it. A closed one takes no new
    batches and schedules; the batches that it has go on. Raise `ProjectNotFound`,
    `SoftLimitAboveLimit`.
    """
    patch = msgspec.to_builtins(changes)
    with pointing_to_limits(patch, "cost_max", "cost_soft_max"):
        await services.store.change_project(caller, name, patch)
    return await _changed(services, caller, name, "changed")


@call("DELETE /v1/billing-projects/{p}", Right.MANAGE, ProjectDeleted, silent=True)
async def delete_project(services: Services, caller: Caller, name: ProjectName) -> Answer:
    """Delete a closed billing project. Its name stays taken, because bills have it. Raise
    `RightMissing`, `ProjectNotFound`, `ProjectOpen`.
    """
    await services.store.delete_project(caller, name)
    log.info("project.changed", project=name, user=caller.user_name, change="deleted")
    return {"name": name}


async def was_project(services: Services, caller: Caller, name: str) -> bool:
    """Say whether a project of this name was deleted; its name stays taken."""
    return await services.store.was_project(caller, name)


_MEMBER = "/v1/billing-projects/{p}/members/{user}"


@call(f"PUT {_MEMBER}", Right.MANAGE, ProjectCost, client="add_project_member")
async def add_member(
    services: Services, caller: Caller, name: ProjectName, user: UserName
) -> Answer:
    """Let a user of the tenant submit batches to a billing project; return it. Raise
    `RightMissing`, `ProjectNotFound`, `UserNotFound`.
    """
    return await set_member(services, caller, name, user, is_member=True)


@call(f"DELETE {_MEMBER}", Right.MANAGE, ProjectCost, client="remove_project_member")
async def remove_member(
    services: Services, caller: Caller, name: ProjectName, user: UserName
) -> Answer:
    """Let a user submit no more batches to a billing project; return it. Those that they have go
    on. Raise `RightMissing`, `ProjectNotFound`, `UserNotFound`.
    """
    return await set_member(services, caller, name, user, is_member=False)


async def set_member(
    services: Services, caller: Caller, name: str, user: str, *, is_member: bool
) -> Answer:
    """Let a user charge a project, or not; return it. Raise `ProjectNotFound`, `UserNotFound`."""
    await services.store.set_project_member(caller, name, user, is_member=is_member)
    return await _changed(services, caller, name, "members")


async def _changed(services: Services, caller: Caller, name: str, change: str) -> Answer:
    log.info("project.changed", project=name, user=caller.user_name, change=change)
    return await get_project(services, caller, name)
