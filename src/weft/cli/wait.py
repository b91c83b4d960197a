"""`weft wait`: until a batch or a job has ended."""

import asyncio
from contextlib import aclosing
from typing import Any

from weft.cli.exit_code import FAILED, explain_end
from weft.cli.options import SHARED, Shared
from weft.cli.progress import ProgressLine
from weft.cli.report import note
from weft.cli.screen import print_json
from weft.cli.targets import parse_target
from weft.client.api import Api
from weft.core.ids import format_batch_id, format_job_ref


def wait(target: str, /, *, shared: Shared = SHARED) -> int:
    """Wait until a batch or a job has ended, with a progress bar; exit code 1 if it did not
    succeed.

        weft wait b12

    Args:
        target: A batch `b12` or a job `b12.j7`.
        shared: Options of every command.
    """
    return asyncio.run(_wait(target, shared))


async def _wait(text: str, shared: Shared) -> int:
    target = parse_target(text, groups=False)
    async with shared.client() as client:
        if target.job_id is None:
            return await wait_for_batch(client, target.batch_id, as_json=shared.json)
        return await _wait_for_job(client, target.batch_id, target.job_id, as_json=shared.json)


async def wait_for_batch(client: Api, batch_id: int, *, as_json: bool) -> int:
    """Show progress until the batch is complete; return 0 if it succeeded, else 1."""
    batch: dict[str, Any] = {}
    with ProgressLine(format_batch_id(batch_id)) as progress:
        async with aclosing(client.watch_batch(batch_id)) as documents:
            async for document in documents:
                batch = dict(document)
                progress.update(batch)
    if as_json:
        print_json(batch)
    else:
        _say_batch(batch)
    return 0 if batch["state"] == "success" else FAILED


def _say_batch(batch: dict[str, Any]) -> None:
    name = format_batch_id(batch["id"])
    counts = {
        "succeeded": batch["n_succeeded"],
        "failed": batch["n_failed"],
        "errored": batch["n_errored"],
        "cancelled": batch["n_cancelled"],
    }
    words = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    note(f"{name}: {batch['state']}; {words or 'no jobs'}")
    if batch["state"] != "success":
        note(f"`weft status {name}` shows what did not succeed")


async def _wait_for_job(client: Api, batch_id: int, job_id: int, *, as_json: bool) -> int:
    end: dict[str, Any] = {}
    async with aclosing(client.follow_log(batch_id, job_id)) as events:
        async for event in events:
            if event.kind == "end":
                end = dict(event.facts)
    if as_json:
        print_json({"batch_id": batch_id, "job_id": job_id, **end})
    else:
        note(f"{format_job_ref(batch_id, job_id)}: {explain_end(end)}")
    return 0 if end["state"] == "success" else FAILED
