"""`weft retry`: run again what failed."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated

from weft.cli.input.batch_query import NO_QUERY, BatchQuery, act_on_batches
from weft.cli.input.options import SHARED, Parameter, Shared
from weft.cli.input.targets import Target, check_targets
from weft.cli.terminal.names import retried_words
from weft.client.api import WAIT_PATIENCE_S
from weft.client.objects.operation import end_of
from weft.core.errors import Invalid
from weft.core.ids import BatchId, format_batch_id


class QueryOfJob(Invalid, code="CLI.QUERY_OF_JOB"):
    """A query chooses among the jobs of a batch or a group."""

    advice = "Name a batch or a group with --q, or jobs without it."


class CauseOfPart(Invalid, code="CLI.CAUSE_OF_PART"):
    """A cause chooses among all failed jobs of a batch."""

    advice = "Name a batch with --cause, and leave out --q."


def retry(
    target: str | None = None,
    /,
    *others: str,
    q: Annotated[str | None, Parameter(name=["--q", "-q"])] = None,
    cause: str | None = None,
    found: BatchQuery = NO_QUERY,
    shared: Shared = SHARED,
) -> int:
    """Run failed jobs again, and those that were cancelled because of them.

        weft retry b12 --q 'exit_code = 3'
        weft retry --batches 'state = failure and cohort = scz1'

    Each has all its tries again. Its earlier attempts, their output and their
    cost stay.

    Args:
        target: `b12`, `b12/stage1`, or `b12.j7`, which runs again also if a person cancelled it.
        others: More targets. Jobs of one batch are retried together.
        q: Only failed jobs that match this query.
        cause: Only jobs of a batch that failed for this cause, as `weft failures` shows it.
        found: Batches by a query.
    """
    for_targets = ["--q"] * (q is not None) + ["--cause"] * (cause is not None)
    change = partial(_retry, q, cause, shared)
    return act_on_batches("retry", (target, *others), found, shared, *for_targets, change=change)


async def _retry(
    q: str | None, cause: str | None, shared: Shared, named: Sequence[tuple[str, Target]]
) -> int:
    targets = [target for _, target in named]
    if q is not None and any(one.job_id is not None for one in targets):
        raise QueryOfJob("a query is for a batch or a group", detail="The command names a job.")
    if cause is not None and (
        q is not None or any(one != Target(one.batch_id) for one in targets)
    ):
        raise CauseOfPart(
            "a cause is for a whole batch",
            detail="The command also has a query, or names a group or a job.",
        )
    async with shared.client(patience_s=WAIT_PATIENCE_S) as client:
        await check_targets(client, targets)
        for target, jobs in _requests(targets):
            operation = await client.retry_batch(
                target.batch_id, q, jobs=jobs, group=target.group, cause=cause
            )
            title = _title(target)
            result = await end_of(client, operation, f"{title} retry")
            said = f"{title}: {retried_words(result['n_retried'], result.get('n_late', 0))}"
            shared.tell(await client.get_operation(operation["id"]), said)
    return 0


def _requests(targets: Sequence[Target]) -> Iterator[tuple[Target, list[int] | None]]:
    """Yield what to ask for: a batch or a group as a whole, or the jobs that are named of one."""
    jobs_of: dict[int, list[int]] = {}
    for target in targets:
        if target.job_id is None:
            yield target, None
        else:
            jobs_of.setdefault(target.batch_id, []).append(target.job_id)
    for batch_id, jobs in jobs_of.items():
        yield Target(BatchId(batch_id)), jobs


def _title(target: Target) -> str:
    batch = format_batch_id(target.batch_id)
    return batch if target.group is None else f"{batch}/{target.group.lstrip('/')}"
