"""Retries as operations, step by step, and jobs that end so that there are some; jobs whose
retries wait, and the driver that releases them as if later.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from builders import job_rows, with_fields
from store.world import Worker, World
from weft.core.states import Reason
from weft.driver.operations import advance_operation
from weft.ports.store import Claimed, JobRows, Origin

DIAMOND = {2: [1], 3: [1], 4: [2, 3]}


async def begin(
    world: World,
    batch: int,
    *jobs: int,
    query: str | None = None,
    group: int | None = None,
    key: str | None = None,
    cause: str | None = None,
) -> int:
    """Ask for a retry; return the operation."""
    return await world.api.retry_jobs(
        world.caller,
        batch,
        Origin(key=key, trace_id=""),
        job_ids=jobs or None,
        query=query,
        within_group=group,
        cause_id=None if cause is None else int(cause, 16),
    )


async def finish(world: World, operation_id: int) -> Any:  # noqa: ANN401 (a JSON document)
    """Do all steps of an operation; return its result."""
    epoch = await world.lead()
    while (found := await world.api.get_operation(world.caller, operation_id))["state"] == (
        "running"
    ):
        running = await world.driver.running_operations(epoch, operation_id - 1)
        assert await advance_operation(world.driver, epoch, running[0])
    assert found["state"] == "success", found
    return found["result"]


async def retry(world: World, batch: int, *jobs: int, **which: Any) -> int:  # noqa: ANN401 (as begin)
    """Retry; return how many jobs run again."""
    result = await finish(world, await begin(world, batch, *jobs, **which))
    return int(result["n_retried"])


async def end_all(worker: Worker, *failing: int) -> list[int]:
    """Run what can be claimed now; of these jobs some fail with exit code 3."""
    claimed = await worker.claim()
    for one in claimed:
        failed = one.job_id in failing
        reason, code = (Reason.EXIT, 3) if failed else (None, 0)
        assert await worker.end(one, reason=reason, exit_code=code) == ["ok"]
    return [one.job_id for one in claimed]


async def completions(world: World, batch: int) -> int:
    await world.fold()
    found: int = await world.admin.fetchval(
        "SELECT count(*) FROM weft.group_completion WHERE batch_id = $1 AND group_id = 0", batch
    )
    return found


A_MINUTE: Mapping[str, Any] = {"policy": "constant", "wait_s": 60, "jitter": 0}


def waiting(rows: JobRows, *jobs: int, policy: Mapping[str, Any] = A_MINUTE) -> JobRows:
    """Let the retries of jobs wait."""
    rows.retry_on = [one | 1 for one in rows.retry_on]
    return with_fields(rows, **{f"j{job}": {"retry": dict(policy)} for job in jobs})


def retried(n_jobs: int = 1, *, tries: int = 3, **more: Any) -> JobRows:  # noqa: ANN401 (as job_rows)
    rows = job_rows(n_jobs, max_attempts=tries, retry_on=[Reason.EXIT], **more)
    return waiting(rows, *range(1, n_jobs + 1))


async def release(world: World, *, in_s: float = 0, limit: int = 1000) -> int:
    """Let the driver look at blocked jobs, as if some seconds later."""
    at = datetime.now(UTC) + timedelta(seconds=in_s)
    released, epoch = 0, await world.lead()
    while True:
        (row,) = await world.call("release_blocked", epoch=epoch, limit_jobs=limit, at=at)
        if not row["release_blocked"]:
            return released
        released += row["release_blocked"]


async def fail(worker: Worker, *claimed: Claimed, code: int = 1) -> None:
    assert set(await worker.end(*claimed, reason=Reason.EXIT, exit_code=code)) == {"ok"}


async def let_attempts_age(world: World, *batches: int, hours: int = 48) -> None:
    """Let the attempts of batches have ended so long ago."""
    await world.admin.execute(
        "UPDATE weft.attempt SET claimed_at = claimed_at - d, started_at = started_at - d, "
        "ended_at = ended_at - d FROM (SELECT $2 * interval '1 h' AS d) x "
        "WHERE batch_id = ANY ($1) AND ended_at IS NOT NULL",
        batches,
        hours,
    )


async def wait_of(world: World, batch: int, job: int = 1) -> float:
    """Return how long a blocked job waits in all."""
    row = await world.admin.fetchrow(
        "SELECT next_at - blocked_at AS wait FROM weft.blocked_job "
        "WHERE batch_id = $1 AND job_id = $2",
        batch,
        job,
    )
    assert row is not None
    wait: timedelta = row["wait"]
    return wait.total_seconds()
