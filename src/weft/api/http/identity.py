"""Find callers by their bearer tokens; valid ones are remembered for a short time."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from weft.core.errors import Unauthenticated
from weft.ports.store import ApiStore, Caller

REMEMBER_S: Final = 5.0
"""A revoked token works for at most this time."""
REMEMBER_MAX: Final = 10_000
TOKEN_CHARS_MAX: Final = 1024


class Identities:
    """Find callers by their tokens. Only digests are kept, so the time of a lookup does not reveal
    a token.
    """

    def __init__(self, store: ApiStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()

    async def caller_of(self, authorization: str | None) -> Caller:
        """Return the caller with this Authorization header. Raise `Unauthenticated`."""
        token = _token_in(authorization)
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is not None and known[1] > self._clock():
            return known[0]
        caller = await self._store.authenticate(token)
        if caller is None:
            self._known.pop(digest, None)
            raise _refused("The token is unknown or has expired.")
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
