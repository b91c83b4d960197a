"""`weft hold`, `release`, `cancel`: may jobs start? `weft hide`, `unhide`: are they listed?"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from weft.cli.input.batch_query import NO_QUERY, BatchQuery, act_on_batches
from weft.cli.input.options import SHARED, Flag, Shared
from weft.cli.input.targets import Target, check_targets, parse_batch
from weft.cli.terminal.screen import note, print_json
from weft.client.api import Api
from weft.client.http.blocking import run
from weft.core.ids import format_batch_id
from weft.core.states import ENDED_WORDS


def hold(
    target: str | None = None,
    /,
    *others: str,
    found: BatchQuery = NO_QUERY,
    shared: Shared = SHARED,
) -> int:
    """Hold batches, jobs or groups: none starts until released; running jobs continue.

        weft hold b12 b13/stage1
        weft hold --batches 'name =~ night'

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        others: More targets.
        found: Batches by a query.
    """
    change = partial(_change_all, shared, held=True)
    return act_on_batches("hold", (target, *others), found, shared, change=change)


def release(
    target: str | None = None,
    /,
    *others: str,
    found: BatchQuery = NO_QUERY,
    shared: Shared = SHARED,
) -> int:
    """Release batches, jobs or groups. Jobs that a group above also holds stay held.

        weft release b12 b13/stage1
        weft release --batches 'name =~ night'

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        others: More targets.
        found: Batches by a query.
    """
    change = partial(_change_all, shared, held=False)
    return act_on_batches("release", (target, *others), found, shared, change=change)


async def _change_all(shared: Shared, targets: Sequence[tuple[str, Target]], *, held: bool) -> int:
    async with shared.client() as client:
        await check_targets(client, [target for _, target in targets])
        calls = (client.hold_batch, client.hold_job, client.hold_group)
        if not held:
            calls = (client.release_batch, client.release_job, client.release_group)
        for text, target in targets:
            answer: Mapping[str, Any] = await target.ask(*calls)
            if shared.json:
                print_json(answer)
            elif answer.get("result") in ENDED_WORDS:
                word = "hold" if held else "release"
                note(f"{text} had ended ({answer['result']}): nothing to {word}")
            else:
                note(f"{text}: {_word(answer, held=held)}")
                if held and await _has_ended(client, target):
                    note(f"{text} had ended: only jobs that are submitted later will wait")
    return 0


async def _has_ended(client: Api, target: Target) -> bool:
    """Say whether there is nothing in a batch or group that could wait."""
    if target.job_id is not None:
        return False
    found = await target.ask(client.get_batch, client.get_job, client.get_group)
    return bool(found["complete"])


def _word(answer: Mapping[str, Any], *, held: bool) -> str:
    """Return the state in words: an ended job stays ended, and a group above may hold it."""
    now = answer.get("result") or ("held" if answer["held"] else "released")
    return f"{now} by a group above" if now == "held" and not held else str(now)


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


def hide(batch: str, /, *others: str, shared: Shared = SHARED) -> int:
    """Hide batches: `weft ls` shows them only with --all. Their jobs go on.

        weft hide b12 b13

    Args:
        batch: `b12`.
        others: More batches.
    """
    return run(_change((batch, *others), shared, hidden=True))


def unhide(batch: str, /, *others: str, shared: Shared = SHARED) -> int:
    """Show hidden batches in `weft ls` again.

        weft unhide b12 b13

    Args:
        batch: `b12`.
        others: More batches.
    """
    return run(_change((batch, *others), shared, hidden=False))


async def _change(texts: Sequence[str], shared: Shared, *, hidden: bool) -> int:
    batch_ids = [parse_batch(text) for text in texts]
    async with shared.client() as client:
        await check_targets(client, map(Target, batch_ids))
        for batch_id in batch_ids:
            change = client.hide_batch if hidden else client.unhide_batch
            answer = await change(batch_id)
            state = "hidden" if hidden else "shown again"
            shared.tell(answer, f"{format_batch_id(batch_id)}: {state}")
    return 0
