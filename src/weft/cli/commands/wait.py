"""`weft wait`: wait until batches, groups or jobs have ended."""

import asyncio

from weft.cli.input.options import SHARED, Shared, read_option
from weft.cli.input.targets import Target, check_targets, parse_target
from weft.cli.terminal.exit_code import TIMED_OUT
from weft.cli.terminal.report import note
from weft.cli.terminal.waiting import IsLate, wait_for_batch, wait_for_group, wait_for_job
from weft.client.api import Api
from weft.core.text.durations import parse_seconds


def wait(
    target: str, /, *targets: str, timeout: str | None = None, shared: Shared = SHARED
) -> int:
    """Wait until batches, groups or jobs have ended, with a progress bar; exit code 1 if one of
    them did not succeed.

        weft wait b12 b13 --timeout 1h30m

    Args:
        target: A batch `b12`, a job `b12.j7` or a group `b12/stage1`.
        targets: More targets.
        timeout: Wait at most this long: seconds, or 10m, 1h30m; then the exit code is 124.
    """
    limit_s = None if timeout is None else read_option("--timeout", timeout, parse_seconds)
    parsed = [parse_target(text) for text in (target, *targets)]
    return asyncio.run(_wait(parsed, shared, limit_s))


async def _wait(targets: list[Target], shared: Shared, limit_s: float | None) -> int:
    exit_code = 0
    async with shared.client() as client:
        try:
            async with asyncio.timeout(limit_s) as limit:
                await check_targets(client, targets)
                for target in targets:
                    exit_code = max(
                        exit_code, await _wait_for(client, target, shared, limit.expired)
                    )
        except TimeoutError:
            note("not all has ended in time; the jobs run on")
            return TIMED_OUT
    return exit_code


async def _wait_for(client: Api, target: Target, shared: Shared, is_late: IsLate) -> int:
    if target.job_id is not None:
        return await wait_for_job(
            client, target.batch_id, target.job_id, as_json=shared.json, is_late=is_late
        )
    if target.group is not None:
        group = await client.get_group(target.batch_id, target.group)
        return await wait_for_group(client, group, as_json=shared.json, is_late=is_late)
    return await wait_for_batch(client, target.batch_id, as_json=shared.json, is_late=is_late)
