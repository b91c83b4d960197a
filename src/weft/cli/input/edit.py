"""What `weft rename` and `weft set` share: one merge patch for one target."""

import asyncio
from collections.abc import Mapping
from typing import Any

from weft.cli.input.options import Shared
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json
from weft.client.api import Api
from weft.client.objects.operation import end_of
from weft.client.progress import Progress


def edit(text: str, patch: Mapping[str, Any], shared: Shared, *, done: str) -> int:
    """Send a patch for `b12`, `b12.j7` or `b12/stage1`, and say that it is done."""
    document = asyncio.run(_edit(text, patch, shared))
    if shared.json:
        print_json(document)
    else:
        note(f"{text}: {done}")
    return 0


async def _edit(text: str, patch: Mapping[str, Any], shared: Shared) -> Mapping[str, Any]:
    target = parse_target(text)
    async with shared.client() as client:
        document = await _send(client, target, patch)
        if target.job_id is None and "priority" in patch:
            with Progress(text, shown=None) as shown:
                await end_of(client, document, shown)
            document = await client.get_operation(document["id"])
        return document


async def _send(client: Api, target: Target, patch: Mapping[str, Any]) -> Mapping[str, Any]:
    if target.job_id is not None:
        return await client.edit_job(target.batch_id, target.job_id, patch)
    if target.group is not None:
        return await client.edit_group(target.batch_id, target.group, patch)
    return await client.edit_batch(target.batch_id, patch)
