"""What running jobs are told: signals, and longer time limits."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from builders import job_rows
from store.world import Worker, World
from weft.core import errors
from weft.core.states import AttemptKey, Command, Reason
from weft.ports.store import Action, Claimed, Origin, acting
from weft.store.worker_store import _attempts


async def told(
    world: World, worker: Worker, *claimed: Claimed
) -> tuple[list[tuple[AttemptKey, int | None, int]], bool]:
    found, asks_again = await _list(world, worker, *claimed)
    return [(one.key, one.signal, one.extra_ms) for one in found], asks_again


async def _list(world: World, worker: Worker, *claimed: Claimed) -> tuple[list[Command], bool]:
    keys = [(one.batch_id, one.job_id, one.attempt) for one in claimed]
    found, asks_again = await world.backend.worker_store().list_commands(worker.id, keys)
    return list(found), asks_again


async def signalled(world: World, batch: int, job: int = 1, key: str | None = None) -> int:
    origin = Origin(trace_id="", key=key, digest=b"signal")
    asked = Action(caller=world.caller, name="x", path="", trace_id="ab" * 16, origin=origin)
    with acting(asked if key else None):
        return await world.api.signal_job(world.caller, batch, job, signal=10, word="USR1")


async def history(world: World, batch: int) -> list[tuple[str, str]]:
    rows = await world.api.job_history(world.caller, batch, 1)
    told_of = {"signal", "message", "extended"}
    return [(row["subtype"], row["message"]) for row in rows if row["subtype"] in told_of]


async def test_signal_goes_to_the_attempt_that_runs(world: World) -> None:
    batch = await world.submit(job_rows(2))
    worker, other = await world.worker(), await world.worker("other")
    one, two = await worker.claim(2)
    await worker.start(one)
    attempt = await signalled(world, batch)
    found, asks_again = await _list(world, worker, one, two)
    elsewhere, _ = await _list(world, other, one)
    store = world.backend.worker_store()
    answers = [(found[0].number, found[0].key, "")]
    await store.acknowledge_commands(other.id, answers)
    await store.acknowledge_commands(worker.id, answers)
    await store.acknowledge_commands(worker.id, answers)

    assert attempt == 1
    assert [(one.key, one.signal) for one in found] == [(AttemptKey(batch, 1, 1), 10)]
    assert (elsewhere, asks_again) == ([], False)
    assert await history(world, batch) == [("signal", "USR1 was delivered")]
    assert await told(world, worker, one) == ([], False)


async def test_of_two_requests_with_a_key_at_once_one_is_made(world: World) -> None:
    """A day later it is made again, and then known for another day."""
    batch, *_ = await world.submit_and_start(job_rows(1), limit=1)
    signal = partial(signalled, world, batch, key="once")
    aged = partial(world.age, "answered_request", "at", by_s=90_000, user_id=world.caller.user_id)
    async with world.transaction() as other:
        await other.execute("SELECT FROM weft.job WHERE batch_id = $1 FOR UPDATE", batch)
        both = asyncio.gather(signal(), signal())
        await world.until_somebody_waits(2)
    made = [*await both, await world.admin.fetchval(_WAITING, batch)]
    await aged()
    made += await signal(), await signal(), await world.admin.fetchval(_WAITING, batch)
    await aged()
    await world.driver.remove_old(await world.lead(), events_keep_s=1e6, updates_keep_s=1e6)

    assert made == [1, 1, 1, 1, 1, 2]
    assert await world.admin.fetchval("SELECT count(*) FROM weft.answered_request") == 0


async def test_signal_that_comes_too_late_is_recorded(world: World) -> None:
    """Whether its worker says so or is gone."""
    batch, worker, (one,) = await world.submit_and_start(
        job_rows(1, max_attempts=3, retry_on=[Reason.EXIT]), limit=1
    )
    await signalled(world, batch)
    (command,), _ = await _list(world, worker, one)
    await signalled(world, batch)
    await worker.end(one, reason=Reason.EXIT, exit_code=1)
    await world.backend.worker_store().acknowledge_commands(
        worker.id, [(command.number, command.key, "it had ended")]
    )
    (again,) = await worker.claim(1)
    soon = await told(world, worker, again)
    later = datetime.now(UTC) + timedelta(seconds=20)
    await world.call(
        "list_commands", incarnation_id=worker.id, **_attempts([(batch, 1, 2)]), at=later
    )

    assert soon == ([], False)
    assert await told(world, worker, again) == ([], False)
    assert await history(world, batch) == [
        ("signal", "USR1 was not delivered: it had ended"),
        ("signal", "USR1 was not delivered: the attempt had ended"),
    ]


async def test_signal_that_was_lost_with_its_worker_is_recorded(own_world: World) -> None:
    batch, _worker, (_one,) = await own_world.submit_and_start(job_rows(1), limit=1)
    await signalled(own_world, batch)
    await own_world.api.message_job(own_world.caller, batch, 1, text="x")
    later = datetime.now(UTC) + timedelta(seconds=60)
    await own_world.call("lose_workers", epoch=await own_world.lead(), grace_s=30, at=later)

    assert await history(own_world, batch) == [
        ("signal", "USR1 was not delivered: the attempt had ended"),
        ("message", "a message of 1 B was not delivered: the attempt had ended"),
    ]


async def test_extension_holds_for_all_further_attempts(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(1, max_attempts=3, retry_on=[Reason.EXIT]))
    await world.api.extend_job(world.caller, batch, 1, by_ms=60_000)
    store = world.backend.worker_store()
    (one,) = await worker.claim(1)
    (first,), asks_again = await _list(world, worker, one)
    await world.api.extend_job(world.caller, batch, 1, by_ms=1_500)
    await store.acknowledge_commands(worker.id, [(first.number, first.key, "")])
    (second,), _ = await _list(world, worker, one)
    await store.acknowledge_commands(worker.id, [(second.number, second.key, "")])
    silent = await told(world, worker, one)
    await worker.start(one)
    await worker.end(one, reason=Reason.EXIT, exit_code=1)
    (again,) = await worker.claim(1)
    later = await told(world, worker, again)
    await worker.end(again)

    assert (first.extra_ms, second.extra_ms, asks_again) == (60_000, 61_500, True)
    assert silent == ([], True)
    assert later == ([(AttemptKey(batch, 1, 2), None, 61_500)], True)
    assert await told(world, worker) == ([], False)
    assert await history(world, batch) == [
        ("extended", "its time limit is extended by 60 s"),
        ("extended", "its time limit is extended by 1.5 s"),
    ]
    with pytest.raises(errors.JobOver):
        await world.api.extend_job(world.caller, batch, 1, by_ms=1)


async def test_message_goes_to_the_attempt_that_runs(world: World) -> None:
    batch = await world.submit(job_rows(1))
    worker, other = await world.worker(), await world.worker("other")
    (one,) = await worker.claim_and_start(1)
    attempts = [await world.api.message_job(world.caller, batch, 1, text=x) for x in ("é", "b")]
    found, asks_again = await _list(world, worker, one)
    elsewhere, _ = await _list(world, other, one)
    store = world.backend.worker_store()
    answers = [(one.number, one.key, why) for one, why in zip(found, ("", "no"), strict=True)]
    await store.acknowledge_commands(worker.id, answers)
    kinds = await world.admin.fetch("SELECT kind FROM weft.event WHERE batch_id = $1", batch)

    assert attempts == [1, 1]
    assert [(one.message, one.signal, one.extra_ms) for one in found] == [
        ("é", None, 0),
        ("b", None, 0),
    ]
    assert (elsewhere, asks_again) == ([], False)
    assert await history(world, batch) == [
        ("message", "a message of 2 B was delivered"),
        ("message", "a message of 1 B was not delivered: no"),
    ]
    assert [kind for (kind,) in kinds].count("jobs.messaged") == 1
    assert await told(world, worker, one) == ([], False)


async def test_signals_and_messages_are_for_jobs_that_run(world: World) -> None:
    """Whatever the job does instead, the caller is told, and nothing waits for a later attempt."""
    rows = job_rows(4, parents={2: [1]}, max_attempts=2, retry_on=[Reason.EXIT])
    batch, worker, (_one, three, four) = await world.submit_and_claim(rows, limit=3)
    await worker.start(three, four)
    await worker.end(three, reason=Reason.EXIT, exit_code=75)
    await worker.end(four, reason=Reason.EXIT, exit_code=1)
    words = {1: "has not started", 2: "pending", 3: "blocked", 4: "ready"}
    for job, word in words.items():
        message = world.api.message_job(world.caller, batch, job, text="x")
        for sent in (signalled(world, batch, job), message):
            with pytest.raises(errors.JobNotRunning) as refused:
                await sent
            assert word in f"{refused.value.message} {refused.value.detail}"

    assert await world.admin.fetchval(_WAITING, batch) == 0


_WAITING = "SELECT count(*) FROM weft.job_command WHERE batch_id = $1"


async def test_commands_that_wait_for_a_worker_are_bounded(world: World) -> None:
    batch, worker, (one,) = await world.submit_and_start(job_rows(1), limit=1)
    await world.api.extend_job(world.caller, batch, 1, by_ms=1)
    await signalled(world, batch)
    await world.admin.execute(
        "INSERT INTO weft.job_command (batch_id, job_id, tenant_id, attempt, incarnation_id, "
        "signal, word, actor, at) SELECT batch_id, job_id, tenant_id, attempt, incarnation_id, "
        "10, 'USR1', 'x', now() FROM weft.job, generate_series(1, 99) WHERE batch_id = $1",
        batch,
    )
    with pytest.raises(errors.TooManyCommands, match="too many commands"):
        await world.api.message_job(world.caller, batch, 1, text="x")
    found, _ = await _list(world, worker, one)
    answers = [(command.number, command.key, "") for command in found]
    await world.backend.worker_store().acknowledge_commands(worker.id, answers)

    assert len(found) == 101
    assert await signalled(world, batch) == 1
