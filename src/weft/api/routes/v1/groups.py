"""`/v1/batches/{b}/groups`: create, fill, list, get, edit, cancel, hold, release.

A group is named by its number, by its path, with `/` written %2F, or, a set, by its name.
"""

from litestar import Response, get, patch, post

from weft.api.http.creating import creating
from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.path_ids import batch_id_of, group_of
from weft.api.http.replies import reply
from weft.api.http.requests import Query, read_body
from weft.api.routes.v1.batches import change_hold, created, history_page
from weft.api.services import AnyRequest, caller_of, services_of
from weft.api.use_cases.edit import Edits
from weft.api.use_cases.sets import SetRequests
from weft.wire.answers import Cancelled, Change, Group, HoldChanged, MembersAdded, Operation
from weft.wire.documents import CancelDocument, EditDocument, Empty, GroupDocument, MembersDocument


@post(
    "/v1/batches/{b:str}/groups",
    opt={
        "answer": Group,
        "accepted": Operation,
        "body": GroupDocument,
        "query": ("q", "group"),
        "creates": True,
    },
)
async def create_group(request: AnyRequest) -> Response[bytes]:
    """Create a group: of the tree, with a path; or a set, with a name. With `q` a set that is
    filled with the jobs that are there now and match, among those of `group`: the answer is the
    operation that does it, 202.
    """
    query = Query(request, ("q", "group"))
    batch_id = batch_id_of(request)
    sets = SetRequests(await creating(request))
    if query.text("q") is not None:
        return reply(await sets.fill_by_query(batch_id, query), 202)
    answer, is_new = await sets.create(batch_id)
    return created(answer, is_new=is_new)


@post(
    "/v1/batches/{b:str}/groups/{g:str}/members",
    opt={"answer": MembersAdded, "body": MembersDocument},
)
async def add_members(request: AnyRequest) -> Response[bytes]:
    """Put jobs of the batch into a set, all of the request or none. A repeat adds nothing."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    sets = SetRequests(await creating(request))
    return reply(await sets.add_members(batch_id, group))


@get("/v1/batches/{b:str}/groups", opt={"page": Group, "query": PAGE})
async def list_groups(request: AnyRequest) -> Response[bytes]:
    """List the groups of a batch in order of their numbers, the root first."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    after = cursor_of(query, "g")
    rows = await services.store.list_groups(
        caller_of(request), batch_id_of(request), after=-1 if after is None else after, limit=limit
    )
    return reply(page(rows, limit, "g", "group_id"))


@get("/v1/batches/{b:str}/groups/{g:str}", opt={"answer": Group})
async def get_group(request: AnyRequest) -> Response[bytes]:
    """Get the state, counts and cost of a group."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    return reply(await services_of(request).store.get_group(caller_of(request), batch_id, group))


@patch(
    "/v1/batches/{b:str}/groups/{g:str}",
    opt={"answer": Group, "accepted": Operation, "body": EditDocument},
)
async def edit_group(request: AnyRequest) -> Response[bytes]:
    """Change name and attributes of a group by a JSON merge patch: null removes. A new name
    changes the paths of the groups below, too. With `priority` the answer is the operation that
    gives it to the jobs of the group and of those below it that have not ended, 202.
    """
    Query(request, ())
    return await Edits(request).edit_group(batch_id_of(request), group_of(request))


@get("/v1/batches/{b:str}/groups/{g:str}/history", opt={"page": Change, "query": PAGE})
async def group_history(request: AnyRequest) -> Response[bytes]:
    """List what people changed of a group, newest first."""
    return await history_page(request, group_of(request))


@post(
    "/v1/batches/{b:str}/groups/{g:str}/cancel", opt={"answer": Cancelled, "body": CancelDocument}
)
async def cancel_group(request: AnyRequest) -> Response[bytes]:
    """Cancel all jobs of a group and of those below it that have not ended."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    document = (await read_body(request)).document(CancelDocument)
    store, caller = services_of(request).store, caller_of(request)
    if isinstance(group, str):
        group = int((await store.get_group(caller, batch_id, group))["group_id"])
    is_new = await store.cancel_group(caller, batch_id, group, force=document.force)
    return reply(
        {"batch_id": batch_id, "group_id": group, "cancelled": True, "was_cancelled": not is_new}
    )


@post("/v1/batches/{b:str}/groups/{g:str}/hold", opt={"answer": HoldChanged, "body": Empty})
async def hold_group(request: AnyRequest) -> Response[bytes]:
    """Hold a group with those below it: nothing of it starts until it is released."""
    return await change_hold(request, group_of(request), held=True)


@post("/v1/batches/{b:str}/groups/{g:str}/release", opt={"answer": HoldChanged, "body": Empty})
async def release_group(request: AnyRequest) -> Response[bytes]:
    """Release a group: its jobs may start, but for those that are held otherwise."""
    return await change_hold(request, group_of(request), held=False)


ROUTES = (
    create_group, add_members, list_groups, get_group, edit_group, group_history, cancel_group,
    hold_group, release_group,
)  # fmt: skip
