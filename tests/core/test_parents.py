"""Parents: from references to numbers, and an order in which they come first; a job that began
before one had ended. Paths of groups, and what must be made for them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.errors import (
    InvalidDocument,
    InvalidValue,
    ParentCycle,
    ParentNotBelow,
    ParentNotFound,
    UnknownField,
    WrongType,
)
from weft.core.graph.group_tree import PlannedGroup, ancestors, plan_groups, wrong_path
from weft.core.graph.parents import (
    Earlier,
    EarlyStart,
    ParentRef,
    Parents,
    count_of,
    early_starts,
    merged,
    order_jobs,
    renumbered,
    resolve_parents,
)
from weft.core.graph.positions import Positions
from weft.core.problems import PROBLEMS_MAX, Problems, pointer_of
from weft.core.text.texts import wrong_attributes, wrong_name

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
    last = [{"of": "/a", "need": "end"}, {"of": 2, "need": "start"}, {"of": 3, "need": "90%"}]
    last.append({"of": [1, 4], "need": "9%"})
    refs: list[Any] = [[], [], [], ["/a/b"], [], last]
    positions, problems = Positions([None, None, 3, None, 2, None]), Problems()
    found = resolve_parents(
        [],
        refs,
        positions=positions,
        earlier=NAMED,
        problems=problems,
        groups=groups,
    )

    assert found[0] == [(), (), (), (range(3, 6),), (), (range(1, 6), range(7, 9))]
    of_last = [(3,), (range(1, 5),), (1, range(3, 6), range(7, 9)), (2,)]
    assert [own[5] for own in found[1].values()] == of_last
    assert [*found[1]] == ["90%", "9%", "end", "start"]  # the later one counts
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


def test_ancestors_come_first_and_only_once() -> None:
    planned, number = plan_groups(["/a/b", "/a", "/a/c/d"], {})

    assert planned == [
        PlannedGroup(1, 0, "a", "/a"),
        PlannedGroup(2, 1, "b", "/a/b"),
        PlannedGroup(3, 1, "c", "/a/c"),
        PlannedGroup(4, 3, "d", "/a/c/d"),
    ]
    assert number == {"/": 0, "/a": 1, "/a/b": 2, "/a/c": 3, "/a/c/d": 4}


def test_groups_that_are_there_are_not_made_again() -> None:
    planned, number = plan_groups(["/a/b"], {"/a": 7})

    assert planned == [PlannedGroup(1, -7, "b", "/a/b")]
    assert number["/a"] == -7


def test_root_has_no_ancestors() -> None:
    assert ancestors("/") == []
    assert ancestors("/a/b") == ["/a", "/a/b"]


@cases("path", ["", "a", "/a/", "//", "/a//b", "/a\n", "/" + "x" * 9, "/a" * 4])
def test_wrong_paths(path: str) -> None:
    assert wrong_path(path, depth_max=3, name_chars_max=8)


@cases("path", ["/", "/a", "/a/b/c", "/Å 1"])
def test_good_paths(path: str) -> None:
    assert wrong_path(path, depth_max=3, name_chars_max=8) is None


def test_texts() -> None:
    assert wrong_name("a b", chars_max=3) is None
    assert wrong_name("a\u202eb", chars_max=9)
    assert wrong_attributes({"k": "é" * 4}, count_max=1, bytes_max=9) is None
    assert wrong_attributes({"k": "é" * 5}, count_max=1, bytes_max=9) == (
        "k",
        "11 bytes, at most 9 (attribute_bytes_max)",
    )


def test_problems_of_one_kind_have_its_code_and_others_the_common_one() -> None:
    problems = Problems()
    for number in range(PROBLEMS_MAX + 5):
        problems.add(UnknownField, f"/{number}", "no such field")
    one_kind = problems.error()
    mixed = Problems([*problems.found[:1], (WrongType, problems.found[0][1])], 2).error()

    assert type(one_kind) is UnknownField
    assert len(one_kind.errors) == PROBLEMS_MAX
    assert f"and {PROBLEMS_MAX + 4} more" in one_kind.detail
    assert type(mixed) is InvalidDocument


def test_pointers_are_escaped() -> None:
    assert pointer_of("jobs", 3, "a/b~c") == "/jobs/3/a~1b~0c"


BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: int) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def test_start_at_the_end_of_the_last_parent_is_in_time() -> None:
    started = {1: at(0), 2: at(0), 3: at(5)}
    ended = {1: at(4), 2: at(5)}

    assert list(early_starts(started, ended, {3: [1, 2]})) == []


def test_start_before_the_end_of_a_parent_is_told() -> None:
    found = list(early_starts({1: at(0), 2: at(3)}, {1: at(4)}, {2: [1]}))

    assert found == [EarlyStart(2, at(3), 1, at(4))]


def test_start_below_a_parent_that_has_not_ended_is_told() -> None:
    found = list(early_starts({1: at(0), 2: at(3)}, {}, {2: [1]}))

    assert found == [EarlyStart(2, at(3), 1, None)]


def test_job_that_never_began_is_not_early() -> None:
    assert list(early_starts({}, {}, {2: [1]})) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=8))
def test_every_pair_is_looked_at(times: list[tuple[int, int]]) -> None:
    """All jobs wait for the first."""
    started = {job: at(begin) for job, (begin, _) in enumerate(times, 1)}
    ended = {job: at(begin + took) for job, (begin, took) in enumerate(times, 1)}

    found = early_starts(started, ended, {job: [1] for job in range(2, len(times) + 1)})

    assert {one.job_id for one in found} == {
        job for job in range(2, len(times) + 1) if started[job] < ended[1]
    }
