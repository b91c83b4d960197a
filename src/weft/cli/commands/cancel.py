"""`weft cancel`: start no more of its jobs, and stop the running ones."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from weft.cli.input.batch_query import NO_QUERY, BatchQuery, act_on_batches
from weft.cli.input.options import SHARED, Flag, Shared
from weft.cli.input.targets import Target, check_targets
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
    options, change = ["--force"] * force, partial(_cancel, shared, force=force)
    return act_on_batches("cancel", (target, *others), found, shared, *options, change=change)


async def _cancel(shared: Shared, targets: Sequence[tuple[str, Target]], *, force: bool) -> int:
    async with shared.client() as client:
        await check_targets(client, [target for _, target in targets])
        batch, group = (
            partial(call, force=force) for call in (client.cancel_batch, client.cancel_group)
        )
        for text, target in targets:
            answer = await target.ask(batch, client.cancel_job, group)
            shared.tell(answer, _said(text, answer))
    return 0


def _said(text: str, answer: Mapping[str, Any]) -> str:
    """Return what the cancel did: what has ended keeps its state."""
    if (result := answer.get("result", "cancelled")) in ENDED_WORDS - {"cancelled"}:
        return f"{text} had ended ({result}): nothing to cancel"
    if answer.get("had_ended"):
        return f"{text} had ended: nothing to cancel; it is closed to new jobs"
    return f"{text}: {result}"
