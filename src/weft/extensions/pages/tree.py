"""`/ui/batches/{b}/groups/{g}`: a group, and the tree below it, loaded as it is opened."""

from collections.abc import Sequence
from typing import Any, Final

from weft.api.http.pages import events_of, get_page, link, may_act, show
from weft.api.http.paging import INT_MAX, cursor_of, page
from weft.api.http.parameters import batch_id_of, group_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.use_cases import pictures, read
from weft.core.access.rights import Right
from weft.ports.store import Row

GROUPS: Final = 50
ROOT: Final = 0


@get_page("/ui/batches/{b:str}/groups/{g:str}", Right.READ, query=("cursor",))
async def show_group(request: AnyRequest) -> Response[bytes]:
    """Show a group with the groups directly below it."""
    batch_id = batch_id_of(request)
    group = await read.get_group(request.services, request.caller, batch_id, group_of(request))
    branch = await _branch(request, group)
    return show(
        request,
        "group.html",
        here="/ui/batches",
        events=events_of(batch_id),
        batch=await read.get_batch(request.services, request.caller, batch_id),
        group=group,
        **branch,
    )


@get_page("/ui/batches/{b:str}/groups/{g:str}/tree", Right.READ, query=("cursor",))
async def show_branch(request: AnyRequest) -> Response[bytes]:
    """Show the groups directly below a group, for a page that opens this branch of its tree."""
    group = await read.get_group(
        request.services, request.caller, batch_id_of(request), group_of(request)
    )
    return show(request, "branch.html", here="/ui/batches", **await _branch(request, group))


async def _branch(request: AnyRequest, group: Row) -> dict[str, Any]:
    """Return what the template of a branch shows: groups, below the root also sets."""
    services, caller = request.services, request.caller
    batch_id, group_id = group["batch_id"], group["group_id"]
    path, after = f"/ui/batches/{batch_id}", cursor_of(request.query, "g", most=INT_MAX)
    rows, parents = await pictures.list_tree(
        services, caller, batch_id, group_id, after=after or 0, limit=GROUPS
    )
    sets: Sequence[Row] = ()
    if group_id == ROOT and after is None:
        sets = await pictures.list_sets(services, caller, batch_id, after="", limit=GROUPS)
    cursor = page(rows, GROUPS, "g", "group_id")["cursor"]
    return {
        "path": path,
        "may_change": await may_act(request, lambda one: read.get_batch(services, one, batch_id)),
        "rows": rows,
        "parents": parents,
        "sets": sets,
        "has_more_sets": len(sets) == GROUPS,
        "next": cursor and link(f"{path}/groups/{group_id}", {"cursor": cursor}),
    }
