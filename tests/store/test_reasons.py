"""Counts by reason: of the last attempts of failed jobs, in groups and sets, page by page."""

from collections.abc import Sequence

import pytest

from builders import job_rows
from store.world import Worker, World
from weft.core import errors
from weft.core.states import Reason
from weft.ports.store import Claimed, NewGroup

GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b"),
    NewGroup(group_id=3, name="s", is_set=True),
]


async def reasons(
    world: World, batch: int, group: int = 0, *, limit: int = 1000
) -> dict[str, int]:
    """Return the counts of all pages, by reason and exit code."""
    found: dict[str, int] = {}
    after: int | None = 0
    while after is not None:
        rows, after = await world.api.count_reasons(
            world.caller, batch, group, after=after, limit=limit
        )
        for row in rows:
            words = [row["state"], row["reason"], row["exit_code"], row["signal"]]
            key = " ".join(str(word) for word in words if word is not None)
            found[key] = found.get(key, 0) + row["n_jobs"]
    return found


async def end_some(worker: Worker, claimed: Sequence[Claimed]) -> None:
    """End the first job well, the second by exit, the third by its time limit, and so on."""
    await worker.end(*claimed[::4])
    await worker.end(*claimed[1::4], reason=Reason.EXIT, exit_code=3)
    await worker.end(*claimed[2::4], reason=Reason.TIMEOUT)
    await worker.end(*claimed[3::4], reason=Reason.BAD_SPEC)


async def test_reasons_are_counted_by_group_and_by_page(world: World, worker: Worker) -> None:
    batch = await world.submit(
        job_rows(13, group=[0, 1, 2] * 4 + [0], sets={2: (3,), 3: (3,), 4: (3,)}), groups=GROUPS
    )
    other = await world.submit(1)
    assert await reasons(world, batch) == {}
    claimed = [one for one in await worker.claim() if one.batch_id == batch]
    await end_some(worker, sorted(claimed, key=lambda one: one.job_id)[:12])

    whole = {"failed exit 3": 3, "error timeout": 3, "error bad_spec": 3}
    assert [await reasons(world, batch, limit=limit) for limit in (1, 2, 3, 9, 10)] == [whole] * 5
    assert await reasons(world, batch, 1) == {
        "failed exit 3": 2, "error timeout": 2, "error bad_spec": 2
    }  # fmt: skip
    assert await reasons(world, batch, 3) == {
        "failed exit 3": 1, "error timeout": 1, "error bad_spec": 1
    }  # fmt: skip
    assert await reasons(world, other) == {}
    rows, _ = await world.api.count_reasons(world.caller, batch, 0, after=0, limit=1000)
    assert [row["first_job"] for row in rows] == [2, 3, 4]


async def test_only_the_last_attempt_of_a_failed_job_counts(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(2, max_attempts=3, retry_on=[Reason.EXIT]))
    for first, second in ((1, 4), (2, 5), (None, 6)):
        one, two = sorted(await worker.claim(), key=lambda one: one.job_id)
        await worker.end(one, reason=Reason.EXIT if first else None, exit_code=first)
        await worker.end(two, reason=Reason.EXIT, exit_code=second)

    assert await world.states(batch) == "sf"
    assert await reasons(world, batch, limit=1) == {"failed exit 6": 1}


async def test_reasons_of_what_does_not_exist(world: World) -> None:
    batch = await world.submit(1)

    with pytest.raises(errors.GroupNotFound):
        await reasons(world, batch, 7)
    with pytest.raises(errors.BatchNotFound):
        await reasons(world, batch + 1_000_000)
