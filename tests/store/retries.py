"""Retries as operations, step by step, and jobs that end so that there are some."""

from typing import Any

from store.world import Worker, World
from weft.core.states import Reason
from weft.driver.operations import advance_operation
from weft.ports.store import Origin

DIAMOND = {2: [1], 3: [1], 4: [2, 3]}


async def begin(
    world: World, batch: int, *jobs: int, query: str | None = None, group: int | None = None,
    key: str | None = None, cause: str | None = None,
) -> int:  # fmt: skip
    """Ask for a retry; return the operation."""
    return await world.api.retry_jobs(
        world.caller, batch, Origin(key=key, trace_id=""), job_ids=jobs or None, query=query,
        within_group=group, cause_id=None if cause is None else int(cause, 16),
    )  # fmt: skip


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
