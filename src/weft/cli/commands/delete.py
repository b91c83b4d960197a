"""`weft delete`: delete batches with everything that belongs to them."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.input.options import SHARED, Flag, Shared
from weft.cli.input.targets import Target, check_targets
from weft.cli.terminal.interrupts import ask, need_person
from weft.cli.terminal.screen import note, one_line, plain
from weft.client.api import WAIT_PATIENCE_S, Api
from weft.client.objects.operation import end_of
from weft.core.ids import format_batch_id, parse_batch_id
from weft.core.text.amounts import counted

NAME_WIDTH = 60


async def delete(
    batch: str, /, *others: str, yes: Flag = False, wait: bool = True, shared: Shared = SHARED
) -> int:
    """Delete batches with all their jobs. They disappear at once; running jobs are stopped.

        weft delete b12 b13 --yes

    Their costs stay on the bill. Ctrl-C while waiting changes nothing: the server
    goes on.

    Args:
        batch: `b12`.
        others: More batches.
        yes: Do not ask.
        wait: Wait until all their data is removed.
    """
    batch_ids = list(dict.fromkeys(parse_batch_id(text) for text in (batch, *others)))
    if not yes:
        need_person("deleting a batch needs a confirmation")
    async with shared.client(patience_s=WAIT_PATIENCE_S) as client:
        await check_targets(client, map(Target, batch_ids))
        if not yes and (code := await _ask(client, batch_ids)):
            return code
        begun = [await client.delete_batch(batch_id) for batch_id in batch_ids]
        for operation in begun:
            document = operation
            if wait:
                # Nobody can listen to a batch that is gone.
                title = f"delete {format_batch_id(operation['batch_id'])}"
                await end_of(client, {**operation, "batch_id": None}, title)
                document = await client.get_operation(operation["id"])
            if not shared.as_json(document):
                word = "deleted" if wait else "is being deleted"
                note(f"{format_batch_id(document['batch_id'])}: {word}")
    return 0


async def _ask(client: Api, batch_ids: Sequence[int]) -> int:
    """Say what would be deleted, and ask; return 0 if it is meant, else the exit code."""
    for batch_id in batch_ids:
        note(_described(await client.get_batch(batch_id)))
    which = "it" if len(batch_ids) == 1 else f"these {counted(len(batch_ids), 'batch')}"
    return ask(f"Delete {which}? This cannot be undone.", otherwise="nothing was deleted")


def _described(batch: Mapping[str, Any]) -> str:
    name = f" {one_line(plain(batch['name']), width=NAME_WIDTH)}" if batch["name"] else ""
    running = f", {batch['n_running']:,} of them running" if batch["n_running"] else ""
    return f"{format_batch_id(batch['id'])}{name}: {counted(batch['n_jobs'], 'job')}{running}"
