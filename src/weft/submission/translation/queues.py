"""The queues of jobs: the one that a job names, or the first whose guard is true."""

from collections.abc import Mapping, Sequence

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.core.queues import DEFAULT, Asked, Queue, Request, Router
from weft.ports.store import Shape
from weft.submission.translation.executors import USUAL, executor_of
from weft.wire.documents.batches import JobDocument
from weft.wire.foreign_messages import beyond_command


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
