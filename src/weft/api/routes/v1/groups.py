"""`/v1/batches/{b}/groups`: create, fill, list, get, edit, cancel, hold, release.

A group is named by its number or by its path, with `/` written %2F; a set also by its name.
"""

from litestar import Response, get, patch, post

from weft.api.calls.path_ids import parse_group
from weft.api.http.paging import INT_MAX, PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import batch_id_of, group_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.use_cases import cancel, edit, hold, read, release, sets
from weft.wire.answers.batches import (
    Cancelled,
    Change,
    Group,
    HoldChanged,
    MembersAdded,
    Operation,
)
from weft.wire.documents.batches import (
    CancelDocument,
    EditDocument,
    Empty,
    GroupDocument,
    MembersDocument,
    QuerySetDocument,
)


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
    """Create a group of the tree, with a path, or a set, with a name. With `q` the set is filled
    with the existing jobs that match, of `group` if given: the reply is 202 and the operation that
    fills it.
    """
    query = Query(request, ("q", "group"))
    services, caller, batch_id = services_of(request), caller_of(request), batch_id_of(request)
    text, within = query.text("q"), query.text("group")
    if text is None:
        document, origin = await read_submission(request, GroupDocument)
        answer, is_new = await sets.create_group(services, caller, batch_id, document, origin)
        return created(answer, is_new=is_new)
    set_document, origin = await read_submission(request, QuerySetDocument, text, within)
    operation = await sets.fill_set_by_query(
        services,
        caller,
        batch_id,
        set_document,
        origin,
        query=text,
        within=None if within is None else parse_group(within, services.settings),
    )
    return reply(operation, 202)


@post(
    "/v1/batches/{b:str}/groups/{g:str}/members",
    opt={"answer": MembersAdded, "body": MembersDocument},
)
async def add_members(request: AnyRequest) -> Response[bytes]:
    """Put jobs of the batch into a set: all of the request or none. A repeat adds nothing."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    document, _ = await read_submission(request, MembersDocument)
    return reply(
        await sets.add_members(services_of(request), caller_of(request), batch_id, group, document)
    )


@get("/v1/batches/{b:str}/groups", opt={"page": Group, "query": PAGE})
async def list_groups(request: AnyRequest) -> Response[bytes]:
    """List the groups of a batch in order of their numbers, beginning with the root."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    after = cursor_of(query, "g", most=INT_MAX)
    rows = await services.store.list_groups(
        caller_of(request), batch_id_of(request), after=-1 if after is None else after, limit=limit
    )
    return reply(page(rows, limit, "g", "group_id"))


@get("/v1/batches/{b:str}/groups/{g:str}", opt={"answer": Group})
async def get_group(request: AnyRequest) -> Response[bytes]:
    """Get the state, counts and cost of a group."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    return reply(await read.get_group(services_of(request), caller_of(request), batch_id, group))


@patch(
    "/v1/batches/{b:str}/groups/{g:str}",
    opt={"answer": Group, "accepted": Operation, "body": EditDocument},
)
async def edit_group(request: AnyRequest) -> Response[bytes]:
    """Change the name and attributes of a group by a JSON merge patch: null removes. A new name
    changes the paths of the groups below, too. With `priority` the reply is 202 and the operation
    that changes the jobs of the group, and of groups below it, that have not ended.
    """
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    document, origin = await read_submission(request, EditDocument)
    answer, goes_on = await edit.edit_group(
        services_of(request), caller_of(request), batch_id, group, document, origin
    )
    return reply(answer, 202 if goes_on else 200)


@get("/v1/batches/{b:str}/groups/{g:str}/history", opt={"page": Change, "query": PAGE})
async def group_history(request: AnyRequest) -> Response[bytes]:
    """List what people changed of a group, newest first."""
    query = Query(request, PAGE)
    services, batch_id, group = services_of(request), batch_id_of(request), group_of(request)
    limit = limit_of(query, services.settings)
    rows = await read.group_history(
        services, caller_of(request), batch_id, group, before=cursor_of(query, "c"), limit=limit
    )
    return reply(page(rows, limit, "c", "id"))


@post(
    "/v1/batches/{b:str}/groups/{g:str}/cancel", opt={"answer": Cancelled, "body": CancelDocument}
)
async def cancel_group(request: AnyRequest) -> Response[bytes]:
    """Cancel all jobs of a group, and of groups below it, that have not ended."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    document = await read_document(request, CancelDocument)
    return reply(
        await cancel.cancel_group(
            services_of(request), caller_of(request), batch_id, group, document
        )
    )


@post("/v1/batches/{b:str}/groups/{g:str}/hold", opt={"answer": HoldChanged, "body": Empty})
async def hold_group(request: AnyRequest) -> Response[bytes]:
    """Hold a group with those below it: nothing of it starts until it is released."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    await read_document(request, Empty)
    return reply(await hold.hold_group(services_of(request), caller_of(request), batch_id, group))


@post("/v1/batches/{b:str}/groups/{g:str}/release", opt={"answer": HoldChanged, "body": Empty})
async def release_group(request: AnyRequest) -> Response[bytes]:
    """Release a group: its jobs may start, except those that another hold covers."""
    Query(request, ())
    batch_id, group = batch_id_of(request), group_of(request)
    await read_document(request, Empty)
    return reply(
        await release.release_group(services_of(request), caller_of(request), batch_id, group)
    )


ROUTES = (
    create_group, add_members, list_groups, get_group, edit_group, group_history, cancel_group,
    hold_group, release_group,
)  # fmt: skip
