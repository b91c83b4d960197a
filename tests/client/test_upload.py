import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.client.submission.upload import Bunch, cut_bunches, send_bunches


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
        (1, 1, [0]), (2, 100, [1]), (102, 100, [1]), (202, 51, [1, 2]),
    ]  # fmt: skip
    parts = [job for bunch in bunches for job in _documents(bunch) if job["name"] == "b"]
    assert [(part["index_from"], part["count"]) for part in parts] == [
        (7, 100), (107, 100), (207, 50)
    ]  # fmt: skip


def test_values_are_cut_with_their_array() -> None:
    values = [str(n) for n in range(250)]
    jobs: list[dict[str, Any]] = [
        {"values": values, "index_from": 7},
        {"values": ["x" * 2**20] * 3},
    ]

    bunches = list(cut_bunches(jobs, part_max=100))

    parts = [job for bunch in bunches for job in _documents(bunch)]
    assert [(part["index_from"], len(part["values"])) for part in parts] == [
        (7, 100), (107, 100), (207, 50), (0, 1), (1, 1), (2, 1)
    ]  # fmt: skip
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
