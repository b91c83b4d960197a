"""Find callers by their bearer tokens; valid ones are remembered until one is revoked."""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from weft.core.errors import Unauthenticated, Unavailable
from weft.ports.store import ApiStore, Caller, Notices
from weft.telemetry.log import get_logger

REMEMBER_S: Final = 5.0
"""An expired token works for at most this time; so does a revoked one if the database cannot tell
of it.
"""
REMEMBER_MAX: Final = 10_000
TOKEN_CHARS_MAX: Final = 8192
CHANNEL: Final = "callers"
LISTEN_AGAIN_S: Final = 1.0
log = get_logger()


class Identities:
    """Find callers by their tokens. Only digests are kept, so the time of a lookup does not reveal
    a token.
    """

    def __init__(self, store: ApiStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()
        self._epoch = 0

    async def forget_revoked(self, notices: Notices) -> None:
        """Forget callers whose token is revoked, and all when listening begins: notices may have
        been missed. Never returns.
        """
        while True:
            try:
                async for _, token_id in notices.listen(CHANNEL):
                    self._epoch += 1
                    self._known = OrderedDict(
                        (digest, known)
                        for digest, known in self._known.items()
                        if token_id and known[0].token_id != int(token_id)
                    )
                    log.debug("callers.forgotten", token=token_id)
            except Unavailable:
                await asyncio.sleep(LISTEN_AGAIN_S)

    async def caller_of(self, authorization: str | None) -> Caller:
        """Return the caller with this Authorization header. Raise `Unauthenticated`."""
        token = _token_in(authorization)
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is not None and known[1] > self._clock():
            return known[0]
        epoch = self._epoch
        caller = await self._store.authenticate(token)
        if caller is None:
            self._known.pop(digest, None)
            raise _refused("The token is unknown or has expired.")
        if epoch == self._epoch:  # else it may have been read before it was revoked
            self._known[digest] = (caller, self._clock() + REMEMBER_S)
            self._known.move_to_end(digest)
        if len(self._known) > REMEMBER_MAX:
            self._known.popitem(last=False)
        return caller


def _token_in(authorization: str | None) -> str:
    if authorization is None:
        raise _refused("The request has no Authorization header.")
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise _refused("The Authorization header is not of the form `Bearer TOKEN`.")
    if len(token) > TOKEN_CHARS_MAX or not token.isascii() or not token.isprintable():
        raise _refused("The token is malformed.")
    return token


def _refused(why: str) -> Unauthenticated:
    return Unauthenticated(
        "the request is not authenticated",
        detail=why,
        hint="Name the home of the server (--home) or give its token (WEFT_TOKEN); a request "
        "carries it as `Authorization: Bearer TOKEN`.",
    )
