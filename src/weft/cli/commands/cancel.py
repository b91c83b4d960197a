"""`weft cancel`: start no more of its jobs, and stop the running ones."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json


def cancel(
    target: str,
    /,
    *others: str,
    force: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Cancel batches, jobs or groups.

        weft cancel b12/stage1 b13.j7

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        others: More targets.
        force: Cancel jobs that always run, too.
        shared: Options of every command.
    """
    parsed = [(text, parse_target(text)) for text in (target, *others)]
    return asyncio.run(_cancel(parsed, shared, force=force))


async def _cancel(targets: list[tuple[str, Target]], shared: Shared, *, force: bool) -> int:
    async with shared.client() as client:
        for text, target in targets:
            answer: Mapping[str, Any]
            if target.job_id is not None:
                answer = await client.cancel_job(target.batch_id, target.job_id)
            elif target.group is not None:
                answer = await client.cancel_group(target.batch_id, target.group, force=force)
            else:
                answer = await client.cancel_batch(target.batch_id, force=force)
            if shared.json:
                print_json(answer)
            else:
                note(f"{text}: cancelled")
    return 0
