"""Jobs whose retries wait, and the driver that releases them as if later."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from builders import job_rows, with_fields
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Claimed, JobRows

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
        "WHERE batch_id = ANY ($1) AND ended_at IS NOT NULL", batches, hours,
    )  # fmt: skip


async def wait_of(world: World, batch: int, job: int = 1) -> float:
    """Return how long a blocked job waits in all."""
    row = await world.admin.fetchrow(
        "SELECT next_at - blocked_at AS wait FROM weft.blocked_job "
        "WHERE batch_id = $1 AND job_id = $2",
        batch, job,
    )  # fmt: skip
    assert row is not None
    wait: timedelta = row["wait"]
    return wait.total_seconds()
