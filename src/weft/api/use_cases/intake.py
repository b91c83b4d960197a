"""What all intakes share: submissions that come by a broker, as a user whom the operator named."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final, TypeVar

from weft.api.services import Services
from weft.core.access.rights import Right, require
from weft.core.errors import Forbidden, QueueFull, QuotaExceeded, Unavailable
from weft.ports.patience import retry_s, tasks_beside
from weft.ports.store import Action, Caller, Origin, acting
from weft.ports.transport import TransportError
from weft.submission import submit
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.batches import BatchDocument

FULL_WAIT_S: Final = 5.0
_pause_s = partial(retry_s, first_s=0.2, longest_s=5.0)
Come = TypeVar("Come")


async def until_possible(
    take: Callable[[], Awaitable[None]], *, full_for_s: float | None = None
) -> None:
    """Take something until the database answers and there is room for it; raise all other errors.
    `full_for_s`: for so long a lack of room is waited for; None: for ever.
    """
    failures, waited_s = 0, 0.0
    while True:
        try:
            await take()
        except Unavailable:
            failures += 1
            await asyncio.sleep(_pause_s(failures))
        except (QuotaExceeded, QueueFull):
            if full_for_s is not None and waited_s >= full_for_s:
                raise
            waited_s += FULL_WAIT_S
            await asyncio.sleep(FULL_WAIT_S)
        else:
            return


async def finish_all(
    name: str,
    consume: Callable[[], AbstractAsyncContextManager[AsyncIterator[Come]]],
    finish: Callable[[Come], Coroutine[Any, Any, None]],
) -> None:
    """Finish what comes by a connection of this name, many at a time, until cancelled. What is
    under way when the connection ends comes again.
    """
    failures = 0
    while True:
        tasks: set[asyncio.Task[None]] = set()
        try:
            async with tasks_beside(tasks), consume() as coming:
                async for one in coming:
                    failures = 0
                    task = asyncio.create_task(finish(one))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
        except TransportError as error:
            log.warning("transport.away", transport=name, error=str(error))
        failures += 1
        await asyncio.sleep(_pause_s(failures))


async def named_user(services: Services, tenant: str, user: str, table: str) -> Caller:
    """Return a user who submits. Raise `Forbidden`. `table`: of transports_file, with the user."""
    caller = await services.store.admit_user(tenant, user, None, may_create=False)
    if caller is None:
        raise Forbidden(
            f"there is no user {user!r}",
            detail="What comes by the broker is submitted as this user.",
            hint=f"Correct `{table}.user` in transports_file, or add the user.",
        )
    require(Right.WRITE, caller.user_name, caller.role)
    return caller


async def submit_taken(
    services: Services,
    caller: Caller,
    document: BatchDocument,
    origin: Origin,
    action: str,
    path: str,
) -> tuple[Answer, bool]:
    """Submit a batch, and name it in the trail; return as `submit.create_batch`."""
    known = Action(caller=caller, name=action, path=path, trace_id=origin.trace_id)
    with acting(known):
        return await submit.create_batch(services, caller, document, origin)
