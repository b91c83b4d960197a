"""What a picture of dependencies shows: nodes, which are groups or jobs, and their edges."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from weft.core.states import JobState

ALIKE_MIN: Final = 12
"""So many jobs with the same parents and the same children are one node."""
COUNTS: Final[Mapping[str, str]] = {
    "success": "n_succeeded",
    "failed": "n_failed",
    "error": "n_errored",
    "cancelled": "n_cancelled",
    "running": "n_running",
    "creating": "n_creating",
    "queued": "n_queued",
    "ready": "n_ready",
    "blocked": "n_blocked",
    "pending": "n_pending",
}
"""States in the order of bars, and the fields of documents that count their jobs."""
_TELLING: Final = (
    "failed",
    "error",
    "running",
    "creating",
    "blocked",
    "queued",
    "ready",
    "pending",
    "cancelled",
    "success",
)
"""Of jobs in several states, the first of these is shown."""


class GraphNode(Struct, frozen=True, kw_only=True):
    """A node: a group, jobs that are drawn as one, or a job."""

    id: Annotated[str, Meta(examples=["g3", "j7"])]
    kind: Annotated[
        Literal["group", "own", "jobs", "job"],
        Meta(
            description="`group`: a group with those below it; `own`: the jobs of the group "
            "itself that are in no group below it; `jobs`: jobs with the same parents and the "
            "same children; `job`: one job"
        ),
    ]
    name: str | None
    group_id: Annotated[int | None, Meta(description="of `group` and `own`; else null")]
    job_id: Annotated[int | None, Meta(description="of `job`, and the first of `jobs`; else null")]
    last_job_id: Annotated[int | None, Meta(description="the last of `jobs`; else null")]
    state: Annotated[str, Meta(description="of a job; of several the state to look at first")]
    n_jobs: Annotated[int, Meta(ge=0)]
    states: Annotated[
        dict[str, int], Meta(description="how many jobs are in each state that has some")
    ]


class GraphEdge(Struct, frozen=True, kw_only=True):
    """Dependencies of jobs of one node on jobs of another."""

    parent: Annotated[str, Meta(description="the id of a node")]
    child: Annotated[str, Meta(description="the id of a node")]
    n_edges: Annotated[int, Meta(ge=1, description="pairs of jobs that were read")]


class Graph(Struct, frozen=True, kw_only=True):
    """The dependencies between the groups below a group, or between its jobs."""

    batch_id: int
    group_id: int
    path: Annotated[str | None, Meta(description="of the group; null: a set")]
    level: Literal["groups", "jobs"]
    n_jobs: Annotated[int, Meta(ge=0, description="of the group")]
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    sampled: Annotated[
        bool, Meta(description="more dependencies than are read at once: some may be missing")
    ]
    cursor: Annotated[str | None, Meta(description="for the next nodes; null: there are no more")]


def group_node(document: Mapping[str, Any]) -> GraphNode:
    """Return the node of a group's document."""
    number = int(document["group_id"])
    states = {state: document[field] for state, field in COUNTS.items() if document[field]}
    return _node(f"g{number}", "group", document["name"], states, group_id=number)


def own_node(document: Mapping[str, Any], below: Iterable[Mapping[str, Any]]) -> GraphNode | None:
    """Return the node of the jobs of a group that are in none of the groups `below` it."""
    below = tuple(below)
    number = int(document["group_id"])
    counts = {
        state: document[field] - sum(one[field] for one in below)
        for state, field in COUNTS.items()
    }
    states = {state: n for state, n in counts.items() if n > 0}
    return _node(f"g{number}", "own", None, states, group_id=number) if states else None


def job_node(document: Mapping[str, Any]) -> GraphNode:
    """Return the node of a job's document."""
    number = int(document["job_id"])
    return _node(f"j{number}", "job", document["name"], {document["state"]: 1}, job_id=number)


def _node(
    id_: str,
    kind: Literal["group", "own", "jobs", "job"],
    name: str | None,
    states: dict[str, int],
    *,
    group_id: int | None = None,
    job_id: int | None = None,
    last_job_id: int | None = None,
) -> GraphNode:
    telling = next((state for state in _TELLING if state in states), JobState.SUCCESS.word)
    return GraphNode(
        id=id_,
        kind=kind,
        name=name,
        group_id=group_id,
        job_id=job_id,
        last_job_id=last_job_id,
        state=telling,
        n_jobs=sum(states.values()),
        states=states,
    )


def fold_alike(
    nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], least: int = ALIKE_MIN
) -> tuple[list[GraphNode], list[GraphEdge]]:
    """Make one node of jobs that have the same parents and the same children, if there are
    `least` of them. A scatter of a thousand jobs is three nodes then.
    """
    parents: dict[str, list[str]] = defaultdict(list)
    children: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        parents[edge.child].append(edge.parent)
        children[edge.parent].append(edge.child)
    alike: dict[tuple[frozenset[str], frozenset[str]], list[GraphNode]] = defaultdict(list)
    for node in nodes:
        alike[frozenset(parents[node.id]), frozenset(children[node.id])].append(node)
    names: dict[str, GraphNode] = {}
    for found in alike.values():
        kept = _fold(found) if len(found) >= least else None
        names |= {one.id: kept or one for one in found}
    sums: Counter[tuple[str, str]] = Counter()
    for edge in edges:
        sums[names[edge.parent].id, names[edge.child].id] += edge.n_edges
    kept_nodes = list({one.id: one for one in (names[node.id] for node in nodes)}.values())
    return kept_nodes, [
        GraphEdge(parent=parent, child=child, n_edges=n) for (parent, child), n in sums.items()
    ]


def _fold(nodes: Sequence[GraphNode]) -> GraphNode:
    states: Counter[str] = Counter()
    for node in nodes:
        states.update(node.states)
    shared = {node.name for node in nodes}
    return _node(
        nodes[0].id,
        "jobs",
        nodes[0].name if len(shared) == 1 else None,
        {state: states[state] for state in COUNTS if states[state]},
        job_id=nodes[0].job_id,
        last_job_id=nodes[-1].job_id,
    )


def label_of(node: GraphNode) -> str:
    """Return the title of a node."""
    if node.kind == "own":
        return "jobs in no group below"
    if node.kind == "jobs":
        return f"{node.name or 'jobs'} × {node.n_jobs:,}"
    return node.name or node.id


def counts_of(node: GraphNode) -> str:
    """Say how far the jobs of a node are: `3 of 40, 1 failed`; of one job its state."""
    if node.kind == "job":
        return node.state if node.name is None else f"{node.id}, {node.state}"
    if not node.n_jobs:
        return "no jobs"
    ended = sum(node.states.get(state, 0) for state in ("success", "failed", "error", "cancelled"))
    bad = node.states.get("failed", 0) + node.states.get("error", 0)
    return f"{ended:,} of {node.n_jobs:,}" + (f", {bad:,} failed" if bad else "")
