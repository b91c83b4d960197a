"""Commands that change targets, or all batches that a query finds."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.cli.input.options import Flag, Shared
from weft.cli.input.signature import Parameter
from weft.cli.input.targets import Target, parse_target, query_of
from weft.cli.terminal.interrupts import REFUSED, ask, need_person
from weft.cli.terminal.report import note
from weft.client.api import WAIT_PATIENCE_S, Api
from weft.client.http.blocking import asyncio, run
from weft.client.objects.operation import end_of
from weft.core.errors import Invalid
from weft.core.text.amounts import counted

_DONE: Final = {"cancel": "cancelled", "hold": "held", "release": "released", "retry": "retried"}


class TargetsOrQuery(Invalid, code="CLI.TARGETS_OR_QUERY"):
    """A command is for the targets that it names, or for the batches that a query finds."""

    advice = "Name targets such as b12, or batches by a query: --batches 'state = running'."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BatchQuery:
    """Batches by a query instead of targets."""

    batches: str | None = None
    """Instead of targets: all batches that match this query, or `@NAME`."""

    yes: Flag = False
    """With --batches: do not ask."""


NO_QUERY: Final = BatchQuery()


def act_on_batches(
    action: str,
    targets: Sequence[str | None],
    query: BatchQuery,
    shared: Shared,
    *others: str,
    change: Callable[[Sequence[tuple[str, Target]]], Coroutine[Any, Any, int]],
) -> int:
    """Do it to the batches that the query of a command finds, or `change` the targets that it
    names; return the exit code. `others`: its options that are for targets only.
    """
    named = [target for target in targets if target is not None]
    if bool(named) == (query.batches is not None) or (others and not named):
        raise TargetsOrQuery(
            f"`weft {action}` needs targets, or --batches with a query",
            detail="The command has "
            + (
                "both."
                if named
                else "neither."
                if not others
                else f"{others[0]}, which is for targets."
            ),
        )
    if query.batches is None:
        return run(change([(target, parse_target(target)) for target in named]))
    if not query.yes:
        need_person("changing all batches that match needs a confirmation")
    return run(_act(action, query.batches, shared, yes=query.yes))


async def _act(action: str, text: str, shared: Shared, *, yes: bool) -> int:
    async with shared.client(patience_s=WAIT_PATIENCE_S) as client:
        query = await query_of(client, text)
        code = None if yes else await _ask(client, action, query)
        if code is not None:
            return code
        operation = await client.begin_batch_action(action, query=query)
        try:
            result = await end_of(client, operation, f"{action} batches")
        except asyncio.CancelledError:
            note(f"operation {operation['id']}: the server goes on")
            raise
        document = await client.get_operation(operation["id"])
        was_cancelled = document["state"] == "cancelled"
        if not shared.as_json(document):
            cut = f"operation {operation['id']} was cancelled: " if was_cancelled else ""
            note(cut + _said(action, result))
    return REFUSED if was_cancelled else 0


async def _ask(client: Api, action: str, query: str) -> int | None:
    """Count, and ask; return None if it is meant, else the exit code."""
    found = await client.count_batch_action(action, query)
    more = "+" if found["has_more"] else ""
    if not found["n_batches"] and not more:
        note(f"nothing to {action}: no batch would change")
        return 0
    batches = counted(found["n_batches"], "batch", more)
    note(f"{batches} with {counted(found['n_jobs'], 'job', more)}")
    return ask(f"{action.capitalize()} them?", otherwise="nothing was changed") or None


def _said(action: str, result: Mapping[str, Any]) -> str:
    said = f"{counted(result['n_changed'], 'batch')} {_DONE[action]}"
    if result["n_idle"]:
        said += f"; {counted(result['n_idle'], 'batch')} left as they are"
    if result["n_skipped"]:
        why = ", ".join(f"{code} {count:,}" for code, count in result["skipped"].items())
        said += f"; {counted(result['n_skipped'], 'batch')} skipped ({why})"
    return said
