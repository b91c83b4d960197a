"""`weft retry` and `weft resubmit`: run jobs again, in place or as a new batch."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from weft.cli.input.batch_query import NO_QUERY, BatchQuery, act_on_batches
from weft.cli.input.job_document import given_variable
from weft.cli.input.options import (
    SHARED,
    Flag,
    Parameter,
    Shared,
    Words,
    bounded,
    check_text,
    parse_attribute,
    read_option,
)
from weft.cli.input.targets import Target, check_targets, parse_target
from weft.cli.terminal.names import retried_words
from weft.cli.terminal.report import note
from weft.client.api import WAIT_PATIENCE_S
from weft.client.http.blocking import asyncio, run
from weft.client.objects.operation import end_of
from weft.core.billing.resources import parse_cpu_m, parse_memory_mib
from weft.core.errors import Invalid
from weft.core.ids import BatchId, format_batch_id, format_job_ref
from weft.core.text.amounts import counted
from weft.core.text.durations import parse_seconds


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


def resubmit(
    target: str,
    /,
    *attributes: str,
    failed: Flag = False,
    name: str | None = None,
    project: str | None = None,
    queue: str | None = None,
    priority: Annotated[int | None, Parameter(validator=bounded(-1000, 1000))] = None,
    env: Words = (),
    cpu: str | None = None,
    memory: str | None = None,
    timeout: str | None = None,
    retries: Annotated[int | None, Parameter(validator=bounded(0, 99))] = None,
    key: str | None = None,
    shared: Shared = SHARED,
) -> int:
    """Make a new batch from the jobs of a batch, or from one job, and print its number.

        weft resubmit b12 --failed --memory 4Gi
        weft resubmit b12.j7

    Parents that succeeded count as done, those of a single job in any case.
    What is not given stays as it was. Ctrl-C while waiting changes nothing: the
    server goes on.

    Args:
        target: `b12`, or a job `b12.j7`.
        attributes: `key=value`: attributes that the new batch has besides.
        failed: Only what failed, and what was cancelled because of it: by a failed parent, or by a
            limit of failures.
        name: Name of the new batch.
        project: Billing project that pays.
        queue: Queue in which its jobs wait.
        priority: Priority of its jobs.
        env: Set a variable NAME=VALUE, or pass on NAME of this shell; may be repeated.
        cpu: Cores of each job.
        memory: Memory of each job, such as 512Mi.
        timeout: Stop a job after this time: seconds, or 10m, 1h30m.
        retries: Run a job that fails again, up to this number of times.
        key: A repeat with the same key makes no second batch.
    """
    which = parse_target(target, groups=False)
    given: dict[str, Any] = {
        "failed": failed or None,
        "job": which.job_id,
        "name": name,
        "attributes": {key: value or "" for key, value in map(parse_attribute, attributes)}
        or None,
        "billing_project": project,
        "queue": queue,
        "priority": priority,
        "env": dict(given_variable(text) for text in env) or None,
        "resources": _sizes(cpu, memory) or None,
        "timeout_s": None if timeout is None else read_option("--timeout", timeout, parse_seconds),
        "max_attempts": None if retries is None else retries + 1,
    }
    check_text([text for text in (name, project, queue) if text is not None])
    document = {name: value for name, value in given.items() if value is not None}
    return run(_resubmit(which, document, key, shared))


def _sizes(cpu: str | None, memory: str | None) -> Mapping[str, str]:
    given = {"cpu": cpu, "memory": memory}
    if cpu is not None:
        read_option("--cpu", cpu, parse_cpu_m)
    if memory is not None:
        read_option("--memory", memory, parse_memory_mib)
    return {name: value for name, value in given.items() if value is not None}


async def _resubmit(
    which: Target, document: Mapping[str, Any], key: str | None, shared: Shared
) -> int:
    batch_id, job_id = which.batch_id, which.job_id
    title = format_job_ref(batch_id, job_id) if job_id else format_batch_id(batch_id)
    async with shared.client(patience_s=WAIT_PATIENCE_S) as client:
        await check_targets(client, [which])
        operation = await client.resubmit_batch(batch_id, document, key=key)
        try:
            result = await end_of(client, operation, f"{title} resubmit")
        except asyncio.CancelledError:
            note(f"{title}: the server goes on; `weft ls` shows the new batch when it is there")
            raise
        if shared.as_json(await client.get_operation(operation["id"])):
            return 0
    note(f"{title}: {counted(result['n_jobs'], 'job')} resubmitted")
    print(format_batch_id(result["batch_id"]))
    return 0
