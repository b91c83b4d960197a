"""`/v1/batches/{b}/graph`: the dependencies within a batch."""

from typing import Final

import msgspec

from weft.api.calls.path_ids import parse_group
from weft.api.http.paging import INT_MAX, cursor_of, kind_of, page_until
from weft.api.http.parameters import batch_id_of
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.api.use_cases import pictures
from weft.core.access.rights import Right
from weft.core.pictures.graph import Graph

_GRAPH: Final = ("group", "level", "apart", "limit", "cursor")


@get("/v1/batches/{b:str}/graph", Right.READ, opt={"answer": Graph, "query": _GRAPH})
async def get_graph(request: AnyRequest) -> Response[bytes]:
    """Get the dependencies within a batch as nodes and edges. `group`: those within this group,
    otherwise within the batch; `level`: `groups`, those directly below it, or `jobs`; `auto`:
    groups if there are some; `apart=true`: do not draw twelve or more jobs with the same parents
    and the same children as one node. A reply has at most 1,000 nodes, and looks at 5,000
    dependencies of jobs; of groups it samples 2,000 if there are more (`sampled`).
    """
    query = request.query
    services, group = request.services, query.text("group")
    level = query.choice("level", ("auto", "groups", "jobs"))
    kind = kind_of("n", group, level)
    wanted = pictures.GraphPage(
        group=pictures.ROOT if group is None else parse_group(group, services.settings),
        level="jobs" if level == "jobs" else "groups" if level == "groups" else None,
        apart=query.flag("apart"),
        limit=query.integer("limit", default=None, least=1, most=pictures.NODES_MAX)
        or pictures.NODES_MAX,
        after=cursor_of(query, kind, most=INT_MAX) or 0,
    )
    graph = await pictures.get_graph(services, request.caller, batch_id_of(request), wanted)
    cursor = page_until([], kind, graph.next_after)["cursor"]
    return reply(msgspec.structs.replace(graph.graph, cursor=cursor))
