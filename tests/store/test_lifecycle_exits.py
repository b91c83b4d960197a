"""Lifecycles: what exit codes mean, and how long a status may last."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from builders import job_rows
from store.retries import fail, release
from store.test_lifecycles import HRSI, both, line, put, statuses
from store.test_monitor import look, phase
from store.test_recovery import save
from store.world import Worker, World
from weft.core.errors import InvalidStatusTransition
from weft.core.states import Phase, Reason
from weft.ports.store import Claimed, Shape
from weft_lines.rules.setup import parse_setup

STARTED = ["queued", "started", "pre_processing", "processing"]
BEGUN = ["initialized", "configured", "ready"]


async def end(worker: Worker, code: int) -> None:
    """Claim the job, start it and end it with a code."""
    (claimed,) = await worker.claim_and_start()
    if code:
        await fail(worker, claimed, code=code)
    else:
        await worker.end(claimed)


async def subtypes(world: World, batch: int) -> list[tuple[str, str]]:
    rows = await world.api.job_history(world.caller, batch, 1)
    return [
        (row["status"], row["subtype"]) for row in rows if row.get("status") and row["subtype"]
    ]


async def test_external_error_is_tried_again_from_its_status(world: World, worker: Worker) -> None:
    """As section 5 of the reference: external_error, then started again, and done."""
    batch = await line(world)
    await end(worker, 130)
    assert await both(world, batch) == ("external_error", "blocked")
    await release(world, in_s=3600)
    assert await both(world, batch) == ("external_error", "ready")
    await end(worker, 0)
    assert await statuses(world, batch) == [
        *BEGUN,
        *STARTED,
        "external_error",
        *STARTED[1:],
        "post_processing",
        "processed",
        "done",
    ]
    assert await subtypes(world, batch) == [("external_error", "SIP expected error")]


async def test_a_blocked_job_goes_back_to_its_first_status(world: World, worker: Worker) -> None:
    """`initialized` is a status of pending jobs, and one that is blocked waits no longer."""
    batch = await line(world)
    await end(worker, 130)
    await put(world, batch, "error_checked")
    await put(world, batch, "initialized")
    assert await both(world, batch) == ("initialized", "ready")
    rows = await world.api.job_history(world.caller, batch, 1)
    told = [(row["actor"], row["subtype"]) for row in rows if row["to"] == "ready" != row["from"]]
    assert told == [("user ada", "update 1"), ("user ada", "status")]
    await end(worker, 0)
    assert await both(world, batch) == ("done", "success")


async def test_a_blocked_job_is_not_made_ready_in_a_closed_queue(world: World) -> None:
    batch = await line(world, shapes=[await save(world, "enabled")])
    await end(await world.worker(), 130)
    await put(world, batch, "error_checked")
    await save(world, "closed")
    with pytest.raises(InvalidStatusTransition, match="Its queue is closed"):
        await put(world, batch, "ready")
    assert await both(world, batch) == ("error_checked", "blocked")


async def test_short_run_dates_what_lies_between(world: World) -> None:
    """It reports its start with its end: also while its files were being brought."""
    batch = await line(world)
    worker, (claimed,) = await world.claim()
    await worker.store.record_phases(worker.id, [phase(claimed, Phase.STAGING_INPUTS)])
    await fail(worker, claimed, code=130)
    assert await statuses(world, batch) == [*BEGUN, *STARTED, "external_error"]


async def test_a_phase_is_dated_by_its_age(world: World) -> None:
    """Its report is sent later, maybe when the attempt has ended already."""
    batch = await line(world)
    worker, (claimed,) = await world.claim()
    entered = replace(phase(claimed, Phase.STAGING_INPUTS), age_us=3_600_000_000)
    reported_at = datetime.now(UTC)
    assert await worker.store.record_phases(worker.id, [entered]) == ["ok"]
    rows = await world.api.job_history(world.caller, batch, 1)
    (entered_at,) = [row["at"] for row in rows if row.get("status") == "pre_processing"]
    assert datetime.fromisoformat(entered_at) < reported_at


async def test_statuses_of_a_short_run_lie_within_it(world: World, worker: Worker) -> None:
    batch = await line(world)
    await fail(worker, *await worker.claim())
    rows = await world.api.job_history(world.caller, batch, 1)
    (ended_at,) = [row["at"] for row in rows if row["from"] == "running" != row["to"]][:1]
    assert all(row["at"] <= ended_at for row in rows if row.get("status") in STARTED)


async def test_every_error_says_in_its_status_why(world: World, worker: Worker) -> None:
    """A code without a rule is as ever otherwise: the first of them has one."""
    kinds = [reason for reason in Reason if reason is not Reason.CANCELLED]
    expected = {Reason.EXIT: "exit code 250", Reason.LOST: "dated at its last heartbeat"}
    batch = await line(world, len(kinds), max_attempts=1)
    for reason, claimed in zip(kinds, await worker.claim(len(kinds)), strict=True):
        code = 250 if reason is Reason.EXIT else None
        await worker.end(claimed, reason=reason, exit_code=code)
        rows = await world.api.job_history(world.caller, batch, claimed.job_id)
        said = [row["message"] for row in rows if "status" in row and row["message"]]
        assert expected.get(reason, reason.word) in " ".join(said), (reason, rows)
    assert await both(world, batch) == ("internal_error", "failed")
    assert await subtypes(world, batch) == []


async def test_status_that_a_person_set_stays_when_a_short_run_fails(world: World) -> None:
    batch = await line(world)
    worker, (claimed,) = await world.claim()
    for word in ("internal_error", "error_checked"):
        await put(world, batch, word)
    await fail(worker, claimed, code=130)
    assert (await statuses(world, batch))[5:] == [
        "internal_error",
        "error_checked",
        "external_error",
    ]


async def test_third_external_error_is_an_internal_one(world: World, worker: Worker) -> None:
    """Another code between them counts for its own rule; a retry by hand begins anew."""
    batch = await line(world)
    for code in (130, 7, 199, 100):
        await end(worker, code)
        await release(world, in_s=3600)
    assert await both(world, batch) == ("internal_error", "failed")
    assert [word for word, _ in await subtypes(world, batch)] == [
        "external_error",
        "internal_error",
        "external_error",
        "internal_error",
    ]
    await put(world, batch, "error_checked")
    await put(world, batch, "ready")
    await end(worker, 130)
    assert await both(world, batch) == ("external_error", "blocked")


async def test_internal_error_is_checked_and_tried_again(world: World, worker: Worker) -> None:
    batch = await line(world)
    await end(worker, 1)
    assert await both(world, batch) == ("internal_error", "blocked")
    await release(world, in_s=3600)
    assert await both(world, batch) == ("ready", "ready")
    for _ in range(2):
        await end(worker, 1)
        await release(world, in_s=3600)
    assert await both(world, batch) == ("internal_error", "failed")
    assert (await statuses(world, batch))[7:11] == [
        "internal_error",
        "error_checked",
        "ready",
        "queued",
    ]


async def test_no_product_is_a_success(world: World, worker: Worker) -> None:
    batch = await line(world)
    await end(worker, 203)
    assert await both(world, batch) == ("done", "success")
    assert await subtypes(world, batch) == [("done", "no product")]


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
    assert await reasons(world, batch) == [
        (
            "time limit",
            "phase executing took longer than 16200 s; stopped 1 of 3 times",
        )
    ]
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
        batch,
        datetime.now(UTC) + timedelta(minutes=in_min),
    )
    return sum(row["n_jobs"] for row in rows)
