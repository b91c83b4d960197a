"""The history of a job: every change dated once, in order, with who made it and why."""

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from builders import job_rows, tree
from store.world import Worker, World
from weft.core.states import Reason


async def history(world: World, batch: int, job: int = 1) -> list[Any]:
    rows = await world.api.job_history(world.caller, batch, job)
    dates = [datetime.fromisoformat(row["at"]) for row in rows]
    assert dates == sorted(dates)
    # Each change begins where the one before it ended.
    assert all(one["to"] == other["from"] for one, other in pairwise(rows))
    state = (await world.api.get_job(world.caller, batch, job))["state"]
    assert rows[-1]["to"] == state
    return list(rows)


def short(rows: list[Any]) -> list[tuple[Any, ...]]:
    return [(row["from"], row["to"], row["attempt"], row["subtype"]) for row in rows]


async def test_job_that_succeeds(world: World) -> None:
    batch, worker, (claimed,) = await world.submit_and_start()
    await worker.end(claimed)
    rows = await history(world, batch)

    assert short(rows) == [
        (None, "ready", None, "update 1"),
        ("ready", "running", 1, None),
        ("running", "running", 1, None),
        ("running", "success", 1, None),
    ]
    assert [row["actor"] for row in rows] == ["user ada"] + ["worker w"] * 3


async def test_job_that_is_lost_and_retried(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(max_attempts=2, retry_on=[Reason.EXIT]))
    for reason in (Reason.LOST, Reason.EXIT, Reason.OOM):
        await worker.run(reason=reason)
    rows = await history(world, batch)

    assert short(rows)[1:] == [
        change
        for attempt, (to, why) in enumerate(
            [("ready", "lost"), ("ready", "exit"), ("error", "oom")], 1
        )
        for change in (
            ("ready", "running", attempt, None),
            ("running", "running", attempt, None),
            ("running", to, attempt, why),
        )
    ]


async def test_child_that_waits(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(2, parents={2: [1]}))
    pending = short(await history(world, batch, 2))
    await worker.run()
    await worker.run(reason=Reason.LOST)

    assert pending == [(None, "pending", None, "update 1")]
    assert short(await history(world, batch, 2)) == [
        (None, "pending", None, "update 1"),
        ("pending", "ready", None, "parents ended"),
        ("ready", "running", 1, None),
        ("running", "running", 1, None),
        ("running", "ready", 1, "lost"),
    ]


@pytest.mark.parametrize("waits_for_parent", [False, True])
async def test_cancelled_by_a_group(world: World, *, waits_for_parent: bool) -> None:
    parents = {2: [1]} if waits_for_parent else {}
    batch = await world.submit(job_rows(2, parents=parents, group=[0, 1]), groups=tree("a"))
    await world.cancel(batch, 1)
    last = (await history(world, batch, 2))[-1]

    before = "pending" if waits_for_parent else "ready"
    assert (last["from"], last["to"], last["actor"], last["subtype"]) == (
        before,
        "cancelled",
        "user ada",
        "group /a",
    )


async def test_ready_child_that_is_cancelled(world: World) -> None:
    batch, _worker = await world.submit_and_run(job_rows(2, parents={2: [1]}))
    await world.cancel(batch)

    assert short(await history(world, batch, 2))[-2:] == [
        ("pending", "ready", None, "parents ended"),
        ("ready", "cancelled", None, "group /"),
    ]


async def test_ready_again_then_cancelled(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(2)
    await world.api.cancel_jobs(world.caller, batch, [1])
    await worker.end(one, reason=Reason.LOST)
    await world.api.cancel_group(world.caller, batch, 0, force=False)
    await worker.end(two, reason=Reason.LOST)
    await world.sweep()

    for job in (1, 2):
        rows = await history(world, batch, job)
        assert [row["to"] for row in rows] == ["ready", "running", "running", "ready", "cancelled"]
        assert rows[-1]["actor"] == "user ada"


async def test_single_job_cancelled_while_it_waits(world: World) -> None:
    batch = await world.submit(1)
    await world.api.cancel_jobs(world.caller, batch, [1])
    last = (await history(world, batch))[-1]

    assert (last["from"], last["to"], last["actor"]) == ("ready", "cancelled", "user ada")
    assert last["message"] == "cancelled by its user"


async def test_cancelled_job_of_a_failed_parent_in_a_cancelled_group(world: World) -> None:
    """Both would end it; the history names what did."""
    batch, worker, (one, two) = await world.submit_and_claim(job_rows(3, parents={3: [1, 2]}))
    await worker.end(one, reason=Reason.EXIT)
    await world.cancel(batch)
    await worker.end(two, reason=Reason.CANCELLED)
    rows = await history(world, batch, 3)

    assert [row["to"] for row in rows] == ["pending", "cancelled"]


async def test_times_of_a_job_add_up(world: World) -> None:
    """Waiting, starting and running fill the time from ready to the end."""
    batch, worker = await world.submit_and_run(
        job_rows(2, parents={2: [1]}, max_attempts=2, retry_on=[Reason.EXIT])
    )
    await worker.run(reason=Reason.EXIT)
    await worker.run(reason=Reason.LOST)
    await worker.run()
    for job in (1, 2):
        document = await world.api.get_job(world.caller, batch, job)
        begin = datetime.fromisoformat(document["ready_at"])
        whole = (datetime.fromisoformat(document["ended_at"]) - begin).total_seconds() * 1000
        times = document["times"]

        assert min(times.values()) >= 0
        assert sum(times.values()) == pytest.approx(whole, abs=5)
