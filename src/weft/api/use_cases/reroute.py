"""Move waiting jobs to the queues that the guards choose now, or to one queue."""

from collections import defaultdict
from collections.abc import Sequence

from weft.api.calls.call import call
from weft.api.services import Services
from weft.api.use_cases.queues import get_queue
from weft.core.access.rights import Right
from weft.core.errors import InvalidValue
from weft.core.ids import format_job_ref, parse_job_ref
from weft.core.problems import Problems
from weft.core.queues import DEFAULT, Asked, AskingRouter
from weft.ports.store import Caller, Row, Shape
from weft.submission.routing import request_of, routed
from weft.submission.services import Answer
from weft.submission.translation.shapes import placed_in
from weft.wire.answers.queues import QueuesRerouted
from weft.wire.documents.queues import RerouteDocument

STEP_JOBS = 500
"""Jobs that one request looks at and one transaction moves."""


@call("POST /v1/queue-reroute", Right.OPERATE, QueuesRerouted, client="")
async def reroute_queues(services: Services, caller: Caller, document: RerouteDocument) -> Answer:
    """Move the next jobs that wait to the queues that guards choose now, or to one queue. Jobs
    that name their queue, or have run before, stay unless `to` is given; repeat with the cursor
    until it is null.
    """
    if document.cursor is None:
        services.queues.forget(caller.tenant_id)
    routes = await services.queues.of(caller)
    queues = {route.queue.name: route.queue for route in routes}
    for name in {document.queue, document.to} - queues.keys() - {None}:
        await get_queue(services, caller, str(name))  # it says that there is none
    if document.to is not None and queues[document.to].state != "enabled":
        problems = Problems()
        message = f"the queue {document.to!r} is {queues[document.to].state}"
        problems.add(InvalidValue, "/to", message)
        problems.raise_any()
    if document.to is not None and queues[document.to].consumers == "foreign":
        problems = Problems()
        message = f"programs that are not weft's run only what was submitted to {document.to!r}"
        problems.add(InvalidValue, "/to", message)
        problems.raise_any()
    after = (0, 0) if document.cursor is None else parse_job_ref(document.cursor)
    page = await services.store.list_waiting(caller, after=after, limit=STEP_JOBS)
    if page is None:
        return {"moves": [], "cursor": None}
    router = services.asking_router(
        routes, await request_of(services, caller, page.batch_id, routes)
    )
    workers = await services.workers(caller)
    found: dict[tuple[str, str, str | None], list[int]] = defaultdict(list)
    going = [
        job
        for job in page.jobs
        if document.queue in {None, job["asked"].get("queue", DEFAULT)}
        and (document.to is not None or not job["named"])
    ]
    targets = [document.to or ""] * len(going)
    if document.to is None:
        targets = await _chosen(services, caller, router, going)
    for job, to in zip(going, targets, strict=True):
        now, shape = job["asked"].get("queue", DEFAULT), _shape_of(job)
        if to != now and queues[to].consumers == "weft":
            placed = dict(placed_in(shape, queues[to], workers)[0].words)
            found[now, to, None if to == DEFAULT else str(placed["pool"])].append(job["job_id"])
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for (now, to, pool), jobs in found.items():
        counts[now, to] += (
            len(jobs)
            if document.dry_run
            else await services.store.move_jobs(caller, page.batch_id, jobs, queue=to, pool=pool)
        )
    return {
        "moves": [
            {"queue": now, "to": to, "n_jobs": count} for (now, to), count in counts.items()
        ],
        "cursor": format_job_ref(page.batch_id, max(page.last_job, 1)),
    }


async def chosen_queue(
    services: Services, caller: Caller, batch_id: int, job_id: int
) -> str | None:
    """Return the queue that guards choose by now for a job that waits; None: it waits there, or
    cannot move, because it names its queue or has run before.
    """
    routes = await services.queues.of(caller)
    if len(routes) == 1:
        return None
    page = await services.store.list_waiting(caller, after=(batch_id, job_id - 1), limit=1)
    if page is None or page.batch_id != batch_id:
        return None
    for job in page.jobs:
        if job["job_id"] == job_id and not job["named"]:
            router = services.asking_router(
                routes, await request_of(services, caller, batch_id, routes)
            )
            (chosen,) = await _chosen(services, caller, router, [job])
            return chosen if chosen != job["asked"].get("queue", DEFAULT) else None
    return None


async def _chosen(
    services: Services, caller: Caller, router: AskingRouter, jobs: Sequence[Row]
) -> list[str]:
    """Return the queue that guards choose for each job. Raise `TooManyEvaluations`."""

    def choose() -> list[str]:
        found = [router.queue_of(_asked_of(job, _shape_of(job))) for job in jobs]
        router.check_all_known()
        return found

    return await routed(services, caller, router, choose)


def _shape_of(job: Row) -> Shape:
    """Return what a job asks for, wherever it waits."""
    asked = {name: value for name, value in job["asked"].items() if name not in {"pool", "queue"}}
    return Shape(
        cpu_m=job["cpu_m"],
        memory_mib=job["memory_mib"],
        storage_mib=job["storage_mib"],
        gpu=job["gpu"],
        countables=tuple(sorted((k, v) for k, v in asked.items() if isinstance(v, int))),
        words=tuple(
            sorted(
                (k, v if isinstance(v, str) else tuple(v))
                for k, v in asked.items()
                if not isinstance(v, int)
            )
        ),
    )


def _asked_of(job: Row, shape: Shape) -> Asked:
    """Return what guards may know of the job."""
    return Asked(
        str(dict(shape.words).get("executor", "process")),
        job["name"],
        job["attributes"] or {},
        job["priority"],
        job["n_jobs"] or 1,
        job["spec"].timeout_s,
        job["always_run"],
        job["max_attempts"],
        shape.cpu_m,
        shape.memory_mib,
        shape.storage_mib,
        shape.gpu,
        None if job["spec"].app is None else job["spec"].app.name,
    )
