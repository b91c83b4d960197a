"""Requests that survive what may go wrong between client and server.

Every request of weft may be sent twice: what creates something carries an `Idempotency-Key`, what
removes something may find nothing then, and the rest says the same twice. So a lost connection, a
429, a 503 and a 507 are repeated with growing pauses, for a bounded time. A client that has never
reached its server does not wait for it: that is a server which is not running, and the user should
know at once.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import datetime
from time import monotonic
from typing import Protocol, TypedDict
from urllib.parse import quote, urlencode

from weft.client.http.address import Endpoint, NotRunning
from weft.client.http.blocking import NeedsLoop, asyncio, interrupt, need_loop
from weft.client.http.connection import (
    REPLY_TIMEOUT_S,
    ConnectionLost,
    ConnectionPool,
    CouldNotConnect,
    Headers,
    NotTrusted,
    Reply,
)
from weft.client.http.problems import to_error
from weft.core.errors import NotFound, QuotaExceeded, RouteNotFound, Unavailable

VISIT_HEADER = "x-weft-visit"
PATIENCE_S = 30.0
WAIT_PATIENCE_S = 600.0
PAUSE_MIN_S, PAUSE_MAX_S = 0.05, 2.0
OUTAGE_S = 1.0
UNAUTHENTICATED = 401
MAY_PASS = frozenset({429, 503, 507})
"""Too many requests, not available, a disk that is full: another try may succeed."""
MAY_BE_DONE = MAY_PASS - {429}
"""What is answered, too, when the database has done something and could not say so."""
OF_A_PATH = (NotFound, RouteNotFound)
"""As which anybody on the way may refuse a path, who knows nothing of the thing behind it."""
ERRORS_FROM = 300  # a redirect leads to no server of weft

Query = Mapping[str, str | int | bool | datetime | list[str] | None]


class NotReachable(Unavailable, code="CLI.NOT_REACHABLE"):
    """The server does not answer."""

    def __init__(self, endpoint: Endpoint, why: str) -> None:
        super().__init__(
            f"cannot reach the server at {endpoint.url}",
            detail=f"{why[:1].upper()}{why[1:]}.",
            hint="Start it with `weft up`; `weft doctor` says more.",
        )


class NotTheServer(Unavailable, code="CLI.CERTIFICATE_NOT_TRUSTED"):
    """The server's certificate is not one that is trusted."""

    def __init__(self, endpoint: Endpoint, why: str) -> None:
        is_of_another_time = "expired" in why or "not yet valid" in why
        only = endpoint.cert_file
        super().__init__(
            f"the certificate of the server at {endpoint.url} is not trusted",
            detail=f"{why[:1].upper()}{why[1:]}.",
            hint="Renew it on the host of the server; if it is in order, set this machine's clock."
            if is_of_another_time
            else f"Only the one in {only} is trusted; if the server's was renewed, copy it there."
            if only is not None
            else "Name the certificate of the authority that signed it with WEFT_CA_FILE or "
            "SSL_CERT_FILE; the host in WEFT_URL must be one of the certificate's names.",
        )


_is_waiting: ContextVar[bool] = ContextVar("weft_is_waiting", default=False)


@contextmanager
def _true_within(variable: ContextVar[bool]) -> Iterator[None]:
    token = variable.set(True)
    try:
        yield
    finally:
        variable.reset(token)


def waiting() -> AbstractContextManager[None]:
    """Give requests in this block `wait_patience_s`: a program that waits for jobs for days
    tolerates a longer outage than a single request.
    """
    return _true_within(_is_waiting)


_is_over_quota_told: ContextVar[bool] = ContextVar("weft_is_over_quota_told", default=False)


def telling_over_quota() -> AbstractContextManager[None]:
    """Let requests in this block raise `QuotaExceeded` at once: the caller waits for room."""
    return _true_within(_is_over_quota_told)


def new_key() -> str:
    """Return an idempotency key: requests with the same one are the same request."""
    return os.urandom(16).hex()


class Finder(Protocol):
    """Finds the server, as `Locator` does."""

    def locate(self) -> Endpoint:
        """Return the server. Raise `NotRunning` if none was ever started there."""


class Patience(TypedDict, total=False):
    """How a client waits for a server that is away, as `weft.Client` says it."""

    patience_s: float
    wait_patience_s: float
    on_outage: Callable[[str], None] | None


class HttpSession:
    """A server, found by a locator, with connections that are kept.

    `patience_s`: how long requests are repeated while the server is away; `wait_patience_s`:
    those within `waiting`, if that is longer; `reply_timeout_s`: how long one reply may take.
    """

    def __init__(
        self,
        locator: Finder,
        *,
        patience_s: float = PATIENCE_S,
        wait_patience_s: float = WAIT_PATIENCE_S,
        reply_timeout_s: float = REPLY_TIMEOUT_S,
        on_outage: Callable[[str], None] | None = None,
    ) -> None:
        self._reply_timeout_s = reply_timeout_s
        self._locator = locator
        self._patience_s = patience_s
        self._wait_patience_s = max(patience_s, wait_patience_s)
        self._on_outage = on_outage
        self._pool: ConnectionPool | None = None
        self._was_reached = False

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: bytes | None = None,
        content_type: str = "application/json",
        key: str | None = None,
        is_repeatable: bool = True,
        is_removal: bool = False,
    ) -> bytes:
        """Return the body of the reply. Raise the server's error, or `NotReachable` when
        patience ends. `key`: of idempotency, for what creates something. `is_repeatable`: False
        for what must not be sent again on another connection. `is_removal`: what is not found
        after a try whose reply was lost is gone, as was asked; the reply says nothing then.
        """
        extra = [] if key is None else [("idempotency-key", key)]
        if body is not None:
            extra.append(("content-type", content_type))
        retries, is_tried = self._retries(), False
        while True:
            try:
                async with self._time_limit():
                    reply = await self._send(
                        method, path, query, extra, body, is_repeatable=is_repeatable
                    )
                    async with reply:
                        answer = await reply.read()
            except NeedsLoop:
                await need_loop()
                continue
            except (CouldNotConnect, ConnectionLost, TimeoutError) as error:
                await self._after_failure(error, retries)
                is_tried = is_tried or not isinstance(error, CouldNotConnect)
                continue
            if reply.status < ERRORS_FROM:
                return answer
            refusal = to_error(reply.status, answer)
            is_gone = isinstance(refusal, NotFound) and type(refusal) not in OF_A_PATH
            if is_removal and is_gone and (is_tried or reply.is_again):
                return b""
            is_tried = is_tried or reply.status in MAY_BE_DONE
            is_told = isinstance(refusal, QuotaExceeded) and _is_over_quota_told.get()
            if is_told or not await self._may_repeat(reply, retries):
                raise refusal

    async def stream(
        self,
        path: str,
        *,
        query: Query | None = None,
        headers: Headers = (),
        first: bytes | None = None,
    ) -> Reply:
        """Return a reply whose body is still to be read. Repeats only until the head has come.
        `first`: POST this, of a body that goes on; what may have arrived is not sent again.
        """
        await need_loop()
        retries, goes_on = self._retries(), first is not None
        method = "POST" if goes_on else "GET"
        while True:
            try:
                reply = await self._send(method, path, query, [*headers], first, goes_on=goes_on)
                if reply.status < ERRORS_FROM:
                    return reply
                async with reply:
                    answer = await reply.read()
            except (CouldNotConnect, ConnectionLost) as error:
                if goes_on and isinstance(error, ConnectionLost):
                    raise NotReachable(self.endpoint, str(error)) from error
                await self._after_failure(error, retries)
                continue
            if not await self._may_repeat(reply, retries):
                raise to_error(reply.status, answer)

    def _time_limit(self) -> "nullcontext[None] | asyncio.Timeout":
        return nullcontext() if interrupt.get() else asyncio.timeout(self._reply_timeout_s)

    def _retries(self) -> "_Retries":
        patience_s = self._wait_patience_s if _is_waiting.get() else self._patience_s
        return _Retries(patience_s, self._on_outage)

    def close(self) -> None:
        """Close the connections that are idle."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    @property
    def endpoint(self) -> Endpoint:
        """Return the server that the next request goes to."""
        return self._open_pool().endpoint

    def _open_pool(self) -> ConnectionPool:
        if self._pool is None:
            self._pool = ConnectionPool(self._locator.locate())
        return self._pool

    async def _send(
        self,
        method: str,
        path: str,
        query: Query | None,
        headers: list[tuple[str, str]],
        body: bytes | None,
        *,
        is_repeatable: bool = True,
        goes_on: bool = False,
    ) -> Reply:
        pool = self._open_pool()
        token, visit = pool.endpoint.token, pool.endpoint.visit
        signed = [("authorization", f"Bearer {token}"), *headers] if token else headers
        if visit:
            # No tenant has a name that is not text: the server says so.
            name = quote(visit, safe="", errors="surrogatepass")
            signed = [(VISIT_HEADER, name), *signed]
        target = path + _query_text(query or {})
        reply = await pool.send(
            method, target, signed, body, is_repeatable=is_repeatable, goes_on=goes_on
        )
        self._was_reached = True
        return reply

    async def _after_failure(self, error: Exception, retries: "_Retries") -> None:
        """Look again where the server is and wait a little, or raise `NotReachable`."""
        why = str(error) or "no answer in time"
        before = self.endpoint
        moved = self._look_again()
        if isinstance(error, NotTrusted) and not moved:
            raise NotTheServer(before, why) from error
        if not moved and not self._was_reached and isinstance(error, CouldNotConnect):
            raise NotReachable(before, why) from error
        if not await retries.pause(None, why):
            raise NotReachable(before, why) from error

    async def _may_repeat(self, reply: Reply, retries: "_Retries") -> bool:
        """Say whether an error is worth another try, after a pause."""
        if reply.status == UNAUTHENTICATED:
            # A restarted server may have written another token.
            return not retries.looked_again and self._look_again(retries)
        if reply.status in MAY_PASS:
            why = f"the server answered {reply.status}"
            return await retries.pause(reply.headers.get("retry-after"), why)
        return False

    def _look_again(self, retries: "_Retries | None" = None) -> bool:
        """Read again where the server is; say whether that changed."""
        if retries is not None:
            retries.looked_again = True
        before = self.endpoint
        try:
            now = self._locator.locate()
        except NotRunning:
            return False  # it is just starting; the known address is the best guess
        self.close()
        self._pool = ConnectionPool(now)
        return now != before


class _Retries:
    """The pauses of one request: doubling, with jitter, within a bounded time."""

    def __init__(self, patience_s: float, on_outage: Callable[[str], None] | None) -> None:
        self.looked_again = False
        self._began_at = monotonic()
        self._ends_at = self._began_at + patience_s
        self._pause_s = PAUSE_MIN_S
        self._on_outage = on_outage

    async def pause(self, retry_after: str | None, why: str) -> bool:
        """Wait, or return False if there is no time left for it."""
        import random  # noqa: PLC0415 (most requests need no pause)

        wait_s = self._pause_s * random.uniform(0.5, 1.0)  # noqa: S311 (jitter, no secret)
        self._pause_s = min(self._pause_s * 2, PAUSE_MAX_S)
        if retry_after is not None and retry_after.isdecimal():
            wait_s = max(wait_s, float(retry_after))
        now = monotonic()
        if now + wait_s > self._ends_at:
            return False
        if self._on_outage is not None and now + wait_s > self._began_at + OUTAGE_S:
            self._on_outage(why)
            self._on_outage = None
        await need_loop()
        await asyncio.sleep(wait_s)
        return True


def _query_text(query: Query) -> str:
    """Write a query string; `None` is left out, a list is repeated."""
    given = {
        name: str(value).lower()
        if isinstance(value, bool)
        else value.isoformat()
        if isinstance(value, datetime)
        else value
        for name, value in query.items()
        if value is not None
    }
    return f"?{urlencode(given, doseq=True, quote_via=quote)}" if given else ""
