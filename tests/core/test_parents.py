"""Parents: from references to numbers, and an order in which they come first."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import InvalidValue, ParentCycle, ParentNotBelow, ParentNotFound
from weft.core.graph.parents import (
    Earlier,
    ParentRef,
    Parents,
    count_of,
    merged,
    order_jobs,
    renumbered,
    resolve_parents,
)
from weft.core.graph.positions import Positions
from weft.core.problems import Problems

NAMED = Earlier(batch_id=12, names=True)


def resolve(
    names: Sequence[str | None],
    refs: Sequence[Sequence[ParentRef]],
    *,
    counts: Sequence[int | None] | None = None,
    first: int = 1,
    earlier: Earlier = NAMED,
) -> tuple[list[Parents], Problems]:
    problems = Problems()
    positions = Positions(counts or [None] * len(refs), first=first)
    found = resolve_parents(names, refs, positions=positions, earlier=earlier, problems=problems)
    return found[0], problems


def test_references_become_numbers() -> None:
    names = ["a", "b", None]

    found, problems = resolve(names, [["b"], [1, 1, "a"], ["j7", "b12.j8", 2]])

    assert found == [(2,), (1,), (-7, -8, 2)]
    assert not problems.found
    new = Earlier(None, names=True)  # it has no earlier jobs, so j1 is a name there
    assert resolve(["j1", None], [[], ["j1"]], earlier=new)[0] == [(), (1,)]


def test_bunch_refers_to_the_whole_update() -> None:
    found, problems = resolve([], [[1, 100], [101]], first=101, earlier=Earlier(12, names=False))

    assert found == [(1, 100), (101,)]
    assert not problems.found


def test_path_of_a_group_stands_for_all_jobs_in_it() -> None:
    groups = ["/a", None, "/a/b", "/ab", "/a", 7]
    refs: list[Any] = [[], [], [], ["/a/b"], [], [{"of": "/a", "need": "end"}, 2]]
    positions, problems = Positions([None, None, 3, None, 2, None]), Problems()
    found = resolve_parents(
        [], refs, positions=positions, earlier=NAMED, problems=problems,
        groups=groups,
    )  # fmt: skip

    assert found[0] == [(), (), (), (range(3, 6),), (), (range(1, 6), range(7, 9))]
    assert found[1][5] == (1, range(3, 6), range(7, 9))
    assert not problems.found
    assert "group of this path" in resolve(["x"], [["/a"]])[1].found[0][1].message
    assert resolve(["/a", "y"], [[], ["/a"]])[0] == [(), (1,)]  # the name of a job, as before


def test_every_wrong_reference_is_told() -> None:
    _, problems = resolve(["a"], [["x", 1, 0, "b13.j1"]])

    assert [(kind, error.pointer) for kind, error in problems.found] == [
        (ParentNotFound, "/jobs/0/parents/0"),
        (ParentNotBelow, "/jobs/0/parents/1"),
        (ParentNotFound, "/jobs/0/parents/2"),
        (ParentNotFound, "/jobs/0/parents/3"),
    ]


def test_jobs_in_order_are_left_alone() -> None:
    assert order_jobs([(), (1,), (1, 2), (-7,)], [None] * 4, Problems()) is None


def test_cycle_names_its_path() -> None:
    problems = Problems()
    order_jobs([(3,), (1,), (2,), (1,)], ["a", None, "c", "d"], problems)

    ((kind, error),) = problems.found
    assert kind is ParentCycle
    assert error.message == "a waits for c waits for 2 waits for a"
    order_jobs([(5000,), *((n,) for n in range(1, 5000))], ["x" * 60] * 5000, problems)
    assert len(problems.found[1][1].message) < 1000


@given(st.data())
def test_order_puts_parents_first_and_keeps_every_job(data: st.DataObject) -> None:
    n_jobs = data.draw(st.integers(1, 12))
    # An order in which no cycle can be, told in another one.
    place = data.draw(st.permutations(range(n_jobs)))
    parents: list[tuple[int, ...]] = [()] * n_jobs
    for rank, job in enumerate(place):
        chosen = data.draw(st.sets(st.sampled_from(place[:rank]))) if rank else set()
        parents[job] = tuple(one + 1 for one in chosen)
    problems = Problems()

    order = order_jobs(parents, [None] * n_jobs, problems)

    assert not problems.found
    order = list(range(n_jobs)) if order is None else order
    assert sorted(order) == list(range(n_jobs))
    position = {job: rank for rank, job in enumerate(order)}
    assert all(
        position[parent - 1] < position[job] for job in range(n_jobs) for parent in parents[job]
    )


@given(st.lists(st.lists(st.integers(1, 8), max_size=4), min_size=8, max_size=8))
def test_any_graph_is_either_ordered_or_has_a_cycle(graph: list[list[int]]) -> None:
    problems = Problems()

    order = order_jobs([tuple(own) for own in graph], [None] * 8, problems)

    if order is not None and not problems.found:
        position = {job: rank for rank, job in enumerate(order)}
        assert all(
            position[parent - 1] < position[job] for job in range(8) for parent in graph[job]
        )


def test_name_of_an_array_is_all_its_jobs() -> None:
    names = ["first", "array", None]

    found, problems = resolve(names, [[], [], ["array", 1, 3]], counts=[None, 4, None])

    assert found == [(), (), (range(1, 6),)]
    assert not problems.found


def test_ranges_are_positions() -> None:
    found, problems = resolve([], [[[1, 3], 3, [5, 5]]], first=6, earlier=Earlier(12, names=False))  # type: ignore[list-item]

    assert found == [(range(1, 4), 5)]
    assert not problems.found


def test_wrong_ranges_are_told() -> None:
    _, problems = resolve(["a", "b"], [[], [(1, 2), (2, 1), (0, 1)]])

    assert [(kind, error.pointer) for kind, error in problems.found] == [
        (ParentNotBelow, "/jobs/1/parents/0"),
        (InvalidValue, "/jobs/1/parents/1"),
        (ParentNotFound, "/jobs/1/parents/2"),
    ]


POSITIONS = st.lists(st.integers(1, 40) | st.integers(-9, -1), max_size=12)


@given(POSITIONS, st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), max_size=4))
def test_merged_parents_are_the_same_ones_each_once(
    numbers: list[int], spans: list[tuple[int, int]]
) -> None:
    ranges = [range(first, first + n) for first, n in spans]
    asked = {*numbers, *(one for span in ranges for one in span)}

    found = merged((*numbers, *ranges))

    told = [one for parent in found for one in (parent if isinstance(parent, range) else [parent])]
    assert sorted(told) == sorted(asked)
    assert sum(map(count_of, found)) == len(asked)
    assert all(len(one) > 1 and one.start > 0 for one in found if isinstance(one, range))


@given(st.data())
def test_order_of_arrays_puts_all_their_parents_first(data: st.DataObject) -> None:
    """Whatever is moved, each job keeps its parents, and they stand before it."""
    n_entries = data.draw(st.integers(1, 8))
    counts = data.draw(
        st.lists(st.none() | st.integers(1, 4), min_size=n_entries, max_size=n_entries)
    )
    place = data.draw(st.permutations(range(n_entries)))
    positions = Positions(counts)
    parents: list[Parents] = [()] * n_entries
    for rank, entry in enumerate(place):
        chosen = data.draw(st.sets(st.sampled_from(place[:rank]))) if rank else set()
        parents[entry] = tuple(positions.of(one) for one in sorted(chosen))
    problems = Problems()

    order = order_jobs(parents, [None] * n_entries, problems, positions)

    assert not problems.found
    if order is None:
        order, moved, now = list(range(n_entries)), parents, positions
    else:
        numbers = positions.numbers_in(order)
        moved = [renumbered(parents, positions, numbers)[entry] for entry in order]
        now = Positions([counts[entry] for entry in order])
        assert [numbers[entry] for entry in order] == list(now.firsts)
    for rank, entry in enumerate(order):
        above = {one for parent in moved[rank] for one in _all_of(parent)}
        entries = {order[now.entry_at(one)] for one in above}
        assert entries == {positions.entry_at(one) for p in parents[entry] for one in _all_of(p)}
        assert all(one < now.firsts[rank] for one in above)
        assert len(above) == sum(positions.count_of(one) for one in entries)


def _all_of(parent: int | range) -> Sequence[int]:
    return parent if isinstance(parent, range) else [parent]
