"""`/v1/users`: who belongs to the caller's tenant, for its administrators."""

from litestar import Response, delete, get, patch, post

from weft.api.http.paging import INT_MAX, PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import user_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.use_cases import users
from weft.core.access.rights import UserRole
from weft.wire.answers.users import User, UserAdded, UserRemoved
from weft.wire.documents.batches import Empty
from weft.wire.documents.users import UserDocument, UserEdit

REMOVAL = ("cancel_batches",)


@get("/v1/users", opt={"page": User, "query": PAGE})
async def list_users(request: AnyRequest) -> Response[bytes]:
    """List the users of the tenant, in the order of their numbers."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_users(
        caller_of(request), after=cursor_of(query, "u", most=INT_MAX) or 0, limit=limit
    )
    return reply(page(rows, limit, "u", "user_id"))


@post("/v1/users", opt={"answer": UserAdded, "body": UserDocument, "creates": True})
async def add_user(request: AnyRequest) -> Response[bytes]:
    """Let a user into the tenant. The text of their first token is in this answer and nowhere
    else: a repeat with the same key makes another one in its place.
    """
    Query(request, ())
    document, origin = await read_submission(request, UserDocument)
    answer = await users.add_user(
        services_of(request), caller_of(request), document.name, UserRole(document.role), origin
    )
    return created(answer, is_new=True)


@patch("/v1/users/{user:str}", opt={"answer": User, "body": UserEdit})
async def set_user_role(request: AnyRequest) -> Response[bytes]:
    """Give a user another role, on every api from now on."""
    Query(request, ())
    edit = await read_document(request, UserEdit)
    return reply(
        await users.set_user_role(
            services_of(request), caller_of(request), user_of(request), UserRole(edit.role)
        )
    )


@delete(
    "/v1/users/{user:str}",
    status_code=200,
    opt={"answer": UserRemoved, "body": Empty, "query": REMOVAL},
)
async def remove_user(request: AnyRequest) -> Response[bytes]:
    """Remove a user: their tokens are refused from now on, and their schedules are paused. Jobs
    that they have submitted go on and are billed, or are cancelled: `cancel_batches` says which;
    without it `on_user_removal` of the tenant does.
    """
    query = Query(request, REMOVAL)
    await read_document(request, Empty)
    return reply(
        await users.remove_user(
            services_of(request),
            caller_of(request),
            user_of(request),
            cancel_batches=query.given_flag("cancel_batches"),
        )
    )


ROUTES = (list_users, add_user, set_user_role, remove_user)
"""The routes of users."""
