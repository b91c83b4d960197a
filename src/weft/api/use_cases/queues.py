"""Queues: list, save, say which one takes a job, and move waiting jobs to it."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from weft.api.calls.call import call
from weft.api.calls.path_ids import QueueName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.errors import (
    InvalidGuard,
    InvalidValue,
    QueueAlwaysOpen,
    QueueNotFound,
    TooManyEvaluations,
)
from weft.core.ids import format_job_ref, parse_job_ref
from weft.core.problems import Problems
from weft.core.queues import (
    DEFAULT,
    Asked,
    AskingRouter,
    Queue,
    Route,
    Router,
    Verdict,
    plan_changes,
    refusal_of_each,
    verdicts_of,
)
from weft.core.scheduling.offers import POSTGRES
from weft.core.text.number_ranges import as_written
from weft.ports.evaluation import TooCostly
from weft.ports.store import Caller, NewBatch, Row, Shape
from weft.submission.routing import request_of, routed
from weft.submission.services import Answer
from weft.submission.translation.places import FUNCTION, asked_of, installed_executors, queues_of
from weft.submission.translation.shapes import ShapeBook, placed_in
from weft.telemetry.log import log
from weft.wire.answers.queues import Queue as QueueAnswer
from weft.wire.answers.queues import QueuesRerouted, QueuesSaved, QueuesTested
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.queues import QueueDocument, QueuesDocument, RerouteDocument

QUEUES_MAX = 1000


@call("GET /v1/queues", Right.READ, page=QueueAnswer)
async def list_queues(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the queues in the order in which their guards are asked, with their jobs."""
    return await services.store.list_queues(caller)


@call("POST /v1/queues/{q}/drain", Right.OPERATE, QueueAnswer, marks={"refuses": (409,)})
async def drain_queue(services: Services, caller: Caller, name: QueueName) -> Row:
    """Let a queue take no more jobs; return it. Those that wait there run on. Only for
    administrators. Raise `QueueNotFound`.
    """
    if name == DEFAULT:
        raise QueueAlwaysOpen(
            "`default` is not drained",
            detail="It takes the jobs that no other queue takes.",
            hint="Drain another queue, or hold batches with `weft hold`.",
        )
    if await services.store.drain_queue(caller, name):
        services.queues.forget(caller.tenant_id)
        log.info("queues.saved", user=caller.user_name, changed=[name])
    return await get_queue(services, caller, name)


@call("GET /v1/queues/{q}", Right.READ, QueueAnswer)
async def get_queue(services: Services, caller: Caller, name: QueueName) -> Row:
    """Return a queue. Raise `QueueNotFound`."""
    rows = await services.store.list_queues(caller)
    for row in rows:
        if row["name"] == name:
            return row
    raise QueueNotFound(
        f"queue {name!r} does not exist",
        detail=f"There are: {', '.join(row['name'] for row in rows)}.",
        hint="List them with `weft queue ls`.",
    )


@call("PUT /v1/queues", Right.MANAGE, QueuesSaved, marks={"refuses": (409,)})
async def save_queues(services: Services, caller: Caller, document: QueuesDocument) -> Answer:
    """Make these the queues of the tenant, beside `default`; return what changes. Waiting jobs
    stay where they are; a queue that has some is not deleted. Only for administrators. Raise
    `QueueHasJobs`.
    """
    problems = Problems()
    wanted = _checked(document.queues, problems)
    await _check_transports(services, caller, document.queues, problems)
    rows = await services.store.list_queues(caller)
    now = [msgspec.convert(row, Queue) for row in rows]
    known_guards = {one.guard for one in now}
    await _try_guards(services, caller, document.queues, known_guards, problems)
    problems.raise_any()
    if all(one.name != DEFAULT for one in wanted):
        wanted.append(next(one for one in now if one.name == DEFAULT))
    changes = plan_changes(now, wanted)
    known = {pool for one in now for pool in one.pools}
    if changes and not document.dry_run:
        await services.store.save_queues(caller, wanted)
        services.queues.forget(caller.tenant_id)
        log.info("queues.saved", user=caller.user_name, changed=[one.queue for one in changes])
    return {
        "changes": msgspec.to_builtins(changes),
        "new_pools": sorted({pool for one in wanted for pool in one.pools} - known),
        "dry_run": document.dry_run,
    }


@call("POST /v1/queue-test", Right.READ, QueuesTested, spread=False)
async def test_queues(services: Services, caller: Caller, document: BatchDocument) -> Answer:
    """Return which queue would take each job of a batch now, and why the queues before it would
    not. Nothing is created.
    """
    new = NewBatch(
        name=document.name,
        billing_project=document.billing_project,
        attributes=document.attributes,
    )
    if not document.jobs:
        return {"routes": []}
    routes = await services.queues.of(caller)
    request = await request_of(services, caller, new, routes)
    problems = Problems()
    book = ShapeBook((), await services.licences())
    shape_index = book.index_of(document.jobs, document.jobs, problems)
    unguarded = Router([Route(route.queue, None) for route in routes], request)
    queues_of(document.jobs, [book.shapes[0]] * len(document.jobs), unguarded, problems)
    problems.raise_any()
    asked = [
        asked_of(job, book.shapes[shape_index[0 if len(shape_index) == 1 else position]])
        for position, job in enumerate(document.jobs)
        if job.queue is None
    ]
    said = iter(
        await services.evaluation.each(
            caller.tenant_id, verdicts_of, Router(routes, request), asked
        )
    )
    found: dict[tuple[Verdict, ...], list[int]] = {}
    for position, job in enumerate(document.jobs):
        verdicts = [Verdict(job.queue, True, "")] if job.queue is not None else next(said)  # noqa: FBT003 (a verdict)
        if isinstance(verdicts, TooCostly):
            raise TooManyEvaluations(
                "the guards take too long",
                detail=f"They are evaluated for {len(asked)} jobs: {verdicts.why}.",
            )
        found.setdefault(tuple(verdicts), []).append(position + 1)
    return {
        "routes": [
            {
                "jobs": positions,
                "queue": verdicts[-1].queue,
                "verdicts": [verdict._asdict() for verdict in verdicts],
            }
            for verdicts, positions in found.items()
        ]
    }


def _checked(documents: Sequence[QueueDocument], problems: Problems) -> list[Queue]:
    """Return the queues, and note everything that is wrong with them."""
    names: dict[str, int] = {}
    priorities: dict[int, str] = {}
    if len(documents) > QUEUES_MAX:
        problems.add(InvalidValue, "/queues", f"{len(documents)} queues, at most {QUEUES_MAX}")
        return []
    for index, one in enumerate(documents):
        at = f"/queues/{index}"
        if names.setdefault(one.name, index) != index:
            problems.add(InvalidValue, f"{at}/name", f"{one.name} stands there twice")
        _check_place(one, at, priorities, problems)
        if not one.pools or len(set(one.pools)) < len(one.pools):
            problems.add(InvalidValue, f"{at}/pools", "name at least one pool, each once")
        _check_consumers(one, at, problems)
        usable = [name for name in installed_executors() if name != FUNCTION]
        if one.executor not in {None, *usable}:
            message = f"it cannot run commands; known: {', '.join(usable)}"
            problems.add(InvalidValue, f"{at}/executor", message)
    return [msgspec.convert(as_written(msgspec.to_builtins(one)), Queue) for one in documents]


async def _check_transports(
    services: Services, caller: Caller, documents: Sequence[QueueDocument], problems: Problems
) -> None:
    """Note queues that would travel over a connection that their tenant does not have."""
    named = [(n, one) for n, one in enumerate(documents) if one.transport != POSTGRES]
    if not named:
        return
    known = await services.transports_of(caller)
    for index, one in named:
        if one.name == DEFAULT:
            message = "`default` does not travel: its jobs may go to any worker"
            problems.add(InvalidValue, f"/queues/{index}/transport", message)
        elif one.transport not in known:
            message = f"no connection of this name; known: {', '.join([POSTGRES, *known])}"
            problems.add(InvalidValue, f"/queues/{index}/transport", message)


def _check_consumers(document: QueueDocument, at: str, problems: Problems) -> None:
    if document.consumers == "weft":
        for name in ("slots", "queued_s"):
            if getattr(document, name) is not None:
                problems.add(InvalidValue, f"{at}/{name}", "only foreign consumers have it")
    elif document.transport == POSTGRES:
        message = "foreign consumers need a `transport` other than postgres"
        problems.add(InvalidValue, f"{at}/consumers", message)
    elif document.slots is None:
        message = "say how many jobs foreign consumers have at a time"
        problems.add(InvalidValue, f"{at}/slots", message)


async def _try_guards(
    services: Services,
    caller: Caller,
    documents: Sequence[QueueDocument],
    known: set[str | None],
    problems: Problems,
) -> None:
    """Note what is wrong with the guards that are not saved yet."""
    new = [
        (f"/queues/{index}/guard", document.guard)
        for index, document in enumerate(documents[:QUEUES_MAX])
        if document.guard is not None and document.guard not in known
    ]
    refusals = await services.evaluation.each(
        caller.tenant_id, refusal_of_each, None, [guard for _, guard in new]
    )
    for (at, _), refusal in zip(new, refusals, strict=True):
        if refusal:
            why = refusal.why if isinstance(refusal, TooCostly) else refusal
            problems.add(InvalidGuard, at, why)


def _check_place(
    one: QueueDocument, at: str, priorities: dict[int, str], problems: Problems
) -> None:
    if one.name == DEFAULT:
        if one.priority is not None or one.guard is not None:
            message = "`default` takes what no guard takes: it has no priority and no guard"
            problems.add(InvalidValue, at, message)
        if one.pools != (DEFAULT,) or one.users is not None or one.state != "enabled":
            message = "`default` is enabled for everybody, in the pool `default`"
            problems.add(InvalidValue, at, message)
    elif one.priority is None:
        problems.add(InvalidValue, f"{at}/priority", "a queue needs a priority")
    elif (other := priorities.setdefault(one.priority, one.name)) != one.name:
        problems.add(
            InvalidValue, f"{at}/priority", f"{other} has the priority {one.priority} already"
        )


STEP_JOBS = 500
"""Jobs that one request looks at and one transaction moves."""


def _wrong_target(queue: Queue) -> str:
    """Return why no job may be moved there; empty: it may."""
    if queue.state != "enabled":
        return f"the queue {queue.name!r} is {queue.state}"
    if queue.consumers == "foreign":
        return f"programs that are not weft's run only what was submitted to {queue.name!r}"
    return ""


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
    if document.to is not None and (wrong := _wrong_target(queues[document.to])):
        problems = Problems()
        problems.add(InvalidValue, "/to", wrong)
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
