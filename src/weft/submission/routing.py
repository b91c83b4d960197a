"""Which queue takes a job: what guards may know of a submission."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from weft.core.queues import Request, Route, Router
from weft.ports.store import Caller, NewBatch
from weft.submission.services import SubmissionServices
from weft.telemetry.metrics import count_guard_failures
from weft.wire.documents.batches import JobDocument


async def router_of(
    services: SubmissionServices,
    caller: Caller,
    target: NewBatch | int,
    jobs: Sequence[JobDocument],
) -> Router | None:
    """Return what routes these jobs; None: there is nothing to choose from."""
    routes = await services.queues.of(caller)
    if len(routes) == 1 and all(job.queue is None for job in jobs):
        return None
    return Router(routes, await request_of(services, caller, target, routes))


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
        return Request(
            user=caller.user_name,
            now=now,
            batch_name=target.name,
            billing_project=target.billing_project,
            batch_attributes=target.attributes,
        )
    if not any(path[0] == "batch" for one in routes if one.guard for path in one.guard.reads):
        owner = await services.owner_of(caller, target)
        return Request(user=owner, added_by=caller.user_name, now=now)
    batch: Mapping[str, object] = await services.store.get_batch(caller, target)
    return Request(
        user=str(batch["user"]),
        added_by=caller.user_name,
        now=now,
        batch_name=batch["name"],  # type: ignore[arg-type]  # a document has fields of all types
        billing_project=str(batch["billing_project"]),
        batch_attributes=batch["attributes"],  # type: ignore[arg-type]  # the same
    )
