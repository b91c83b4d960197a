"""A large document becomes bunches with numbers instead of names, and waits in a spool."""

import asyncio
import tracemalloc
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.client.submission import spool as _spool
from weft.client.submission.document import SubmissionPlan, plan_submission
from weft.client.submission.spool import JobSpool
from weft.client.submission.upload import Bunch, cut_bunches, is_small, send_bunches
from weft.core.errors import ParentCycle, ParentNotFound, WrongType


def plan(*jobs: dict[str, Any], **fields: object) -> SubmissionPlan:
    return plan_submission({"name": "x", **fields, "jobs": list(jobs)})


def test_named_parents_become_numbers_below_their_children() -> None:
    found = plan({"name": "sum", "parents": ["b", "a"]}, {"name": "a"}, {"name": "b"})

    assert [job["name"] for job in found.jobs] == ["a", "b", "sum"]
    assert found.jobs[2]["parents"] == [2, 1]
    assert list(found.positions) == [1, 2, 0]


def test_numbered_parents_follow_when_jobs_change_places() -> None:
    found = plan({"name": "late", "parents": ["c"]}, {"name": "b"}, {"name": "c", "parents": [2]})

    assert [job["name"] for job in found.jobs] == ["b", "c", "late"]
    assert found.jobs[1]["parents"] == [1]


def test_groups_are_made_with_their_ancestors() -> None:
    found = plan(
        {"group": "/s1/a"},
        {"group": "/s1"},
        {},
        groups=[{"path": "/s1", "attributes": {"k": "v"}}],
    )

    assert found.groups == [
        {"name": "s1", "parent": 0, "attributes": {"k": "v"}},
        {"name": "a", "parent": 1},
    ]
    assert [job.get("group") for job in found.jobs] == [2, 1, None]
    assert found.batch == {"name": "x"}


def test_sets_get_numbers_after_those_of_the_tree() -> None:
    found = plan(
        {"group": "/s1", "groups": ["pca", "vep"]},
        {"groups": ["vep"]},
        groups=[{"name": "pca", "kind": "set", "callback": "http://x"}, {"path": "/s1"}],
    )

    assert found.groups == [
        {"name": "s1", "parent": 0},
        {"name": "pca", "kind": "set", "callback": "http://x"},
        {"name": "vep", "kind": "set"},
    ]
    assert [(job.get("group"), job["groups"]) for job in found.jobs] == [(1, [2, 3]), (None, [3])]


def test_a_group_without_a_path_or_a_name_is_refused() -> None:
    with pytest.raises(WrongType) as caught:
        plan({}, groups=[{"path": "/a"}, {"kind": "set"}])

    assert caught.value.errors[0].pointer == "/groups/1"


def test_a_cycle_is_refused_with_its_path() -> None:
    with pytest.raises(ParentCycle) as caught:
        plan({"name": "a", "parents": ["b"]}, {"name": "b", "parents": ["a"]})

    assert "a waits for b waits for a" in caught.value.errors[0].message


def test_a_missing_parent_is_refused() -> None:
    with pytest.raises(ParentNotFound) as caught:
        plan({"name": "a", "parents": ["nobody"]})

    assert caught.value.errors[0].pointer == "/jobs/0/parents/0"


def test_what_is_no_list_of_jobs_is_left_to_the_server() -> None:
    assert is_small({"jobs": "many"})
    assert is_small({"jobs": [1, 2]})
    assert is_small({"groups": 5, "jobs": []})
    assert not is_small({"jobs": [{}] * 10_000})


def test_arrays_take_a_position_for_each_job() -> None:
    found = plan(
        {"name": "gather", "parents": ["each", "first"]},
        {"name": "each", "count": 1000, "parents": ["first"]},
        {"name": "first"},
        {"count": 2, "parents": [3, {"of": [1, 2], "need": "end"}, {"of": 3, "need": "start"}]},
    )
    last = [[2, 3], 1002, {"of": 2, "need": "end"}, {"of": 1002, "need": "end"}]
    last.append({"of": 3, "need": "start"})

    assert [job.get("name") for job in found.jobs] == ["first", "each", "gather", None]
    assert [job.get("parents") for job in found.jobs] == [None, [1], [[1, 1001]], last]
    assert (found.n_jobs, list(found.positions)) == (1004, [2, 1, 0, 3])


def test_large_arrays_go_in_bunches() -> None:
    assert is_small({"jobs": [{"count": 1000}]})
    assert not is_small({"jobs": [{"count": 1_000_000}]})
    assert is_small({"jobs": [{"count": "many"}]})  # the server says what is wrong with it


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 10), st.integers(1, 500))
def test_bunches_hold_all_jobs_in_order_within_the_limits(
    sizes: list[int], jobs_max: int, bytes_max: int
) -> None:
    jobs = [{"name": "x" * size, "n": n} for n, size in enumerate(sizes)]

    bunches = list(cut_bunches(jobs, jobs_max=jobs_max, bytes_max=bytes_max))

    found = [msgspec.msgpack.decode(bytes(job)) for bunch in bunches for job in bunch.jobs]
    assert found == jobs
    firsts = [bunch.first for bunch in bunches]
    assert firsts == [1 + sum(b.n_jobs for b in bunches[:i]) for i in range(len(bunches))]
    for bunch in bunches:
        assert bunch.n_jobs == len(bunch.jobs) <= jobs_max
        assert len(bunch.jobs) == 1 or sum(map(len, map(bytes, bunch.jobs))) <= bytes_max


async def test_as_many_bunches_are_under_way_as_asked_for() -> None:
    under_way = 0
    most = 0
    sent: list[int] = []
    all_there = asyncio.Event()

    async def send(bunch: Bunch) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 3:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), 5)
        sent.append(bunch.first)
        under_way -= 1

    bunches = cut_bunches(({"n": n} for n in range(20)), jobs_max=2)
    await send_bunches(bunches, send, parallel=3)

    assert most == 3
    assert sorted(sent) == list(range(1, 20, 2))


async def test_the_first_error_ends_the_upload() -> None:
    async def send(bunch: Bunch) -> None:
        raise ValueError(bunch.first)

    with pytest.raises(ValueError, match="1"):
        await send_bunches(cut_bunches({"n": n} for n in range(9)), send, parallel=3)

    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


def _documents(bunch: Bunch) -> list[dict[str, Any]]:
    return [msgspec.msgpack.decode(bytes(job)) for job in bunch.jobs]


def test_large_array_is_cut_into_parts_that_continue_its_indices() -> None:
    jobs: list[dict[str, Any]] = [
        {"name": "a"},
        {"count": 250, "index_from": 7, "name": "b"},
        {"name": "c"},
    ]

    bunches = list(cut_bunches(jobs, part_max=100))

    assert [(bunch.first, bunch.n_jobs, bunch.origins) for bunch in bunches] == [
        (1, 1, [0]),
        (2, 100, [1]),
        (102, 100, [1]),
        (202, 51, [1, 2]),
    ]
    parts = [job for bunch in bunches for job in _documents(bunch) if job["name"] == "b"]
    assert [(part["index_from"], part["count"]) for part in parts] == [
        (7, 100),
        (107, 100),
        (207, 50),
    ]


def test_values_are_cut_with_their_array() -> None:
    values = [str(n) for n in range(250)]
    jobs: list[dict[str, Any]] = [
        {"values": values, "index_from": 7},
        {"values": ["x" * 2**20] * 3},
    ]

    bunches = list(cut_bunches(jobs, part_max=100))

    parts = [job for bunch in bunches for job in _documents(bunch)]
    assert [(part["index_from"], len(part["values"])) for part in parts] == [
        (7, 100),
        (107, 100),
        (207, 50),
        (0, 1),
        (1, 1),
        (2, 1),
    ]
    assert [value for part in parts[:3] for value in part["values"]] == values
    assert [bunch.first for bunch in bunches] == [1, 101, 201]


def test_parts_with_many_parents_are_smaller() -> None:
    """Each of them waits for each parent, and a bunch brings a bounded number of such pairs."""
    jobs = [{"count": 1000, "parents": [[1, 10_000], 10_001]}]

    bunches = list(cut_bunches(jobs))

    assert [bunch.n_jobs for bunch in bunches] == [49] * 20 + [20]


@given(
    st.lists(st.none() | st.integers(1, 50), max_size=20), st.integers(1, 60), st.integers(1, 6)
)
def test_bunches_with_arrays_hold_every_job_once(
    counts: list[int | None], part_max: int, jobs_max: int
) -> None:
    jobs = [
        {"n": n} if count is None else {"n": n, "count": count} for n, count in enumerate(counts)
    ]

    bunches = list(cut_bunches(jobs, part_max=part_max, jobs_max=jobs_max))

    found: list[tuple[int, int | None]] = []
    for bunch in bunches:
        assert bunch.first == len(found) + 1
        assert len(bunch.jobs) == len(bunch.origins) <= jobs_max
        for origin, job in zip(bunch.origins, _documents(bunch), strict=True):
            assert origin == job["n"]
            if "count" in job:
                found += [(origin, job["index_from"] + n) for n in range(job["count"])]
            else:
                found.append((origin, None))
        assert bunch.n_jobs == len(found) - bunch.first + 1 <= part_max
    assert found == [
        (n, index)
        for n, count in enumerate(counts)
        for index in ([None] if count is None else range(count))
    ]


def decoded(job: msgspec.Raw | Mapping[str, Any]) -> Any:  # noqa: ANN401 (a document)
    return msgspec.msgpack.decode(bytes(job)) if isinstance(job, msgspec.Raw) else job


values = st.one_of(st.text(max_size=200), st.integers(0, 2**63), st.lists(st.text()))
documents = st.dictionaries(st.text(max_size=8), values, max_size=20)


@given(st.lists(st.tuples(st.integers(0, 2), documents), max_size=30))
def test_jobs_come_out_as_they_went_in_as_often_as_asked(
    jobs: list[tuple[int, dict[str, Any]]],
) -> None:
    where: list[dict[str, Any]] = [{}, {"group": 1}, {"group": 2, "groups": [3]}]
    spool = JobSpool()
    for place, job in jobs:
        spool.append(place, job)

    expected = [{**job, **where[place]} for place, job in jobs]
    for _ in range(2):
        assert [decoded(job) for job in spool.read(where)] == expected
    assert spool.n_jobs == len(jobs)


def test_a_job_that_is_larger_than_a_block_is_read_whole() -> None:
    spool = JobSpool()
    texts = ["x" * (3 * _spool.READ_BYTES), "", "y" * _spool.READ_BYTES]
    for text in texts:
        spool.append(0, {"stdin": text})

    assert [decoded(job)["stdin"] for job in spool.read([{}])] == texts


def test_arrays_count_as_their_jobs_and_may_be_cut() -> None:
    spool = JobSpool()
    spool.append(0, {})
    spool.append(1, {"count": 250_000, "index_from": 7})
    spool.append(0, {})

    assert (spool.n_documents, spool.n_jobs) == (3, 250_002)
    bunches = list(cut_bunches(spool.read([{}, {"group": 3}])))
    assert [(bunch.first, bunch.n_jobs) for bunch in bunches] == [
        (1, 1),
        (2, 100_000),
        (100_002, 100_000),
        (200_002, 50_001),
    ]
    assert decoded(bunches[2].jobs[0]) == {"count": 100_000, "index_from": 100_007, "group": 3}


@pytest.mark.slow
@pytest.mark.heavy
def test_many_jobs_take_little_memory() -> None:
    """Here 40 MiB of jobs: what is beyond the spool's own memory is on disk."""
    tracemalloc.start()
    try:
        spool = JobSpool()
        for number in range(200_000):
            spool.append(number % 2, {"name": f"job {number}", "stdin": "x" * 180})
        n_jobs = sum(bunch.n_jobs for bunch in cut_bunches(spool.read([{}, {"group": 1}])))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert n_jobs == 200_000
    assert spool.n_bytes > 40_000_000
    assert peak < 2 * _spool.MEMORY_BYTES
