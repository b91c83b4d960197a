"""`weft check-order`: prove that every job of a batch started after its parents ended."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_batch
from weft.cli.terminal.screen import Document, note, print_columns, print_json
from weft.client.api import Api
from weft.client.objects.crate_calls import all_parents
from weft.core.graph.parents import EarlyStart, early_starts
from weft.core.ids import format_job_ref
from weft.core.text.amounts import counted

PARALLEL = 8
SHOWN = 20


async def check_order(target: str, /, *, shared: Shared = SHARED) -> int:
    """Check that no attempt in a batch began before all parents of its job had ended; exit code 1
    if one did.

        weft check-order b12

    Args:
        target: A batch `b12`.
    """
    batch_id = parse_batch(target)
    async with shared.client() as client:
        started, ended, parents = await _times(client, batch_id)
    n_parents = sum(map(len, parents.values()))
    early = list(early_starts(started, ended, parents))
    if shared.json:
        print_json(
            {
                "n_jobs": len(parents),
                "n_started": len(started),
                "n_parents": n_parents,
                "early": [_document(start) for start in early],
            }
        )
    elif early:
        _print(batch_id, early)
    else:
        note(
            f"{len(started):,} of {counted(len(parents), 'job')} began, none before all of its "
            f"parents whose ends it needs had ended ({counted(n_parents, 'pair')})"
        )
    return 1 if early else 0


async def _times(
    client: Api, batch_id: int
) -> tuple[dict[int, datetime], dict[int, datetime], dict[int, Sequence[int]]]:
    """Return first starts, ends and parents by job."""
    started: dict[int, datetime] = {}
    ended: dict[int, datetime] = {}
    parents: dict[int, Sequence[int]] = {}

    async def look(job: Document) -> None:
        number = int(job["job_id"])
        whole = await client.get_job(batch_id, number)
        needs = await all_parents(client, whole)
        # It waits for the ends of these.
        parents[number] = [job for job, need in needs.items() if need in {"success", "end"}]
        if job["ended_at"]:
            ended[number] = datetime.fromisoformat(job["ended_at"])
        attempts = [job]
        if (job["attempt"] or 0) > 1:
            attempts = list(await client.list_attempts(batch_id, number))
        starts = [attempt["started_at"] for attempt in attempts if attempt["started_at"]]
        if starts:
            started[number] = min(map(datetime.fromisoformat, starts))

    waiting: list[Document] = []
    async for job in client.list_jobs(batch_id):
        waiting.append(job)
        if len(waiting) == PARALLEL:
            await asyncio.gather(*map(look, waiting))
            waiting.clear()
    await asyncio.gather(*map(look, waiting))
    return started, ended, parents


def _document(early: EarlyStart) -> dict[str, Any]:
    ended_at = early.parent_ended_at
    return {
        "job_id": early.job_id,
        "started_at": early.started_at.isoformat(),
        "parent_id": early.parent_id,
        "parent_ended_at": ended_at and ended_at.isoformat(),
    }


def _print(batch_id: int, early: Sequence[EarlyStart]) -> None:
    print_columns(
        {
            "Job": lambda row: format_job_ref(batch_id, row.job_id),
            "Began": lambda row: row.started_at.isoformat(sep=" "),
            "Parent": lambda row: format_job_ref(batch_id, row.parent_id),
            "Ended": lambda row: (
                row.parent_ended_at.isoformat(sep=" ") if row.parent_ended_at else "not ended"
            ),
        },
        islice(early, SHOWN),
    )
    if len(early) > SHOWN:
        print(f"… and {len(early) - SHOWN:,} more; --json prints them all")
