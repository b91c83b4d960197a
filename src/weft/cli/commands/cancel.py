"""`weft cancel`: start no more of its jobs, and stop the running ones."""

from collections.abc import Mapping
from typing import Any

from weft.cli.input.batch_query import NO_QUERY, BatchQuery, act_on_batches
from weft.cli.input.options import SHARED, Flag, Shared
from weft.cli.input.targets import Target, check_targets, parse_target
from weft.client.http.blocking import run
from weft.core.states import ENDED_WORDS


def cancel(
    target: str | None = None,
    /,
    *others: str,
    force: Flag = False,
    found: BatchQuery = NO_QUERY,
    shared: Shared = SHARED,
) -> int:
    """Cancel batches, jobs or groups.

        weft cancel b12/stage1 b13.j7
        weft cancel --batches 'state = running and user = ada'

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        others: More targets.
        force: Also cancel jobs that always run.
        found: Batches by a query.
    """
    code = act_on_batches("cancel", (target, *others), found, shared, *["--force"] * force)
    if code is not None:
        return code
    parsed = [(text, parse_target(text)) for text in (target, *others) if text is not None]
    return run(_cancel(parsed, shared, force=force))


async def _cancel(targets: list[tuple[str, Target]], shared: Shared, *, force: bool) -> int:
    async with shared.client() as client:
        await check_targets(client, [target for _, target in targets])
        for text, target in targets:
            answer: Mapping[str, Any]
            if target.job_id is not None:
                answer = await client.cancel_job(target.batch_id, target.job_id)
            elif target.group is not None:
                answer = await client.cancel_group(target.batch_id, target.group, force=force)
            else:
                answer = await client.cancel_batch(target.batch_id, force=force)
            shared.tell(answer, _said(text, answer))
    return 0


def _said(text: str, answer: Mapping[str, Any]) -> str:
    """Return what the cancel did: what has ended keeps its state."""
    if (result := answer.get("result", "cancelled")) in ENDED_WORDS - {"cancelled"}:
        return f"{text} had ended ({result}): nothing to cancel"
    if answer.get("had_ended"):
        return f"{text} had ended: nothing to cancel; it is closed to new jobs"
    return f"{text}: {result}"
