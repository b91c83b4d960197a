"""Let the api forget at once what it remembers of callers and queues when that changes."""

import asyncio
from collections.abc import Callable
from typing import Final

from weft.api.http.identity import Identities
from weft.core.errors import Unavailable
from weft.ports.store import Notices
from weft.submission.services import KnownQueues

CALLERS: Final = "callers"
"""Its notices name a token, or (below 0) a user."""
QUEUES: Final = "queues"
"""Its notices name a tenant."""
LISTEN_AGAIN_S: Final = 1.0


async def forget_what_changes(
    notices: Notices,
    identities: Identities,
    queues: KnownQueues,
    end_streams: Callable[[int | None], None],
) -> None:
    """Forget callers whose token is revoked or whose role has changed, with their streams, and
    queues that are saved or drained; and all when listening begins: notices may have been missed.
    There are no streams yet when it begins for the first time. Never returns.
    """
    is_first = True
    while True:
        try:
            async for channel, told in notices.listen(CALLERS, QUEUES):
                if channel == QUEUES:
                    queues.forget(int(told))
                    continue
                whom = int(told) if channel == CALLERS else None
                identities.forget(whom)
                if channel != CALLERS:
                    queues.trust_notices()
                if not is_first:
                    end_streams(whom)
                is_first = False
        except Unavailable:
            queues.doubt_notices()
            await asyncio.sleep(LISTEN_AGAIN_S)
