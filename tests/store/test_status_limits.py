"""Jobs that have a status for longer than their lifecycle allows, and lost attempts."""

from datetime import UTC, datetime, timedelta

from builders import job_rows
from store.test_lifecycle_exits import BEGUN, STARTED
from store.test_lifecycles import HRSI, both, put, statuses
from store.test_monitor import look
from store.world import Worker, World
from weft.core.states import Reason
from weft.extensions.lines.rules.setup import parse_setup
from weft.ports.store import Claimed, Shape

PATH = ["internal_error", "error_checked", "ready"]
LIMITED = HRSI.replace('queued = "60m"', 'ready = "60m"')


async def submitted(world: World, rounds: int = 3, text: str = HRSI) -> int:
    """Submit a job with the lifecycle of the reference, for our own worker."""
    text = text.replace("rounds = 3", f"rounds = {rounds}")
    await world.api.save_setup(world.caller, "hrsi", text, parse_setup(text))
    shape = Shape(words=(("pool", world.pool),))
    return await world.submit(job_rows(1, shapes=[shape]), lifecycle="hrsi")


async def begun(world: World, rounds: int = 3) -> tuple[int, Worker, Claimed]:
    """Submit such a job, which our worker runs, and says so."""
    batch, worker = await submitted(world, rounds), await world.worker(world.pool)
    (one,) = await worker.claim_and_start()
    await worker.beat(one)
    return batch, worker, one


async def reasons(world: World, batch: int) -> list[tuple[str, str]]:
    rows = await world.api.job_history(world.caller, batch, 1)
    return [
        (row["subtype"], row["message"]) for row in rows if row.get("status") and row["subtype"]
    ]


async def test_attempt_beyond_the_limit_of_its_status_walks_the_path(world: World) -> None:
    """It is blocked until its worker has stopped it; then it is ready, and runs again."""
    batch, worker, one = await begun(world)
    assert await look(world, in_s=269 * 60) == []
    (row,) = await look(world, in_s=271 * 60)
    assert row["goes_on"]
    assert await both(world, batch) == ("error_checked", "blocked")
    await worker.end(one)
    await look(world)
    assert await both(world, batch) == ("ready", "ready")
    assert (await statuses(world, batch))[len(BEGUN + STARTED) :] == PATH
    assert await reasons(world, batch) == [(
        "time limit", "phase executing took longer than 16200 s; stopped 1 of 3 times",
    )]  # fmt: skip
    (again,) = await worker.claim_and_start()
    await worker.end(again)
    assert await both(world, batch) == ("done", "success")


async def test_after_all_rounds_the_job_is_an_error(world: World) -> None:
    batch, *_ = await begun(world, rounds=0)
    (row,) = await look(world, in_s=271 * 60)
    assert not row["goes_on"]
    assert await both(world, batch) == ("internal_error", "error")
    ((subtype, message),) = await reasons(world, batch)
    assert subtype == "time limit"
    assert message.startswith("phase executing took longer than 16200 s")


async def test_attempt_that_its_worker_does_not_know_walks_the_path_of_the_lost(
    world: World,
) -> None:
    batch, worker, _ = await begun(world)
    await worker.beat()
    (row,) = await look(world, in_s=301)
    assert row["message"].startswith("its worker has not named it for 300 s")
    await worker.beat()
    await look(world)
    assert await both(world, batch) == ("ready", "ready")
    assert [subtype for subtype, _ in await reasons(world, batch)] == [
        "executor does not know the attempt"
    ]


async def test_attempt_of_a_lost_worker_walks_it_too(world: World) -> None:
    batch, worker, one = await begun(world)
    await worker.end(one, reason=Reason.LOST)
    assert await both(world, batch) == ("ready", "ready")
    assert (await statuses(world, batch))[len(BEGUN + STARTED) :] == PATH


async def test_job_that_waits_for_too_long_goes_round_and_ends(world: World) -> None:
    """`queued` of the reference is a job that is offered; here it is one that is ready."""
    batch = await submitted(world, 1, LIMITED)
    assert await limited(world, batch, 59) == 0
    assert await both(world, batch) == ("ready", "ready")
    assert await limited(world, batch, 61) == 0
    assert (await statuses(world, batch))[-4:] == ["ready", *PATH]
    assert await reasons(world, batch) == [("time limit", "it was ready for longer than 3600 s")]
    assert await limited(world, batch, 125) == 1
    assert await both(world, batch) == ("internal_error", "error")


async def test_rounds_begin_again_when_a_person_sets_the_status(world: World) -> None:
    batch = await submitted(world, 1, LIMITED)
    assert [await limited(world, batch, late) for late in (61, 125)] == [0, 1]
    for status in ("error_checked", "ready"):
        await put(world, batch, status)
    assert [await limited(world, batch, late) for late in (190, 260)] == [0, 1]


async def limited(world: World, batch: int, in_min: float) -> int:
    """Look at the batch as the patrol does, later; return how many jobs were ended."""
    rows = await world.admin.fetch(
        "SELECT * FROM weft._limit_statuses($1, 0, 100, $2)",
        batch, datetime.now(UTC) + timedelta(minutes=in_min),
    )  # fmt: skip
    return sum(row["n_jobs"] for row in rows)
