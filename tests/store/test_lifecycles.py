"""Lifecycles on the database: every pair of statuses, what core moves bring, and what is kept."""

from itertools import product
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from builders import job_rows
from store.world import Worker, World
from weft.core.errors import (
    InvalidStatusTransition,
    LifecycleNotFound,
    LifecycleTaken,
    NoLifecycle,
    SetupNotFound,
    StatusBusy,
    UnknownStatus,
)
from weft.core.states import Reason
from weft_lines.rules.setup import parse_setup

HRSI = (Path(__file__).parents[2] / "examples" / "lifecycles" / "hrsi.toml").read_text()

REFERENCE = {
    1: [2, 13, 14, 16],
    2: [3, 13, 16],
    3: [4, 13, 14, 16],
    4: [5, 13],
    5: [6, 13, 14, 16],
    6: [7, 13, 14, 16],
    7: [8, 13, 14, 16],
    8: [9, 13, 14, 16],
    9: [10, 12, 13, 14, 16],
    10: [11, 13, 14, 16],
    11: [12],
    12: [13, 14],
    13: [13, 14, 15],
    14: [5, 13, 14, 15],
    15: list(range(1, 17)),
    16: [13],
}
"""Status, and what may follow it, as the trigger of the HR-S&I production lists them."""


async def line(world: World, n_jobs: int = 1, **rows: Any) -> int:  # noqa: ANN401 (as job_rows)
    """Submit a batch with the lifecycle."""
    found = parse_setup(HRSI)
    await world.api.save_setup(world.caller, "hrsi", HRSI, found)
    return await world.submit(job_rows(n_jobs, **rows), lifecycle="hrsi")


async def put(
    world: World, batch: int, status: str, job: int = 1, message: str | None = None
) -> Any:  # noqa: ANN401 (a document)
    return await world.api.change_status(world.caller, batch, job, status=status, message=message)


async def statuses(world: World, batch: int, job: int = 1) -> list[str]:
    """Return the statuses of a job in order; one that the table forbade in brackets."""
    rows = await world.api.job_history(world.caller, batch, job)
    return [
        f"({row['status']})" if row["subtype"] == "not allowed" else row["status"]
        for row in rows
        if "status" in row
    ]


async def both(world: World, batch: int, job: int = 1) -> tuple[str, str]:
    found = await world.api.get_job(world.caller, batch, job)
    return found["status"], found["state"]


@pytest.mark.heavy
async def test_every_pair_of_statuses_is_as_the_reference(world: World) -> None:
    """All 256: allowed or refused, which names both and what is allowed, and changes nothing."""
    batch = await line(world, 256)
    words = parse_setup(HRSI).lifecycles["hrsi"].statuses
    for job in range(1, 257):
        start, to = divmod(job - 1, 16)
        ways = {12: ["internal_error"], 14: ["internal_error", "error_checked"]}
        for word in ways.get(start, ["internal_error", "error_checked", words[start]]):
            await put(world, batch, word, job)
        if to + 1 in REFERENCE[start + 1]:
            assert (await put(world, batch, words[to], job))["status"] == words[to]
            continue
        before = await both(world, batch, job)
        with pytest.raises(InvalidStatusTransition) as raised:
            await put(world, batch, words[to], job)
        assert f'from "{words[start]}" to "{words[to]}"' in raised.value.message
        allowed = ", ".join(f'"{words[number - 1]}"' for number in REFERENCE[start + 1])
        assert raised.value.detail == f'From "{words[start]}" its lifecycle allows {allowed}.'
        assert await both(world, batch, job) == before


async def test_core_moves_bring_their_statuses(world: World) -> None:
    """What lies between is dated, too, and there is one row each."""
    batch = await line(world)
    assert await both(world, batch) == ("ready", "ready")
    worker, (claimed,) = await world.claim()
    assert await both(world, batch) == ("started", "running")
    await worker.start(claimed)
    await worker.end(claimed)
    assert await both(world, batch) == ("done", "success")
    assert await statuses(world, batch) == [
        "initialized",
        "configured",
        "ready",
        "queued",
        "started",
        "pre_processing",
        "processing",
        "post_processing",
        "processed",
        "done",
    ]
    rows = await world.api.job_history(world.caller, batch, 1)
    assert [row["actor"] for row in rows if "status" in row] == ["user ada"] * 3 + ["worker w"] * 7
    assert len({row["at"] for row in rows if "status" in row}) == 10


async def test_failed_job_is_checked_and_runs_again(world: World, worker: Worker) -> None:
    """A person walks it: checking changes the status alone, `ready` makes the core ready."""
    batch = await line(world)
    await worker.run(reason=Reason.EXIT)
    assert await both(world, batch) == ("internal_error", "failed")
    await put(world, batch, "error_checked", message="seen")
    assert await both(world, batch) == ("error_checked", "failed")
    assert (await put(world, batch, "ready"))["state"] == "ready"
    assert await worker.run() == [1]
    assert await both(world, batch) == ("done", "success")
    rows = await world.api.job_history(world.caller, batch, 1)
    assert [row["message"] for row in rows if row.get("status") == "error_checked"] == ["seen"]


async def test_table_forbids_and_the_status_stays(world: World) -> None:
    """A core that tries again by itself would lead through an error: that is noted."""
    batch = await line(world, max_attempts=2, retry_on=[Reason.EXIT])
    worker, (claimed,) = await world.claim_and_start()
    await worker.end(claimed, reason=Reason.EXIT)
    assert await both(world, batch) == ("processing", "ready")
    assert (await statuses(world, batch))[-1] == "(processing)"
    await worker.run()
    assert await both(world, batch) == ("done", "success")


async def test_running_core_is_not_moved_by_hand(world: World) -> None:
    batch = await line(world)
    worker, (claimed,) = await world.claim()
    assert (await put(world, batch, "internal_error"))["state"] == "running"
    await put(world, batch, "error_checked")
    assert (await put(world, batch, "done"))["state"] == "running"
    await worker.end(claimed)
    assert await both(world, batch) == ("done", "success")
    # After the end statuses leave the core.
    assert (await put(world, batch, "internal_error"))["state"] == "success"


async def test_waiting_core_ends_by_hand(world: World, worker: Worker) -> None:
    """As an error, or cancelled; both can be lifted."""
    batch = await line(world, 2)
    assert (await put(world, batch, "internal_error", message="no input"))["state"] == "error"
    found = await world.api.get_job(world.caller, batch, 1)
    assert (found["reason"], found["message"]) == ("system", "no input")
    assert (await put(world, batch, "cancelled", 2))["state"] == "cancelled"
    assert await worker.run() == []
    for job in (1, 2):
        for word in ("internal_error", "error_checked", "ready"):
            await put(world, batch, word, job)
    assert await worker.run() == [1, 2]


async def test_children_begin_pending(world: World, worker: Worker) -> None:
    batch = await line(world, 2, parents={2: [1]})
    assert await both(world, batch, 2) == ("initialized", "pending")
    await worker.run()
    assert await both(world, batch, 2) == ("ready", "ready")
    assert await worker.run() == [2]
    assert await both(world, batch, 2) == ("done", "success")


async def test_cancelled_batch_cancels_statuses(world: World) -> None:
    batch = await line(world, 700)  # more than are noted before they are written
    await world.api.cancel_jobs(world.caller, batch, range(2, 701))
    assert {await both(world, batch, job) for job in (2, 350, 700)} == {("cancelled", "cancelled")}
    assert await both(world, batch, 1) == ("ready", "ready")


async def test_history_cannot_change(world: World) -> None:
    """Not even by those who own the functions, nor by the owner of the table."""
    batch = await line(world)
    owner = await world.connect()
    changes = (
        "UPDATE weft.job_status_change SET status = 1",
        "DELETE FROM weft.job_status_change",
    )
    for role, change in product(("weft_tenant", "weft_system"), changes):
        await owner.execute(f"SET ROLE {role}")
        await owner.execute(f"SET weft.tenant = {world.caller.tenant_id}")
        with pytest.raises(asyncpg.PostgresError, match=r"permission denied|cannot change"):
            await owner.execute(f"{change} WHERE batch_id = {batch}")
        await owner.execute("RESET ROLE")
    with pytest.raises(asyncpg.PostgresError, match="cannot change"):
        await owner.execute("DELETE FROM weft.job_status_change WHERE batch_id = $1", batch)


async def test_what_is_not_there_is_refused(world: World) -> None:
    batch = await line(world)
    with pytest.raises(UnknownStatus, match="initialized, configured"):
        await put(world, batch, "gone")
    with pytest.raises(NoLifecycle):
        await put(world, await world.submit(), "ready")
    with pytest.raises(LifecycleNotFound):
        await world.submit(job_rows(1), lifecycle="gone")
    with pytest.raises(LifecycleNotFound):
        await world.api.get_lifecycle(world.caller, "gone")
    with pytest.raises(SetupNotFound):
        await world.api.get_setup(world.caller, "gone")
    with pytest.raises(LifecycleTaken):
        await world.api.save_setup(world.caller, "other", HRSI, parse_setup(HRSI))
    with pytest.raises(SetupNotFound):
        await world.api.remove_setup(world.caller, "other")


async def test_jobs_keep_their_lifecycle(world: World) -> None:
    """Saved again, it is another one; removed, jobs go on."""
    batch = await line(world)
    found = parse_setup(HRSI)
    assert await world.api.save_setup(world.caller, "hrsi", HRSI, found) == []
    changed = HRSI.replace("3 = [4, 13, 14, 16]", "3 = [4]")
    again = parse_setup(changed)
    assert await world.api.save_setup(world.caller, "hrsi", changed, again) == ["hrsi"]
    assert (await world.api.get_lifecycle(world.caller, "hrsi"))["next"]["ready"] == ["queued"]
    await world.api.remove_setup(world.caller, "hrsi")
    assert (await put(world, batch, "internal_error"))["status"] == "internal_error"


async def test_other_jobs_have_no_status(world: World) -> None:
    batch, _worker = await world.submit_and_run()
    assert "status" not in await world.api.get_job(world.caller, batch, 1)
    assert await statuses(world, batch) == []
    owner = await world.connect()
    assert (
        await owner.fetchval("SELECT count(*) FROM weft.job_status WHERE batch_id = $1", batch)
        == 0
    )


async def test_removed_batch_takes_its_history_along(world: World) -> None:
    batch = await line(world)
    owner = await world.connect()
    await owner.execute("UPDATE weft.batch SET removing = true WHERE batch_id = $1", batch)
    await owner.execute("DELETE FROM weft.job_status_change WHERE batch_id = $1", batch)
    await owner.execute("DELETE FROM weft.job_status WHERE batch_id = $1", batch)
    await owner.execute("UPDATE weft.job SET lifecycle_id = NULL WHERE batch_id = $1", batch)
    await owner.execute("UPDATE weft.batch SET removing = false WHERE batch_id = $1", batch)


async def test_core_that_others_change_is_busy(world: World) -> None:
    """Its children are still to be told of its end: nothing changes."""
    batch = await line(world)
    await (await world.worker()).run(reason=Reason.EXIT)
    await put(world, batch, "error_checked")
    owner = await world.connect()
    await owner.execute(
        "INSERT INTO weft.cascade (batch_id, job_id, tenant_id) VALUES ($1, 1, $2)",
        batch,
        world.caller.tenant_id,
    )
    with pytest.raises(StatusBusy):
        await put(world, batch, "ready")
    assert await both(world, batch) == ("error_checked", "failed")
    await owner.execute("DELETE FROM weft.cascade WHERE batch_id = $1", batch)
