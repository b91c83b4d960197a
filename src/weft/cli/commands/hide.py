"""`weft hide` and `weft unhide`: does `weft ls` show a batch?"""

from collections.abc import Sequence

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import Target, check_targets, parse_batch
from weft.client.http.blocking import run
from weft.core.ids import format_batch_id


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
