"""Jobs that wait for a person, an event or a date end without an attempt."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import job_rows, with_fields
from store.retries import retry
from store.test_deadlines import look
from store.world import Worker, World
from weft.core.errors import NotWaiting
from weft.ports.store import JobRows

GATES = [{"kind": "wait", "key": "wait for approval", "max_places": 0}]
ANSWER: dict[str, Any] = {"approve": True, "note": "seen", "values": {"dose": 2}}


def waiting(rows: JobRows, job: int) -> JobRows:
    return with_fields(rows, **{f"j{job}": {"wait": {"for": "approval"}, "gates": GATES}})


def date(in_s: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=in_s)).isoformat()


async def answer(world: World, batch: int, job: int, **other: Any) -> str:  # noqa: ANN401
    said = {"caller": world.caller, **ANSWER, **other}
    return await world.api.answer_job(batch_id=batch, job_id=job, **said)


async def test_an_answer_ends_a_job_and_opens_its_children(world: World, worker: Worker) -> None:
    batch = await world.submit(waiting(job_rows(4, parents={2: [1], 3: [2], 4: [2]}), 2))
    for early, why in ((2, "yet"), (1, "waits for no answer")):
        with pytest.raises(NotWaiting, match=why):
            await answer(world, batch, early)
    assert await worker.run() == [1]
    assert await world.states(batch) == "srpp"
    assert await worker.claim() == []

    assert [await answer(world, batch, 2) for _ in range(2)] == ["success"] * 2
    await world.sweep()
    assert await worker.run() == [3, 4]
    await world.fold()
    job = await world.api.get_job(world.caller, batch, 2)
    assert (job["answer"]["by"], job["answer"]["values"]) == ("user ada", {"dose": 2})
    assert (job["ended_at"] is not None, job["attempt"]) == (True, 0)
    others: list[dict[str, Any]] = [{"approve": False}, {"note": ""}, {"values": {}}]
    for other in (*others, {"caller": await world.user("bob")}):
        with pytest.raises(NotWaiting) as refused:
            await answer(world, batch, 2, **other)
        assert "success, by user ada at 2" in refused.value.detail
    assert (await world.api.get_batch(world.caller, batch))["state"] == "success"
    await world.cancel(gone := await world.submit(waiting(job_rows(1), 1)))
    with pytest.raises(NotWaiting, match=r"It ended as cancelled\."):
        await answer(world, gone, 1)


async def test_a_refusal_fails_it_and_it_may_wait_again(world: World) -> None:
    batch = await world.submit(waiting(job_rows(2, parents={2: [1]}), 1))
    assert [await answer(world, batch, 1, approve=False) for _ in range(2)] == ["error"] * 2
    await world.sweep()
    assert await world.states(batch) == "ec"
    job = await world.api.get_job(world.caller, batch, 1)
    assert (job["reason"], job["message"], "answer" in job) == ("cancelled", "seen", False)
    await retry(world, batch, 1)
    assert await answer(world, batch, 1) == "success"
    await world.sweep()
    assert await world.states(batch) == "sr"


async def test_dates_and_timeouts_end_what_has_no_parents_left(world: World) -> None:
    """Timeouts begin when the parents have ended; another deadline of the batch is kept, too."""
    rows = job_rows(6, parents={5: [4], 6: [4]})
    at = {"deadline": date(60), "latest_start": date(60)}
    fields = [
        {"for": "date", "until": date(60)},
        {"for": "event", "timeout_s": 60},
        {"for": "event", "timeout_s": 60, "on_timeout": "succeed"},
        {"for": "date", "until": date(60)},
        {"for": "approval", "timeout_s": 60},
    ]
    kept = [{"wait": one, "gates": GATES} for one in fields]
    named = dict(zip(("j1", "j2", "j3", "j5", "j6"), kept, strict=True))
    batch = await world.submit(with_fields(rows, **named))
    other = await world.submit(with_fields(job_rows(2), j1=at, j2={"wait": fields[0]}))
    assert await look(world) == 0
    await look(world, in_s=61)
    assert await world.states(batch) == "sesrpp"
    assert await world.states(other) == "es"
    job = await world.api.get_job(world.caller, batch, 2)
    assert (job["reason"], job["message"]) == ("deadline", "nobody answered in time")

    assert await (await world.worker()).run() == [4]
    await look(world)
    assert await world.states(batch) == "sessrr"
