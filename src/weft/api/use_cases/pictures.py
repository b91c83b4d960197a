"""What pictures of batches show: dependencies and the time axis, from a bounded number of rows."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId
from weft.api.services import Services
from weft.api.use_cases import read
from weft.core.access.rights import Right
from weft.core.pictures.graph import (
    Graph,
    GraphEdge,
    GraphNode,
    fold_alike,
    group_node,
    job_node,
    own_node,
)
from weft.core.pictures.timeline import Timeline, build_timeline
from weft.ports.store import Caller, Row

NODES_MAX: Final = 1000
EDGES_MAX: Final = 5000
EDGES_SAMPLED: Final = 2000
JOBS_FOLDED: Final = 2000
"""Jobs that are read to find those that are alike."""
JOBS_SAMPLED: Final = 2000
ROOT: Final = 0


@dataclass(frozen=True, kw_only=True)
class GraphPage:
    """Which part of the dependencies of a batch to show."""

    group: int | str = ROOT
    level: Literal["groups", "jobs"] | None = None
    """None: by groups if there are some below the group."""
    apart: bool = False
    """Also jobs with the same parents and the same children are nodes of their own."""
    limit: int = NODES_MAX
    after: int = 0
    """Only groups or jobs with larger numbers."""


@dataclass(frozen=True, kw_only=True)
class FoundGraph:
    """A picture, and the number after which the next one begins; None: it was the last."""

    graph: Graph
    next_after: int | None


async def get_graph(
    services: Services, caller: Caller, batch_id: int, wanted: GraphPage
) -> FoundGraph:
    """Return dependencies between a group's groups, or between its jobs. Raise `GroupNotFound`."""
    group = await read.get_group(services, caller, batch_id, wanted.group)
    if wanted.level != "jobs":
        below = await read.list_child_groups(
            services, caller, batch_id, group["group_id"], after=wanted.after, limit=wanted.limit
        )
        if below or wanted.level == "groups" or wanted.after:
            return await _by_groups(services, caller, group, below, wanted)
    return await _by_jobs(services, caller, group, wanted)


async def _by_groups(
    services: Services, caller: Caller, group: Row, below: Sequence[Row], wanted: GraphPage
) -> FoundGraph:
    number = group["group_id"]
    found, sampled = await services.store.list_group_edges(
        caller, group["batch_id"], number, limit=EDGES_SAMPLED
    )
    nodes = [group_node(one) for one in below]
    next_after = below[-1]["group_id"] if len(below) == wanted.limit else None
    if next_after is None and not wanted.after and (own := own_node(group, below)):
        nodes.append(own)
    known = {node.id for node in nodes}
    edges = [
        GraphEdge(parent=f"g{parent}", child=f"g{child}", n_edges=n)
        for parent, child, n in found
        if parent != child and {f"g{parent}", f"g{child}"} <= known
    ]
    return _found(group, "groups", nodes, edges, sampled=sampled, next_after=next_after)


async def _by_jobs(
    services: Services, caller: Caller, group: Row, wanted: GraphPage
) -> FoundGraph:
    batch_id = group["batch_id"]
    rows, is_last = await _jobs_to_draw(services, caller, group, wanted)
    ids = [row["job_id"] for row in rows]
    pairs, is_cut = await services.store.list_edges(caller, batch_id, ids, limit=EDGES_MAX)
    nodes = [job_node(row) for row in rows]
    edges = [GraphEdge(parent=f"j{one}", child=f"j{other}", n_edges=1) for one, other in pairs]
    if not wanted.apart:
        nodes, edges = fold_alike(nodes, edges)
    next_after = None if is_last else ids[-1]
    if len(nodes) > wanted.limit:
        next_after = (nodes[wanted.limit].job_id or 1) - 1
        nodes = nodes[: wanted.limit]
        shown = {node.id for node in nodes}
        edges = [edge for edge in edges if {edge.parent, edge.child} <= shown]
    return _found(group, "jobs", nodes, edges, sampled=is_cut, next_after=next_after)


async def _jobs_to_draw(
    services: Services, caller: Caller, group: Row, wanted: GraphPage
) -> tuple[Sequence[Row], bool]:
    """Return the jobs of a picture, and whether there are no more. Where those that are alike
    become one node, these are more than it has nodes: an array and what comes after it.
    """
    most = wanted.limit if wanted.apart else max(wanted.limit, JOBS_FOLDED)
    rows: list[Row] = []
    number = None if group["group_id"] == ROOT else group["group_id"]
    after = wanted.after
    while len(rows) < most:
        limit = min(NODES_MAX, most - len(rows))
        page = await read.list_jobs(
            services,
            caller,
            group["batch_id"],
            read.JobList(limit=limit, after=after, group=number),
        )
        rows += page
        if len(page) < limit or (not wanted.after and len(rows) >= group["n_jobs"]):
            return rows, True
        after = page[-1]["job_id"]
    return rows, False


def _found(
    group: Row,
    level: Literal["groups", "jobs"],
    nodes: list[GraphNode],
    edges: list[GraphEdge],
    *,
    sampled: bool,
    next_after: int | None,
) -> FoundGraph:
    graph = Graph(
        batch_id=group["batch_id"],
        group_id=group["group_id"],
        path=group["path"],
        level=level,
        n_jobs=group["n_jobs"],
        nodes=nodes,
        edges=edges,
        sampled=sampled,
        cursor=None,
    )
    return FoundGraph(graph=graph, next_after=next_after)


@call("GET /v1/batches/{b}/timeline", Right.READ, Timeline, public=False)
async def get_timeline(services: Services, caller: Caller, batch_id: BatchId) -> Timeline:
    """Get the time axis of a batch: how many jobs waited, started, ran or were blocked, in 120
    stretches of time, and what each worker ran. Of a batch of more than 2,000 jobs it is an
    estimate from 2,000 of them, spread evenly over their numbers.
    """
    batch = await read.get_batch(services, caller, batch_id)
    return await timeline_of(services, caller, batch, jobs_max=JOBS_SAMPLED)


async def timeline_of(
    services: Services, caller: Caller, batch: Row, *, jobs_max: int
) -> Timeline:
    """Return the same of a document of a batch, from at most this number of its jobs."""
    batch_id, created_at = int(batch["id"]), datetime.fromisoformat(batch["created_at"])
    rows = await services.store.sample_attempts(caller, batch_id, limit=jobs_max)
    return await asyncio.to_thread(build_timeline, batch_id, batch["n_jobs"], created_at, rows)


async def list_tree(
    services: Services, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
) -> tuple[Sequence[Row], frozenset[int]]:
    """Return the groups directly below a group, and the numbers of those that have some below."""
    rows = await read.list_child_groups(
        services, caller, batch_id, group_id, after=after, limit=limit
    )
    ids = [row["group_id"] for row in rows]
    return rows, frozenset(await services.store.list_parent_groups(caller, batch_id, ids))


async def list_sets(
    services: Services, caller: Caller, batch_id: int, *, after: str, limit: int
) -> Sequence[Row]:
    """Return the sets of a batch by name, those after `after`."""
    return await services.store.list_sets(caller, batch_id, after=after, limit=limit)
