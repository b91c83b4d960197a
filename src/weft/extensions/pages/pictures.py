"""`/ui/batches/{b}/dag` and `/ui/batches/{b}/time`: dependencies and the time axis."""

import asyncio
from typing import Final

from markupsafe import Markup

from weft.api.calls.path_ids import parse_group
from weft.api.http.pages import events_of, get_page, link, show
from weft.api.http.paging import INT_MAX, cursor_of, kind_of, page_until
from weft.api.http.parameters import batch_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.use_cases import pictures, read
from weft.core.access.rights import Right
from weft.core.pictures.dag import draw_svg
from weft.core.pictures.gantt import draw_timeline
from weft.core.pictures.graph import Graph, GraphNode

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
