"""Retries that ask for more than the attempt before."""

from typing import Any

import pytest

from builders import job_rows, key_of, with_fields
from store.retries import A_MINUTE, release, retry
from store.test_resubmissions import copy
from store.world import Worker, World
from weft.core.queues import Queue
from weft.core.scheduling.time_limits import ASK as TIME_LIMIT
from weft.core.states import Reason
from weft.ports.store import JobRows, Shape
from weft.submission.translation.retries import ASKS_MORE, CURABLE
from weft.wire.spec import JobSpec, encode_chunk

OOM = {"after": 1, "reasons": [int(Reason.OOM)], "size": "memory_mib", "values": [512, 1024, 2048]}


def asking(world: World, *rules: dict[str, Any], others: int = 0, waits: bool = False) -> JobRows:
    """Return a job with these rules, and the shapes that it may ask for."""
    sizes = [512, 1024, 2048]
    words = (("pool", world.pool),)
    shapes = [Shape(memory_mib=size, words=words) for size in sizes]
    rows = job_rows(1 + others, max_attempts=9, retry_on=CURABLE, shapes=shapes)
    rows.retry_on = [rows.retry_on[0] | ASKS_MORE | waits]
    more: dict[str, Any] = {"more": [*rules]}
    if waits:
        more["retry"] = A_MINUTE
    return with_fields(rows, j1=more)


async def end(worker: Worker, reason: Reason) -> int:
    """Let the worker run its one job until that ends so; return the memory that it had."""
    (one,) = await worker.claim_and_start()
    await worker.end(one, reason=reason)
    return one.memory_mib


async def test_a_retry_after_oom_asks_for_more_memory(world: World, worker: Worker) -> None:
    batch = await world.submit(asking(world, OOM))

    assert [await end(worker, Reason.OOM) for _ in range(4)] == [512, 1024, 2048, 2048]
    assert await world.states(batch) == "r"
    history = await world.api.job_history(world.caller, batch, 1)
    assert [one["message"] for one in history if one["subtype"] == "more"] == [
        "1024Mi of memory instead of 512Mi",
        "2048Mi of memory instead of 1024Mi",
    ]


async def test_only_the_ends_of_a_rule_count(world: World, worker: Worker) -> None:
    rule = {**OOM, "reasons": [], "exits": [[3, 5]], "signals": [10], "after": 2}
    await world.submit(asking(world, rule))
    ends = [
        (Reason.OOM, None, None),
        (Reason.EXIT, 6, None),
        (Reason.EXIT, 3, None),
        (Reason.SIGNAL, None, 9),
        (Reason.EXIT, 5, None),
        (Reason.EXIT, 1, None),
    ]
    had = []
    for reason, code, signal in ends:
        (one,) = await worker.claim()
        had.append(one.memory_mib)
        await worker.end(one, reason=reason, exit_code=code, signal=signal)

    assert had == [512, 512, 512, 512, 512, 1024]


async def test_what_no_worker_can_hold_is_not_asked_for(world: World) -> None:
    worker = await world.worker(memory_mib=1500)
    batch = await world.submit(
        asking(
            world,
            {**OOM, "values": [512, 2048]},
            {"after": 1, "reasons": [int(Reason.OOM)], "size": "cpu_m", "values": [1000, 1000]},
        )
    )
    small = [await end(worker, Reason.OOM) for _ in range(2)]
    (first, *_) = [
        one
        for one in await world.api.job_history(world.caller, batch, 1)
        if one["subtype"] == "more"
    ]
    large = await world.worker("large", memory_mib=2048)
    same = await end(worker, Reason.OOM)

    assert (small, same) == ([512, 512], 512)
    assert first["message"] == "its pool has nothing that holds all that retry_with asks for"
    assert await end(large, Reason.OOM) == 2048


async def test_a_job_that_waits_before_its_retry_has_the_new_shape_at_once(world: World) -> None:
    worker = await world.worker()
    batch = await world.submit(asking(world, OOM, waits=True))
    await end(worker, Reason.OOM)
    blocked = await world.states(batch)
    job = await world.job(batch)
    await world.fold()

    assert (blocked, job["memory_mib"]) == ("b", 1024)
    assert await world.findings() == {}
    await release(world, in_s=61)
    assert await end(worker, Reason.OOM) == 1024


async def test_costs_and_the_document_show_what_each_attempt_had(world: World) -> None:
    worker = await world.worker()
    batch = await world.submit(asking(world, OOM))
    for _ in range(2):
        await end(worker, Reason.OOM)
    attempts = await world.api.list_attempts(world.caller, batch, 1)
    job = await world.api.get_job(world.caller, batch, 1)

    assert job["cost"] == pytest.approx(sum(one["cost"] for one in attempts), rel=1e-3)
    assert job["resources"]["memory"] == 2048 << 20
    assert "more" not in job


async def test_a_retry_by_a_person_asks_for_more_too(world: World, worker: Worker) -> None:
    rows = asking(world, OOM)
    rows.max_attempts = [1]
    batch = await world.submit(rows)
    await end(worker, Reason.OOM)
    assert await retry(world, batch) == 1

    assert await end(worker, Reason.OOM) == 1024


async def test_a_job_is_no_longer_preemptible_after_its_rule(world: World) -> None:
    stays = await world.worker("stays")
    spot = await world.worker("spot", preemptible=["yes"])
    words = {"pool": world.pool, "preemptible": "yes"}
    rows = job_rows(1, shapes=[Shape(words=tuple(sorted(words.items())))])
    rows.retry_on = [ASKS_MORE]
    rule = {
        "after": 1,
        "reasons": [int(Reason.PREEMPTED)],
        "word": "preemptible",
        "values": ["yes", None],
    }
    batch = await world.submit(with_fields(rows, j1={"more": [rule], "preemptible": True}))
    bears = "SELECT weft._is_preemptible(j) FROM weft.job j WHERE batch_id = $1"
    before = await world.admin.fetchval(bears, batch)
    await end(spot, Reason.PREEMPTED)

    assert before
    assert not await world.admin.fetchval(bears, batch)
    assert await spot.claim() == []
    assert await stays.run() == [1]
    (told,) = [
        one
        for one in await world.api.job_history(world.caller, batch, 1)
        if one["subtype"] == "more"
    ]
    assert told["message"] == "it is no longer preemptible"


async def test_a_job_that_moves_to_another_queue_can_still_have_more(world: World) -> None:
    queue = Queue(name=f"slow-{world.pool}", priority=1, pools=(world.pool,))
    await world.api.save_queues(world.caller, [queue])
    worker = await world.worker(queue=[queue.name])
    batch = await world.submit(asking(world, OOM))
    moved = await world.api.move_jobs(world.caller, batch, [1], queue=queue.name, pool=world.pool)

    assert moved == 1
    assert [await end(worker, Reason.OOM) for _ in range(2)] == [512, 1024]


async def test_a_resubmitted_job_in_another_queue_can_have_more(world: World) -> None:
    queue = Queue(name=f"other-{world.pool}", priority=1, pools=(world.pool,))
    await world.api.save_queues(world.caller, [queue])
    batch = await world.submit(asking(world, OOM))
    words = {"queue": queue.name, "pool": world.pool}
    await copy(world, batch, words=words)
    await world.api.cancel_jobs(world.caller, batch, [1])
    worker = await world.worker(queue=[queue.name])

    assert [await end(worker, Reason.OOM) for _ in range(2)] == [512, 1024]


LIMITS_MS = [60_000, 120_000, 200_000]
CLASSES = ["60-60", "120-120", "120-300"]


def timed(world: World, n_jobs: int = 1) -> JobRows:
    """Return jobs whose time limit doubles from 60 s up to 200 s."""
    words = [(("pool", world.pool), (TIME_LIMIT, one)) for one in CLASSES]
    shapes = [Shape(words=tuple(sorted(own))) for own in words]
    rows = job_rows(n_jobs, max_attempts=9, retry_on=CURABLE, shapes=shapes)
    rows.chunk_body = [encode_chunk([JobSpec(timeout_s=60)] * n_jobs)]
    rows.retry_on = [one | ASKS_MORE for one in rows.retry_on]
    rule = {
        "after": 1,
        "reasons": [int(Reason.TIMEOUT)],
        "word": TIME_LIMIT,
        "values": CLASSES,
        "limits_ms": LIMITS_MS,
    }
    return with_fields(rows, **{f"j{one}": {"more": [rule]} for one in range(1, n_jobs + 1)})


async def test_a_retry_after_a_timeout_may_run_longer(world: World, worker: Worker) -> None:
    """Its worker is told the limit of each attempt, and its lane says the class of it."""
    batch = await world.submit(timed(world))
    asks = """SELECT l.asks ->> 'timeout_s' FROM weft.job j JOIN weft.lane l USING (lane_id)
        WHERE j.batch_id = $1"""
    had = []
    for reason in (Reason.TIMEOUT, Reason.EXIT, Reason.TIMEOUT, Reason.TIMEOUT, Reason.EXIT):
        (one,) = await worker.claim_and_start()
        (limit,) = (await worker.store.list_time_limits([key_of(one)])).values()
        shown = (await world.api.get_job(world.caller, batch, 1))["spec"].timeout_s
        had.append((limit, shown, await world.admin.fetchval(asks, batch)))
        await worker.end(one, reason=reason)
    waiting = await world.api.get_job(world.caller, batch, 1)
    late = await worker.store.list_time_limits([(batch, 1, n) for n in range(1, 6)])

    first, second, last = zip(LIMITS_MS, (60, 120, 200), CLASSES, strict=True)
    assert had == [first, second, second, last, last]
    assert [late[batch, 1, n] for n in range(1, 6)] == [limit for limit, _, _ in had]
    assert waiting["spec"].timeout_s == 200
    assert [
        one["message"]
        for one in await world.api.job_history(world.caller, batch, 1)
        if one["subtype"] == "more"
    ] == [
        "a time limit of 120 s instead of 60 s",
        "a time limit of 200 s instead of 120 s",
    ]


@pytest.mark.parametrize(("tries", "shown"), [(2, 120), (1, 60)])
async def test_a_job_shows_the_time_limit_of_its_next_attempt_or_of_its_last(
    world: World, worker: Worker, tries: int, shown: int
) -> None:
    rows = timed(world)
    rows.max_attempts = [tries]
    batch = await world.submit(rows)
    await end(worker, Reason.TIMEOUT)

    assert (await world.api.get_job(world.caller, batch, 1))["spec"].timeout_s == shown


@pytest.mark.parametrize(
    ("changes", "limit_s", "asked", "next_s"),
    [
        ({}, 60, "60-60", 120),
        ({"timeout_s": 900}, 900, "900-900", 900),
    ],
)
async def test_a_resubmitted_job_begins_with_its_own_time_limit(
    world: World, worker: Worker, changes: dict[str, Any], limit_s: int, asked: str, next_s: int
) -> None:
    """One that is given to it ends the rule."""
    batch = await world.submit(timed(world))
    await end(worker, Reason.TIMEOUT)
    new = await copy(world, batch, **changes)
    await world.api.cancel_jobs(world.caller, batch, [1])
    asks = """SELECT h.countables ->> 'timeout_s'
        FROM weft.job JOIN weft.shape h USING (shape_id) WHERE batch_id = $1"""
    begins = (await world.api.get_job(world.caller, new, 1))["spec"].timeout_s
    word = await world.admin.fetchval(asks, new)
    await end(worker, Reason.TIMEOUT)

    assert (begins, word) == (limit_s, asked)
    assert (await world.api.get_job(world.caller, new, 1))["spec"].timeout_s == next_s


@pytest.mark.parametrize("reason", [Reason.OOM, Reason.TIMEOUT])
async def test_the_audit_finds_a_retry_that_has_less(world: World, reason: Reason) -> None:
    """Less memory, or less time."""
    worker = await world.worker()
    batch = await world.submit(asking(world, OOM) if reason is Reason.OOM else timed(world))
    await end(worker, reason)
    await end(worker, reason)
    swap = "UPDATE weft.attempt SET shape_id = ($2::bigint[])[3 - attempt] WHERE batch_id = $1"
    shapes = [one["shape_id"] for one in await world.attempts(batch)]
    broken = await world.findings_after(swap, batch, shapes)

    assert "retries_ask_for_more" in broken


async def test_why_says_that_a_retry_asked_for_more(world: World, worker: Worker) -> None:
    batch = await world.submit(asking(world, OOM))
    await end(worker, Reason.OOM)
    (why,) = await world.api.why_jobs(world.caller, batch, [1])

    assert why.more == "1024Mi of memory instead of 512Mi"
