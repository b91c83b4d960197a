"""What all intakes share: submissions that come by a broker, as a user whom the operator named."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from weft.api.services import Services
from weft.core.errors import Forbidden, QueueFull, QuotaExceeded, Unavailable
from weft.core.rights import Right, require
from weft.ports.patience import retry_s
from weft.ports.store import Action, Caller, acting
from weft.submission import submit
from weft.submission.services import Answer, Origin
from weft.wire.documents import BatchDocument

FULL_WAIT_S: Final = 5.0
_RETRY_FIRST_S: Final = 0.2
_RETRY_LONGEST_S: Final = 5.0


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
            await asyncio.sleep(pause_s(failures))
        except (QuotaExceeded, QueueFull):
            if full_for_s is not None and waited_s >= full_for_s:
                raise
            waited_s += FULL_WAIT_S
            await asyncio.sleep(FULL_WAIT_S)
        else:
            return


async def named_user(services: Services, tenant: str, user: str, table: str) -> Caller:
    """Return a user who submits. Raise `Forbidden`. `table`: of transports_file, with the user."""
    found = await services.store.admit_user(tenant, user, None, may_create=False)
    if found is None:
        raise Forbidden(
            f"there is no user {user!r}",
            detail="What comes by the broker is submitted as this user.",
            hint=f"Correct `{table}.user` in transports_file, or add the user.",
        )
    require(Right.WRITE, found.user_name, found.role)
    return found


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


def pause_s(failures: int) -> float:
    """Return the pause after this number of failures."""
    return retry_s(failures, first_s=_RETRY_FIRST_S, longest_s=_RETRY_LONGEST_S)
