"""Where a job runs: its queue, which it names, or the first whose guard is true; and its executor.
The installed packages name the executors by entry points, so a new one needs no change here.
The api does not load them: it must know an executor's name, a worker runs it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.core.queues import DEFAULT, Asked, Queue, Request, Router
from weft.ports.executor import EXECUTOR_PLUGINS
from weft.ports.runner import RUNNER_PLUGINS
from weft.ports.store import Shape
from weft.settings import Settings
from weft.wire.documents.jobs import JobDocument
from weft.wire.foreign_messages import beyond_command

USUAL: Final = "process"
FUNCTION: Final = "function"
"""Runs functions."""
SIMULATION: Final = "simulation"
"""Runs simulations."""
CONTAINER: Final = "container"
"""Runs what has a container."""
IN_CONTAINERS: Final = (CONTAINER, "kubernetes")
"""Those that run what has a container; the first, unless the job says another."""
APP: Final = "app"
"""Runs applications; all others run commands."""
_RUN_BY: Final = {
    FUNCTION: (FUNCTION,),
    CONTAINER: IN_CONTAINERS,
    APP: (APP,),
    SIMULATION: (SIMULATION,),
}
"""What runs a job with such a field; the executors are named as the fields."""


@cache
def installed_executors() -> tuple[str, ...]:
    """Return the names of all executors."""
    return EXECUTOR_PLUGINS.names()


@cache
def _engines() -> frozenset[str]:
    """Return the executors that are named as what runs their jobs elsewhere."""
    return frozenset(RUNNER_PLUGINS.names()) - {SIMULATION}


def check_executor(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note an executor that is not installed, or not the one for what the job runs."""
    known = installed_executors()
    if job.executor not in known:
        message = f"not an executor; known: {', '.join(known)}"
        problems.add(InvalidValue, f"{at}/executor", message)
    for name, executors in _RUN_BY.items():
        is_there = getattr(job, name) is not None
        if is_there and job.executor not in executors:
            message = f"a job with `{name}` has the executor {' or '.join(executors)}"
            problems.add(InvalidValue, f"{at}/executor", message)
        elif job.executor == name and not is_there:
            message = f"a job of the executor `{name}` needs `{name}`"
            problems.add(InvalidValue, f"{at}/{name}", message)
    for name in ("code", "requirements"):
        if getattr(job, name) is not None and job.executor in _engines():
            message = f"{job.executor} runs it elsewhere, where weft brings none: have it there"
            problems.add(InvalidValue, f"{at}/{name}", message)


def executor_of(job: JobDocument) -> str:
    """Return the executor that a job names, else the one for what it runs."""
    named = (name for name in _RUN_BY if getattr(job, name) is not None)
    return job.executor or next(named, USUAL)


def executor_field(job: JobDocument) -> str:
    """Return the field by which a job asks for its executor."""
    fields = ("executor", *_RUN_BY)
    return next((name for name in fields if getattr(job, name) is not None), "executor")


def queues_of(
    jobs: Sequence[JobDocument], shapes: Sequence[Shape], router: Router, problems: Problems
) -> list[str]:
    """Return the queue's name of each job. `shapes`: what each asks for. Raise `Unrouted`."""
    queues = {route.queue.name: route.queue for route in router.routes}
    found: list[str] = []
    for index, (job, shape) in enumerate(zip(jobs, shapes, strict=True)):
        if job.queue is None:
            found.append(router.queue_of(asked_of(job, shape)))
            continue
        if wrong := _wrong_name(job.queue, queues, router.request):
            problems.add(InvalidValue, f"/jobs/{index}/queue", wrong)
        found.append(job.queue if not wrong else DEFAULT)
    router.check_all_known()
    if foreign := {queue.name for queue in queues.values() if queue.consumers == "foreign"}:
        for index, (job, name) in enumerate(zip(jobs, found, strict=True)):
            if name in foreign:
                _check_foreign(job, name, f"/jobs/{index}", problems)
    return found


def _check_foreign(job: JobDocument, queue: str, at: str, problems: Problems) -> None:
    """Note what programs that are not weft's could not run: they get a command alone."""
    field = beyond_command(job)
    if field == "command":
        problems.add(InvalidValue, f"{at}/queue", f"jobs of the queue {queue!r} need a command")
    elif field is not None:
        message = f"the queue {queue!r} hands foreign programs a command and nothing else"
        problems.add(InvalidValue, f"{at}/{field}", message)
    elif job.executor not in {None, USUAL}:
        message = f"programs that are not weft's run the jobs of the queue {queue!r}"
        problems.add(InvalidValue, f"{at}/executor", message)


def asked_of(job: JobDocument, shape: Shape) -> Asked:
    """Return what guards may know of a job."""
    return Asked(
        executor_of(job),
        job.name,
        job.attributes or {},
        job.priority,
        job.count or 1,
        job.timeout_s,
        job.always_run,
        job.max_attempts,
        shape.cpu_m,
        shape.memory_mib,
        shape.storage_mib,
        shape.gpu,
        job.app,
    )


def _wrong_name(name: str, queues: Mapping[str, Queue], request: Request) -> str:
    queue = queues.get(name)
    if queue is None:
        return f"there is no queue {name[:64]!r}; known: {', '.join(queues)[:500]}"
    if user := request.refused_by(queue):
        return f"{user} may not use the queue {name!r}"
    return "" if queue.state == "enabled" else f"the queue {name!r} is {queue.state}"
