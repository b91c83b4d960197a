"""`weft resubmit`: make a new batch from an old one."""

from collections.abc import Mapping
from typing import Annotated, Any

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
from weft.cli.terminal.report import note
from weft.client.api import WAIT_PATIENCE_S
from weft.client.http.blocking import asyncio, run
from weft.client.objects.operation import end_of
from weft.core.billing.resources import parse_cpu_m, parse_memory_mib
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.text.amounts import counted
from weft.core.text.durations import parse_seconds


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
