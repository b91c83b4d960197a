"""Where nodes of pictures stand, what is drawn as one, and what a time axis adds up to."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.pictures.dag import NODE_HEIGHT, draw_svg, write_dot, write_mermaid
from weft.core.pictures.gantt import draw_timeline
from weft.core.pictures.graph import (
    ALIKE_MIN,
    COUNTS,
    Graph,
    GraphEdge,
    GraphNode,
    fold_alike,
    group_node,
    job_node,
    own_node,
)
from weft.core.pictures.layout import WIDTH, lay_out
from weft.core.pictures.svg import page_of
from weft.core.pictures.timeline import (
    ATTEMPTS_SHOWN,
    PHASES,
    AttemptDates,
    Timeline,
    build_timeline,
)
from weft.core.states import JobState

HOSTILE = '</text><script>alert(1)</script>"]\\"\u202e&amp;\n'
BEGIN = datetime(2026, 11, 22, tzinfo=UTC)


@st.composite
def graphs(draw: st.DrawFn, *, acyclic: bool) -> tuple[int, list[tuple[int, int]]]:
    n = draw(st.integers(1, 25))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))
    if acyclic:
        pairs = [(min(one), max(one)) for one in pairs if one[0] != one[1]]
    return n, sorted(set(pairs))


@given(graphs(acyclic=True))
def test_children_stand_to_the_right_and_nothing_overlaps(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    n, edges = graph
    layout = lay_out(n, edges, NODE_HEIGHT)

    for parent, child in edges:
        assert layout.positions[parent][0] + WIDTH < layout.positions[child][0]
    for i, (left, top) in enumerate(layout.positions):
        assert 0 <= left <= layout.width - WIDTH
        assert 0 <= top <= layout.height - NODE_HEIGHT
        for other_left, other_top in layout.positions[:i]:
            assert abs(left - other_left) >= WIDTH or abs(top - other_top) >= NODE_HEIGHT - 1e-6
    assert [len(line) >= 2 for line in layout.lines] == [True] * len(edges)


@given(graphs(acyclic=False))
def test_cycles_of_groups_are_drawn_and_the_same_graph_is_drawn_alike(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    first, second = lay_out(*graph, NODE_HEIGHT), lay_out(*graph, NODE_HEIGHT)

    assert first == second
    assert len({*first.positions}) == graph[0]


def test_an_edge_that_closes_a_cycle_moves_nothing() -> None:
    layout = lay_out(3, [(0, 1), (1, 2), (2, 0)], NODE_HEIGHT)

    assert [left for left, _ in layout.positions] == sorted(left for left, _ in layout.positions)


def test_a_chain_is_one_row_and_long_edges_pass_beside_nodes() -> None:
    layout = lay_out(4, [(0, 1), (1, 2), (2, 3), (0, 3)], NODE_HEIGHT)
    passing = [y for _, y in layout.lines[3][1:-1]]

    assert len({left for left, _ in layout.positions}) == 4
    for (_, top), y in zip(layout.positions[1:3], passing[::2], strict=True):
        assert not top <= y <= top + NODE_HEIGHT


def job(number: int, state: str = "ready", name: str | None = None) -> GraphNode:
    return job_node({"job_id": number, "name": name, "state": state})


def edge(parent: int, child: int) -> GraphEdge:
    return GraphEdge(parent=f"j{parent}", child=f"j{child}", n_edges=1)


def graph_of(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> Graph:
    return Graph(
        batch_id=1,
        group_id=0,
        path="/",
        level="jobs",
        n_jobs=len(nodes),
        nodes=[*nodes],
        edges=[*edges],
        sampled=False,
        cursor=None,
    )


def test_jobs_with_the_same_parents_and_children_are_one_node() -> None:
    middle = range(2, 2 + ALIKE_MIN)
    last = middle[-1] + 1
    nodes = [
        job(1),
        *(job(i, "failed" if i == 3 else "success", "part") for i in middle),
        job(last),
    ]
    edges = [*(edge(1, i) for i in middle), *(edge(i, last) for i in middle)]
    folded, joined = fold_alike(nodes, edges)

    assert [one.kind for one in folded] == ["job", "jobs", "job"]
    assert (folded[1].name, folded[1].state) == ("part", "failed")
    assert (folded[1].job_id, folded[1].last_job_id) == (2, last - 1)
    assert folded[1].states == {"success": ALIKE_MIN - 1, "failed": 1}
    assert [(one.parent, one.child, one.n_edges) for one in joined] == [
        ("j1", "j2", ALIKE_MIN),
        ("j2", f"j{last}", ALIKE_MIN),
    ]
    assert fold_alike(nodes, edges, ALIKE_MIN + 1) == (nodes, edges)
    assert len(fold_alike(nodes, edges[:-1])[0]) == len(nodes)  # one has no child


def test_jobs_in_no_group_below_are_what_its_groups_do_not_count() -> None:
    none = dict.fromkeys(COUNTS.values(), 0)
    whole = {**none, "group_id": 0, "name": None, "n_ready": 5, "n_running": 2}
    below = [{**none, "group_id": i, "name": "a", "n_ready": 2, "n_running": 1} for i in (1, 2)]
    own = own_node(whole, below)

    assert own is not None
    assert (own.id, own.kind, own.states) == ("g0", "own", {"ready": 1})
    assert own_node(whole, [whole]) is None
    assert group_node(below[0]).state == "running"


def test_texts_of_others_stay_text_in_every_language() -> None:
    nodes = [job(1, name=HOSTILE), job(2, name="\u202e" + HOSTILE)]
    graph = graph_of(nodes, [edge(1, 2)])
    svg = draw_svg(graph, alone=True, link=lambda node: f'/x?"<{node.id}')
    tree = fromstring(svg)  # noqa: S314 (our own)

    assert {one.tag.rpartition("}")[2] for one in tree.iter()} <= {
        "svg",
        "style",
        "defs",
        "marker",
        "path",
        "a",
        "g",
        "title",
        "rect",
        "text",
    }
    assert not {"style", "onclick"} & {name for one in tree.iter() for name in one.attrib}
    for text in (svg, write_mermaid(graph), write_dot(graph)):
        assert "\u202e" not in text
        assert "<script" not in text or text.startswith("digraph")
    (labelled,) = [line for line in write_mermaid(graph).splitlines() if "j1([" in line]
    assert labelled.count('"') == 2
    (labelled,) = [line for line in write_dot(graph).splitlines() if "j1 [" in line]
    assert labelled.replace('\\"', "").count('"') == 4
    assert "<script" not in page_of(svg, HOSTILE)


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def dates(
    job_id: int = 1,
    state: JobState = JobState.SUCCESS,
    *,
    ready: float | None = 0,
    attempt: int | None = 1,
    worker: str = "w",
    end: JobState | None = JobState.SUCCESS,
    claimed: float = 0,
    started: float | None = None,
    ended: float | None = None,
    released: float | None = None,
    cancelled: float | None = None,
    now: float = 100,
) -> AttemptDates:
    def moment(seconds: float | None) -> datetime | None:
        return None if seconds is None else at(seconds)

    return AttemptDates(
        job_id=job_id,
        state=state,
        attempt=attempt,
        worker=None if attempt is None else worker,
        end_state=end if ended is not None else None,
        ready_at=moment(ready),
        claimed_at=None if attempt is None else at(claimed),
        started_at=moment(started),
        ended_at=moment(ended),
        released_at=moment(released),
        cancelled_at=moment(cancelled),
        now_at=at(now),
    )


def times_of(*rows: AttemptDates) -> dict[str, float]:
    times = build_timeline(1, len({one.job_id for one in rows}), BEGIN, rows).times
    found = {phase: getattr(times, f"{phase}_ms") / 1000 for phase in PHASES}
    return {phase: seconds for phase, seconds in found.items() if seconds}


@cases(
    ("rows", "expected"),
    [
        ([dates(claimed=2, started=3, ended=7)], {"waiting": 2, "starting": 1, "running": 4}),
        ([dates(state=JobState.READY, attempt=None)], {"waiting": 100}),
        ([dates(state=JobState.PENDING, ready=None, attempt=None)], {}),
        ([dates(state=JobState.CANCELLED, attempt=None, cancelled=5)], {"waiting": 5}),
        (
            [dates(state=JobState.RUNNING, claimed=90, started=95)],
            {"waiting": 90, "starting": 5, "running": 5},
        ),
        (  # a lease that came to nothing is time spent waiting
            [
                dates(claimed=1, ended=3, end=JobState.READY),
                dates(attempt=2, claimed=4, started=4, ended=6),
            ],
            {"waiting": 4, "running": 2},
        ),
        (  # blocked, released, and run again
            [
                dates(started=0, ended=2, end=JobState.BLOCKED, released=12),
                dates(attempt=2, claimed=15, started=15, ended=16),
            ],
            {"waiting": 3, "running": 3, "blocked": 10},
        ),
        (
            [dates(state=JobState.BLOCKED, started=0, ended=2, end=JobState.BLOCKED)],
            {"running": 2, "blocked": 98},
        ),
        (  # a person retried it later
            [
                dates(ready=50, started=0, ended=2, end=JobState.FAILED),
                dates(ready=50, attempt=2, claimed=51, started=51, ended=53),
            ],
            {"waiting": 1, "running": 4},
        ),
    ],
)
def test_times_of_a_job_are_in_one_phase_each(
    rows: list[AttemptDates], expected: dict[str, float]
) -> None:
    assert times_of(*rows) == expected


@st.composite
def runs(draw: st.DrawFn) -> list[AttemptDates]:
    lengths = st.floats(0, 1000, allow_nan=False)
    found = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        ready, waits, starts, lasts = (round(draw(lengths), 3) for _ in range(4))
        claimed = ready + waits
        found.append(
            dates(
                number,
                ready=ready,
                claimed=claimed,
                started=claimed + starts,
                ended=claimed + starts + lasts,
                worker=draw(st.sampled_from("ab")),
            )
        )
    return found


@given(runs())
def test_buckets_add_up_to_the_times_and_lanes_hold_one_attempt_at_a_time(
    rows: list[AttemptDates],
) -> None:
    found = build_timeline(1, len(rows), BEGIN, rows)
    bucket_s = (found.ended_at - found.begun_at).total_seconds() / max(len(found.buckets), 1)
    for phase in PHASES:
        seconds = sum(getattr(one, phase) for one in found.buckets) * bucket_s
        assert seconds == pytest.approx(
            getattr(found.times, f"{phase}_ms") / 1000, abs=0.002 * bucket_s * 120 + 0.02
        )
    for line in found.workers:
        assert line.attempts is not None
        for lane in {one.lane for one in line.attempts}:
            mine = [one for one in line.attempts if one.lane == lane]
            for one, after in pairwise(mine):
                assert one.ended_at is not None
                assert one.ended_at <= after.claimed_at
    assert fromstring(draw_timeline(found, alone=True)) is not None  # noqa: S314 (our own)


def many(n: int) -> Timeline:
    rows = [dates(i, claimed=i, started=i, ended=i + 2) for i in range(1, n + 1)]
    return build_timeline(1, n * 10, BEGIN, rows)


def test_a_sample_stands_for_all() -> None:
    found = many(50)

    assert (found.n_jobs, found.n_sampled, found.times.running_ms) == (500, 50, 1_000_000)
    assert found.workers[0].attempts is None
    assert max(found.workers[0].running) == pytest.approx(20, abs=0.5)


def test_many_attempts_are_drawn_as_a_sum() -> None:
    rows = [dates(i, claimed=i, started=i, ended=i + 2) for i in range(ATTEMPTS_SHOWN + 1)]
    found = build_timeline(1, len(rows), BEGIN, rows)

    assert found.workers[0].attempts is None
    assert draw_timeline(found, alone=False).count("<rect") < 20


def test_an_empty_batch_has_a_time_axis() -> None:
    found = build_timeline(1, 0, BEGIN, [])

    assert (found.begun_at, found.ended_at, found.workers) == (BEGIN, BEGIN, [])
    assert "<svg" in draw_timeline(found, alone=True)
