"""Hail's routes of billing projects."""

from contextlib import suppress
from typing import Any, Final

from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get, post
from weft.api.use_cases import projects, read
from weft.core import errors
from weft.core.query import all_of
from weft.core.query.tree import Field, Operator, StateTerm, TextTerm
from weft.core.text.texts import wrong_name
from weft.wire.documents.projects import ProjectDocument, ProjectEdit
from weft_hail.batch_routes import API
from weft_hail.documents_to_hail import project_document
from weft_hail.requests import (
    KNOWN,
    MANAGED,
    Document,
    Refused,
    bad_request,
    origin_of,
    query_of,
    read_parts,
)

_PROJECTS: Final = API + "/billing_projects"
_PROJECT: Final = _PROJECTS + "/{p:str}"
_USER: Final = _PROJECT + "/users/{user:str}"
_NAME_MAX: Final = 100
_LIMIT_MAX: Final = 1e15
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404


@get(_PROJECTS, **KNOWN)
async def list_hail_projects(request: AnyRequest) -> Response[bytes]:
    """List billing projects."""
    status = query_of(request).get("status")
    if status not in {None, "open", "closed"}:
        raise bad_request(f"invalid billing project status: {str(status)[:40]}")
    rows = await projects.list_projects(request.services, request.caller)
    found = [project_document(row) for row in rows]
    return reply([one for one in found if status in {None, one["status"]}])


@get(_PROJECT, **KNOWN)
async def get_hail_project(request: AnyRequest) -> Response[bytes]:
    """Get a billing project."""
    name = _name_of(request)
    try:
        return reply(project_document(await _find(request, name)))
    except Refused as error:
        raise Refused(FORBIDDEN, f"Unknown Hail Batch billing project {name}.") from error


@post(f"{_PROJECT}/create", **MANAGED)
async def create_hail_project(request: AnyRequest) -> Response[bytes]:
    """Create a billing project, which has no members at first, and cancels at its limit."""
    services, caller, name = request.services, request.caller, _name_of(request)
    if wrong := wrong_name(name, chars_max=_NAME_MAX):
        raise bad_request(f"invalid billing project name: {wrong}")
    try:
        await projects.create_project(
            services, caller, ProjectDocument(name=name), origin_of(request)
        )
        await projects.change_project(services, caller, name, ProjectEdit(on_limit="cancel"))
        await projects.set_member(services, caller, name, caller.user_name, is_member=False)
    except errors.ProjectExists as error:
        try:
            await _find(request, name)
        except Refused:
            raise Refused(FORBIDDEN, f"billing project {name} already exists") from error
    return reply(name)


@post(f"{_PROJECT}/close", **MANAGED)
async def close_hail_project(request: AnyRequest) -> Response[bytes]:
    """Close a billing project whose batches are all complete."""
    services, caller, name = request.services, request.caller, _name_of(request)
    await _find(request, name)
    running = all_of(
        (TextTerm(Field.BILLING_PROJECT, Operator.EQ, name), StateTerm(Operator.EQ, "running"))
    )
    if await read.list_batches(services, caller, read.BatchList(limit=1, query=running)):
        raise Refused(FORBIDDEN, f"Billing project {name} has running batches.")
    await projects.change_project(services, caller, name, ProjectEdit(closed=True))
    return reply(name)


@post(f"{_PROJECT}/reopen", **MANAGED)
async def reopen_hail_project(request: AnyRequest) -> Response[bytes]:
    """Open a closed billing project again."""
    services, caller, name = request.services, request.caller, _name_of(request)
    if await _was_deleted(request, name):
        text = f"Billing project {name} is deleted and cannot be reopened."
        raise Refused(FORBIDDEN, text)
    await _find(request, name)
    await projects.change_project(services, caller, name, ProjectEdit(closed=False))
    return reply(name)


@post(f"{_PROJECT}/delete", **MANAGED)
async def delete_hail_project(request: AnyRequest) -> Response[bytes]:
    """Delete a closed billing project."""
    services, caller, name = request.services, request.caller, _name_of(request)
    if await _was_deleted(request, name):
        return reply(name)
    project = await _find(request, name)
    try:
        await projects.delete_project(services, caller, name)
    except errors.ProjectOpen as error:
        text = f"Billing project {name} is open and cannot be deleted; close it first."
        if project["closed"]:
            text = f"Billing project {name} cannot be deleted: {error.detail}"
        raise Refused(FORBIDDEN, text) from error
    return reply(name)


@post(f"{_USER}/add", **MANAGED)
async def add_hail_member(request: AnyRequest) -> Response[bytes]:
    """Let a user charge a billing project."""
    return await _set_member(request, is_member=True)


@post(f"{_USER}/remove", **MANAGED)
async def remove_hail_member(request: AnyRequest) -> Response[bytes]:
    """Let a user charge a billing project no longer."""
    return await _set_member(request, is_member=False)


async def _set_member(request: AnyRequest, *, is_member: bool) -> Response[bytes]:
    name, user = _name_of(request), str(request.path_params["user"])
    project = await _find(request, name)
    if project["closed"]:
        raise Refused(FORBIDDEN, f"Billing project {name} is closed or deleted.")
    services, caller = request.services, request.caller
    if "\0" in user:
        raise Refused(FORBIDDEN, "User does not exist.")
    try:
        await projects.set_member(services, caller, name, user, is_member=is_member)
    except errors.UserNotFound as error:
        if is_member:
            raise Refused(FORBIDDEN, f"User {user} does not exist.") from error
    return reply({"billing_project": name, "user": user})


@post(f"{API}/billing_limits/{{p:str}}/edit", **MANAGED)
async def edit_hail_limit(request: AnyRequest) -> Response[bytes]:
    """Set what a billing project may cost; null: no limit."""
    name = _name_of(request)
    limit = _limit_of(await read_parts(request, ()))
    project = await _find(request, name)
    if project["closed"]:
        raise Refused(FORBIDDEN, f"Billing project {name} is closed or deleted.")
    edit = ProjectEdit(cost_max=limit)
    try:
        await projects.change_project(request.services, request.caller, name, edit)
    except errors.SoftLimitAboveLimit as error:
        raise bad_request(f"invalid billing_limit {limit:g}: {error.message}") from error
    return reply({"billing_project": name, "limit": limit})


def _limit_of(document: Document) -> float | None:
    limit: Any = document.get("limit")
    if "limit" not in document:
        raise bad_request("missing required key limit")
    if limit is None:
        return None
    with suppress(ValueError, TypeError, OverflowError):
        if not isinstance(limit, bool) and 0 <= (found := float(limit)) <= _LIMIT_MAX:
            return found
    raise bad_request(f"Invalid billing_limit {str(limit)[:40]}")


def _name_of(request: AnyRequest) -> str:
    return str(request.path_params["p"])


async def _was_deleted(request: AnyRequest, name: str) -> bool:
    if "\0" in name:
        return False
    return await projects.was_project(request.services, request.caller, name)


async def _find(request: AnyRequest, name: str) -> Document:
    """Return a project of exactly this name. Raise a 404."""
    unknown = Refused(NOT_FOUND, f"billing project {name} does not exist")
    if "\0" in name:
        raise unknown
    try:
        project = await projects.get_project(request.services, request.caller, name)
    except errors.ProjectNotFound as error:
        raise unknown from error
    if project["name"] != name:
        raise unknown
    return project
