"""Which queue takes a job: what guards may know of a submission."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from weft.core.errors import TooManyEvaluations
from weft.core.queues import (
    AskingRouter,
    Chosen,
    Request,
    Route,
    Router,
    Unrouted,
    chosen_of,
    first_of,
    takes_of_each,
)
from weft.core.queues.attributes import Path
from weft.ports.evaluation import TooCostly
from weft.ports.store import Caller, NewBatch
from weft.submission.services import Draft, SubmissionServices
from weft.telemetry.metrics import count_guard_failures

QUEUES_SHOWN: Final = 10
T = TypeVar("T")


async def find_router(draft: Draft) -> None:
    """Find what routes the jobs, if there is anything to choose from."""
    services, caller = draft.services, draft.caller
    routes = await services.queues.of(caller)
    if len(routes) > 1 or any(job.queue is not None for job in draft.rare):
        request = await request_of(services, caller, draft.target, routes)
        draft.learn(router=services.asking_router(routes, request))


async def routed(
    services: SubmissionServices, caller: Caller, router: Router | None, route: Callable[[], T]
) -> T:
    """Return what `route` returns; what it asks of guards is evaluated elsewhere before. Raise
    `TooManyEvaluations`.
    """
    return await routed_later(services, caller, router, lambda: asyncio.sleep(0, route()))


async def routed_later(
    services: SubmissionServices,
    caller: Caller,
    router: Router | None,
    route: Callable[[], Awaitable[T]],
) -> T:
    """Return what `route` returns in the end (`routed`)."""
    try:
        return await route()
    except Unrouted:
        assert isinstance(router, AskingRouter)
    unknown, guards = router.unknown(), router.guards
    found = await services.evaluation.each(caller.tenant_id, first_of, guards, unknown)
    router.learn(
        [
            await _singly(services, caller, router, values) if isinstance(one, TooCostly) else one
            for one, values in zip(_within(found, router), unknown, strict=True)
        ]
    )
    return await route()


async def _singly(
    services: SubmissionServices, caller: Caller, router: AskingRouter, values: Mapping[Path, Any]
) -> Chosen:
    """Return the queue of jobs for which all guards together take too long: one that does so alone
    counts as false, and is counted. Raise `TooManyEvaluations`.
    """
    asked = [(guard, values) for _, guard in router.guards]
    found = await services.evaluation.each(caller.tenant_id, takes_of_each, None, asked)
    said = [
        (False, one.why) if isinstance(one, TooCostly) else one for one in _within(found, router)
    ]
    return chosen_of(zip([queue for queue, _ in router.guards], said, strict=True))


def _within(found: Sequence[T | TooCostly], router: AskingRouter) -> Sequence[T | TooCostly]:
    """Return answers. Raise `TooManyEvaluations` if one is missing because of all others."""
    for one in found:
        if isinstance(one, TooCostly) and not one.alone:
            raise TooManyEvaluations(
                f"the guards of {_listed([queue for queue, _ in router.guards])} take too long",
                detail=f"They are evaluated for {len(router.unknown())} kinds of jobs: {one.why}.",
            )
    return found


def _listed(queues: Sequence[str]) -> str:
    return ", ".join(queues[:QUEUES_SHOWN]) + (" and others" * (len(queues) > QUEUES_SHOWN))


def count_failures(caller: Caller, router: Router | None) -> None:
    """Add the guards that could not be evaluated to the metric."""
    if router is not None:
        for queue, count in router.failures.items():
            count_guard_failures(caller.tenant_id, queue, count)


async def request_of(
    services: SubmissionServices, caller: Caller, target: NewBatch | int, routes: Sequence[Route]
) -> Request:
    """Return what guards may know of a submission to a batch."""
    now = datetime.now(UTC)
    if isinstance(target, NewBatch):
        batch = {**vars(target), "user": caller.user_name}
    elif any(path[0] == "batch" for one in routes if one.guard for path in one.guard.reads):
        batch = dict(await services.store.get_batch(caller, target))
    else:
        owner = await services.owner_of(caller, target)
        return Request(user=owner, added_by=caller.user_name, now=now)
    return Request(
        user=batch["user"],
        added_by=None if isinstance(target, NewBatch) else caller.user_name,
        now=now,
        batch_name=batch["name"],
        billing_project=batch["billing_project"],
        batch_attributes=batch["attributes"],
    )
