import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.client._upload import Bunch, cut_bunches, send_bunches


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 10), st.integers(1, 500))
def test_bunches_hold_all_jobs_in_order_within_the_limits(
    sizes: list[int], jobs_max: int, bytes_max: int
) -> None:
    jobs = [{"name": "x" * size, "n": n} for n, size in enumerate(sizes)]

    bunches = list(cut_bunches(jobs, jobs_max=jobs_max, bytes_max=bytes_max))

    found = [msgspec.msgpack.decode(bytes(job)) for _, bunch in bunches for job in bunch]
    assert found == jobs
    firsts = [first for first, _ in bunches]
    assert firsts == [1 + sum(len(b) for _, b in bunches[:i]) for i in range(len(bunches))]
    for _, bunch in bunches:
        assert len(bunch) <= jobs_max
        assert len(bunch) == 1 or sum(map(len, map(bytes, bunch))) <= bytes_max


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
        sent.append(bunch[0])
        under_way -= 1

    bunches = cut_bunches(({"n": n} for n in range(20)), jobs_max=2)
    await send_bunches(bunches, send, parallel=3)

    assert most == 3
    assert sorted(sent) == list(range(1, 20, 2))


async def test_the_first_error_ends_the_upload() -> None:
    async def send(bunch: Bunch) -> None:
        raise ValueError(bunch[0])

    with pytest.raises(ValueError, match="1"):
        await send_bunches(cut_bunches({"n": n} for n in range(9)), send, parallel=3)

    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
