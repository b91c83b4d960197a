"""Parents: from references to numbers, and an order in which they come first."""

from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import ParentCycle, ParentNotBelow, ParentNotFound
from weft.core.parents import Earlier, ParentRefs, order_jobs, resolve_parents
from weft.core.problems import Problems

NAMED = Earlier(batch_id=12, names=True)


def resolve(
    names: list[str | None], refs: list[ParentRefs], *, first: int = 1, earlier: Earlier = NAMED
) -> tuple[list[tuple[int, ...]], Problems]:
    problems = Problems()
    return resolve_parents(names, refs, first=first, earlier=earlier, problems=problems), problems


def test_references_become_numbers() -> None:
    names = ["a", "b", None]

    found, problems = resolve(names, [["b"], [1, 1, "a"], ["j7", "b12.j8", 2]])

    assert found == [(2,), (1,), (-7, -8, 2)]
    assert not problems.found


def test_bunch_refers_to_the_whole_update() -> None:
    found, problems = resolve([], [[1, 100], [101]], first=101, earlier=Earlier(12, names=False))

    assert found == [(1, 100), (101,)]
    assert not problems.found


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
