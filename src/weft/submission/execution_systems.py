"""Execution systems: where an application says that it runs, and the queue which that means."""

from collections.abc import Mapping, Sequence
from typing import Final

from weft.core.apps.description import LOCAL_SYSTEM, AppDescription
from weft.core.queues import Queue
from weft.ports.store import Caller
from weft.submission.services import SubmissionServices

_NAMED: Final = 500
"""Characters of the names that an error lists."""


class WrongSystem(ValueError):
    """An execution system on which the job cannot run, and why."""


async def queue_on_system(
    services: SubmissionServices, caller: Caller, app: AppDescription, asked: str | None
) -> str | None:
    """Return the queue of a job of an application; None: any. `asked`: what the job says itself.

    A system is a queue, a pool, or an engine that lends the workers of pools. Of queues that use
    a pool the job gets one that has it first, if there is one. Raise `WrongSystem`.
    """
    named = asked or app.queue
    if app.system in {None, LOCAL_SYSTEM}:
        return named
    queues = [one.queue for one in await services.queues.of(caller)]
    if any(queue.name == app.system for queue in queues):
        return named or app.system
    pools = {app.system} if any(app.system in queue.pools for queue in queues) else set()
    rows = [] if pools else await services.store.list_pools(caller)
    pools |= {row["pool"] for row in rows if app.system in {row["pool"], _engine_of(row)}}
    if not pools:
        known = {LOCAL_SYSTEM, *(queue.name for queue in queues), *(row["pool"] for row in rows)}
        listed = ", ".join(sorted(known))[:_NAMED]
        raise WrongSystem(
            f"its execution system {app.system!r} is no queue, pool or engine here; there are "
            f"{listed}"
        )
    if named is None:
        return _best(app.system, [queue for queue in queues if _takes(queue, caller)], pools)
    for queue in queues:
        if queue.name == named and not pools.intersection(queue.pools):
            raise WrongSystem(
                f"its execution system {app.system!r} has no queue {named!r}: that uses "
                f"{', '.join(queue.pools)[:_NAMED]}"
            )
    return named


def _engine_of(row: Mapping[str, object]) -> object:
    plan = row["plan"]
    return plan.get("provider") if isinstance(plan, Mapping) else None


def _takes(queue: Queue, caller: Caller) -> bool:
    return queue.state == "enabled" and queue.may_use(caller.user_name)


def _best(system: str | None, queues: Sequence[Queue], pools: set[str]) -> str:
    usable = [queue for queue in queues if pools.intersection(queue.pools)]
    if not usable:
        raise WrongSystem(f"no queue that you may use has its execution system {system!r}")
    return min(usable, key=lambda queue: queue.pools[0] not in pools).name
