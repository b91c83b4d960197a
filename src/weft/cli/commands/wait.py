"""`weft wait`: wait until a batch, a group or a job has ended."""

import asyncio

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_target
from weft.cli.terminal.waiting import wait_for_batch, wait_for_group, wait_for_job


def wait(target: str, /, *, shared: Shared = SHARED) -> int:
    """Wait until a batch, a group or a job has ended, with a progress bar; exit code 1 if it did
    not succeed.

        weft wait b12

    Args:
        target: A batch `b12`, a job `b12.j7` or a group `b12/stage1`.
        shared: Options of every command.
    """
    return asyncio.run(_wait(target, shared))


async def _wait(text: str, shared: Shared) -> int:
    target = parse_target(text)
    async with shared.client() as client:
        if target.job_id is not None:
            return await wait_for_job(client, target.batch_id, target.job_id, as_json=shared.json)
        if target.group is not None:
            group = await client.get_group(target.batch_id, target.group)
            return await wait_for_group(client, group, as_json=shared.json)
        return await wait_for_batch(client, target.batch_id, as_json=shared.json)
