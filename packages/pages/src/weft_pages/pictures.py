"""The tree of groups, the dependencies and the time axis of `/ui/batches/{b}`."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup

from weft.api.calls.path_ids import parse_group
from weft.api.http.pages import events_of, get_page, link, may_act, show
from weft.api.http.paging import INT_MAX, cursor_of, kind_of, page, page_until
from weft.api.http.parameters import batch_id_of, group_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.use_cases import pictures, read
from weft.core.access.rights import Right
from weft.core.pictures.dag import draw_svg
from weft.core.pictures.gantt import draw_timeline
from weft.core.pictures.graph import Graph, GraphNode
from weft.ports.store import Row

PREVIEW_NODES: Final = 60
PREVIEW_AGE_S: Final = 10
LISTED: Final = 200
JOBS_SAMPLED: Final = 1000
"""Of the time axis: a page is made in a third of the time that twice as many take."""
SVG: Final = "image/svg+xml"
_DAG: Final = ("group", "level", "apart", "cursor")


@get_page("/ui/batches/{b:str}/dag", Right.READ, query=_DAG)
async def show_dag(request: AnyRequest) -> Response[bytes]:
    """Show the dependencies within a batch or a group, each node as a link."""
    query = request.query
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
    group, level = query.text("group"), query.choice("level", ("auto", "groups", "jobs"))
    kind, apart = kind_of("n", group, level), query.flag("apart")
    page = pictures.GraphPage(
        group=pictures.ROOT if group is None else parse_group(group, services.settings),
        level="jobs" if level == "jobs" else "groups" if level == "groups" else None,
        apart=apart,
        after=cursor_of(query, kind, most=INT_MAX) or 0,
    )
    found = await pictures.get_graph(services, caller, batch_id, page)
    graph, path = found.graph, f"/ui/batches/{batch_id}"
    cursor = page_until([], kind, found.next_after)["cursor"]
    here = {"group": group, "level": None if level == "auto" else level}

    def link_of(node: GraphNode) -> str:
        if node.kind == "job":
            return f"{path}/jobs/{node.job_id}"
        if node.kind == "jobs":
            return link(f"{path}/dag", {**here, "apart": "true", "cursor": query.text("cursor")})
        inner = {"group": f"g{node.group_id}", "level": "jobs" if node.kind == "own" else None}
        return link(f"{path}/dag", inner)

    svg = await asyncio.to_thread(draw_svg, graph, alone=False, link=link_of)
    return show(
        request,
        "dag.html",
        here="/ui/batches",
        events=events_of(batch_id),
        path=path,
        batch=await read.get_batch(services, caller, batch_id),
        graph=graph,
        rows=_rows_of(graph)[:LISTED],
        link_of=link_of,
        svg=Markup(svg),  # noqa: S704 (its texts are escaped where it is written)
        apart=apart,
        is_folded=any(node.kind == "jobs" for node in graph.nodes),
        after=page.after,
        next=cursor
        and link(f"{path}/dag", {**here, "apart": "true" if apart else None, "cursor": cursor}),
    )


def _rows_of(graph: Graph) -> list[tuple[GraphNode, list[GraphNode]]]:
    """Return each node with those that it depends on."""
    known = {node.id: node for node in graph.nodes}
    parents: dict[str, list[GraphNode]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        parents[edge.child].append(known[edge.parent])
    return [(node, parents[node.id]) for node in graph.nodes]


@get_page("/ui/batches/{b:str}/dag.svg", Right.READ)
async def preview_dag(request: AnyRequest) -> Response[bytes]:
    """Reply with a small picture of the dependencies: the page of a batch does not wait for it."""
    page = pictures.GraphPage(limit=PREVIEW_NODES)
    graph = await pictures.get_graph(request.services, request.caller, batch_id_of(request), page)
    headers = {"content-type": SVG, "cache-control": f"private, max-age={PREVIEW_AGE_S}"}
    is_begin = graph.next_after is not None
    svg = draw_svg(graph.graph, alone=True, is_begin=is_begin)
    return Response(svg.encode(), headers=headers)


@get_page("/ui/batches/{b:str}/time", Right.READ)
async def show_time(request: AnyRequest) -> Response[bytes]:
    """Show when the jobs of a batch waited and ran, and where."""
    services, caller, batch_id = request.services, request.caller, batch_id_of(request)
    path = f"/ui/batches/{batch_id}"
    batch = await read.get_batch(services, caller, batch_id)
    timeline = await pictures.timeline_of(services, caller, batch, jobs_max=JOBS_SAMPLED)
    svg = await asyncio.to_thread(
        draw_timeline, timeline, alone=False, link=lambda bar: f"{path}/jobs/{bar.job_id}"
    )
    return show(
        request,
        "time.html",
        here="/ui/batches",
        events=events_of(batch_id),
        path=path,
        batch=batch,
        timeline=timeline,
        svg=Markup(svg),  # noqa: S704 (its texts are escaped where it is written)
    )


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
