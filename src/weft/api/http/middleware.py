"""Middleware around every request: it records, completes replies, authenticates.

It is outside of the application (ASGI), so that a request without a route is recorded, and refused
to strangers, as well.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Any, Final, cast
from urllib.parse import unquote

from weft.api.calls.visits import SAFE
from weft.api.http.browsers import PAGE_POLICY, is_page, refuse_foreign, refuse_origin
from weft.api.http.doors import DoorPaths
from weft.api.http.failed_logins import LoginFailures
from weft.api.http.identity import Identities, with_bearer
from weft.api.http.open_requests import OpenRequests
from weft.api.http.problem_documents import refusal_of
from weft.api.http.rate_limits import RateLimits
from weft.api.http.routing import Message, Receive, Scope, Send
from weft.api.http.trail import Refusals, action_of
from weft.api.http.visits import Visits
from weft.core.errors import RateLimitExceeded, Unavailable, WeftError
from weft.ports.store import ACTION, Action, Caller
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft.telemetry.trace import (
    bind,
    format_traceparent,
    new_trace_id,
    parse_trace_id,
    parse_traceparent,
)

App = Callable[[Scope, Receive, Send], Awaitable[None]]
RecordRefusal = Callable[[Action], Awaitable[None]]

DRAIN_S: Final = 10.0
"""How long the rest of a refused body is read and dropped, so that its sender sees the reply."""
SMALL_BYTES: Final = 64 * 1024
SMALL_S: Final = 0.1
"""A refused body this small is read before the reply, for this time at most."""
FORBIDDEN: Final = 403
SERVER_ERROR: Final = 500
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # without a referrer, forms send `Origin: null`
    (b"content-security-policy", f"{PAGE_POLICY}; form-action 'self'".encode()),
    (b"cache-control", b"no-store"),
)
"""An answer that brings one of these keeps its own."""


def add_middleware(
    app: App,
    identities: Identities,
    is_open: Callable[[str], bool],
    record_refusal: RecordRefusal,
    limits: RateLimits | None,
    failures: LoginFailures,
    visits: Visits,
    doors: DoorPaths,
    requests: OpenRequests,
) -> App:
    """Return the application with everything around it. `is_open`: the path asks for no token."""
    app = LeadVisitors(RecordRefusals(app, record_refusal), visits)
    if limits is not None:
        app = LimitRates(app, limits)
    app = RecordFailedLogins(Authenticate(app, identities, is_open, requests), failures)
    return RecordRequests(CompleteReplies(app), doors)


class RecordRequests:
    """Give each request a trace id, and its door; count and log it when it is answered."""

    def __init__(self, app: App, doors: DoorPaths) -> None:
        self._app = app
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        ACTION.set(None)  # a pipelined request begins in the context of the one before
        scope["path"] = _path_of(scope)
        headers = _headers_of(scope)
        trace_id = _trace_id(headers)
        state = scope.setdefault("state", {})
        state.update(headers=headers, trace_id=trace_id)
        record = _Record(send)
        with bind(trace_id=trace_id, **self._facts_of_door(scope["path"], state)):
            try:
                await self._app(scope, receive, record.send)
            finally:
                _write_record(scope, record)

    def _facts_of_door(self, path: str, state: dict[str, Any]) -> dict[str, str]:
        """Note the door of a path, and return what log lines say of it besides."""
        door = self._doors.door_of(path)
        if door is None:
            return {}
        state["door"] = door
        if door.trace is None:
            return {"door": door.name}
        state["foreign_trace"] = foreign = door.trace.of(state["headers"])
        return {"door": door.name, "foreign_trace": foreign}


class _Record:
    """What is known of one reply."""

    def __init__(self, send: Send) -> None:
        self.started = time.perf_counter()
        self.status = 0
        self.answered_at: float | None = None
        """When the first byte of the reply was sent."""
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.answered_at = time.perf_counter()
        await self._send(message)


class CompleteReplies:
    """Add the headers that every reply has, and read the rest of a refused body."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except asyncio.CancelledError:
            # The server stops, and its time is over. What is cancelled would be answered with 500.
            if exchange.has_begun:
                raise
            await _refuse(_stopping(), scope, exchange.send)


def _stopping() -> Unavailable:
    return Unavailable(
        "the server is stopping",
        detail="It has not finished this request in the time that it had left.",
        hint="Ask again: it was perhaps not carried out.",
    )


class _Exchange:
    """One request and its reply: what was received and sent so far."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._status = 0
        self._body_read = False
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            self._body_read = True
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            if self._must_drain:
                await self._read_small_body()
            own = list(message.get("headers", ()))
            names = {name for name, _ in own}
            headers = own + [header for header in self._headers() if header[0] not in names]
            if self._must_drain:
                headers.append((b"connection", b"close"))
            await self._send({**message, "headers": headers})
            return
        if self._must_drain and not message.get("more_body"):
            await self._send({**message, "more_body": True})
            await self._drain(DRAIN_S)
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    @property
    def has_begun(self) -> bool:
        """Say whether a reply is being sent."""
        return self._status > 0

    @property
    def _must_drain(self) -> bool:
        return self._status >= 400 and not self._body_read  # noqa: PLR2004 (an error)

    def _headers(self) -> tuple[tuple[bytes, bytes], ...]:
        state = self._scope["state"]
        trace_id: str = state["trace_id"]
        date = (b"date", formatdate(usegmt=True).encode())
        trace = (b"x-trace-id", trace_id.encode())
        parent = (b"traceparent", format_traceparent(trace_id).encode())
        if "foreign_trace" not in state:
            return (*_HEADERS, date, trace, parent)
        foreign = (state["door"].trace.header.encode(), state["foreign_trace"].encode())
        ours = () if foreign[0] == trace[0] else (trace,)
        return (*_HEADERS, date, *ours, foreign, parent)

    async def _read_small_body(self) -> None:
        """Read a body that has come with its head, as a rule, so that the connection can be kept.
        One whose sender waits until it is wanted is left alone.
        """
        headers = self._scope["state"]["headers"]
        if "transfer-encoding" in headers or "expect" in headers:
            return
        size = int(headers.get("content-length", "0"))
        if not size:
            self._body_read = True
        elif size <= SMALL_BYTES:
            await self._drain(SMALL_S)

    async def _drain(self, within_s: float) -> None:
        """Read what is still sent: closing the connection now would destroy the reply."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not self._body_read:
                    await self.receive()


class AnswerOptions:
    """Say which methods a path supports.

    `methods` returns them; none: no such path.
    """

    def __init__(self, app: App, methods: Callable[[str], Sequence[str]]) -> None:
        self._app = app
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and scope["method"] == "OPTIONS"
        if not is_asked or not (methods := self._methods(scope["path"])):
            await self._app(scope, receive, send)
            return
        headers = [(b"allow", ", ".join(methods).encode())]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class AnswerHead:
    """Answer a HEAD as the GET of its path, with its rights, without the body. Looking at a
    link, as mail scanners do, must not use it up: a path whose GET counts once has no HEAD.
    `methods`: see `AnswerOptions`.
    """

    def __init__(self, app: App, methods: Callable[[str], Sequence[str]]) -> None:
        self._app = app
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        methods = self._methods(scope["path"]) if is_head else ()
        if not is_head or ("GET" in methods and "HEAD" not in methods):
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # The reply is complete, so the server tells streams that their client is gone.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, send_head)
        finally:
            scope["path_template"] = asked.get("path_template")


@dataclass(frozen=True)
class Authenticate:
    """Find out who sends the request; refuse strangers, and those who have too many open."""

    app: App
    identities: Identities
    is_open: Callable[[str], bool]
    requests: OpenRequests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.ExitStack() as until_served:
            if scope["type"] == "http" and not self.is_open(scope["path"]):
                try:
                    scope["state"]["caller"] = caller = await self._caller_of(scope)
                    scope["state"]["find_caller"] = partial(self._caller_of, scope, again=True)
                    send = until_served.enter_context(self.requests.counted(caller, send))
                except WeftError as error:
                    await _refuse(error, scope, send)
                    return
            await self.app(scope, receive, send)

    async def _caller_of(self, scope: Scope, *, again: bool = False) -> Caller:
        headers, door = scope["state"]["headers"], scope["state"].get("door")
        address = (scope.get("client") or ("",))[0]
        if door is not None and door.takes_basic:
            headers = with_bearer(headers)
        caller = await self.identities.caller_of(
            headers, scope["scheme"], address, door and door.gateway_headers, again=again
        )
        if scope["method"] not in SAFE:
            _refuse_other_pages(headers, scope, caller)
        return caller


def _refuse_other_pages(headers: dict[str, str], scope: Scope, caller: Caller) -> None:
    """Raise `ForeignRequest` for what a page of another site has caused. Browsers send cookies by
    themselves, and gateways add tokens; only programs send `Authorization`. The token in the form
    of a page is checked by its route.
    """
    scheme = scope["scheme"]
    if caller.csrf_token is not None and not is_page(scope["path"]):
        refuse_foreign(headers, scheme, caller.csrf_token)
    elif caller.csrf_token is not None or ("authorization" not in headers and "origin" in headers):
        refuse_origin(headers, scheme)


class LimitRates:
    """Refuse requests of a token or user that sends too many; each reply says how many it may."""

    def __init__(self, app: App, limits: RateLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "caller" not in scope["state"]:
            await self._app(scope, receive, send)
            return
        caller: Caller = scope["state"]["caller"]
        verdict = self._limits.take(caller)
        headers = self._limits.headers(verdict)

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        if verdict.is_allowed:
            await self._app(scope, receive, tell)
            return
        scope["state"]["is_new_refusal"] = self._limits.is_new_refusal(caller)
        refused = RateLimitExceeded(
            f"this {verdict.of} sends too many requests",
            detail=f"It may send {verdict.per_s:g} per second in the long run.",
            hint=f"Send the next one in {verdict.retry_in_s} s, and many jobs in one request.",
        )
        await _refuse(refused, scope, tell)


class LeadVisitors:
    """Make administrators of the site visitors of the tenant that their request names."""

    def __init__(self, app: App, visits: Visits) -> None:
        self._app = app
        self._visits = visits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "caller" in (state := scope["state"]):
            find, visitor = state["find_caller"], self._visits.caller_of

            async def find_visitor() -> Caller:
                return await visitor(scope, state["headers"], await find())

            try:
                state["caller"] = await visitor(scope, state["headers"], state["caller"])
                state["find_caller"] = find_visitor
            except WeftError as error:
                await _refuse(error, scope, send)
                return
        await self._app(scope, receive, send)


class RecordRefusals:
    """Add requests to the trail whose callers may not change what they ask for, before the reply;
    the same ones at most once a minute. Open routes have no caller.
    """

    def __init__(self, app: App, record: RecordRefusal) -> None:
        self._app = app
        self._record = record
        self._refusals = Refusals()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def note(message: Message) -> None:
            if message.get("status") == FORBIDDEN:
                try:
                    await self._note(scope)
                except WeftError as error:
                    log.warning("trail.failed", code=error.code, error=error.message)
            await send(message)

        await self._app(scope, receive, note)

    async def _note(self, scope: Scope) -> None:
        if scope["method"] in SAFE or "operation" not in scope["state"]:
            return
        action = action_of(scope, refused=scope["state"]["error"])
        if self._refusals.is_new(action):
            await self._record(action)


class RecordFailedLogins:
    """Add logins that are refused to the trail, before the reply."""

    def __init__(self, app: App, failures: LoginFailures) -> None:
        self._app = app
        self._failures = failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start" and "login" in scope["state"]:
                state = scope["state"]
                await self._failures.note(scope, state["login"], state["error"])
            await send(message)

        await self._app(scope, receive, note)


async def _refuse(error: WeftError, scope: Scope, send: Send) -> None:
    """Reply with a problem document, or as the door of the path says it."""
    if error.login is not None:
        scope["state"]["login"] = error.login
    status, headers, body = refusal_of(error, scope)
    scope["state"]["error"] = error.code
    headers["content-length"] = str(len(body))
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _write_record(scope: Scope, record: _Record) -> None:
    """Count and log a request. A stream counts until its first byte: it may last for hours."""
    ended = time.perf_counter()
    method = scope["method"]
    route = scope.get("path_template") or "unmatched"
    answered_at = record.answered_at or ended
    metrics.observe_request(method, route, record.status, answered_at - record.started)
    state = scope["state"]
    caller: Caller | None = state.get("caller")
    is_quiet = method in {"GET", "HEAD"} or not record.status
    if "is_new_refusal" in state:
        is_quiet = not state["is_new_refusal"]
    level = log.debug if is_quiet else log.info
    if record.status >= SERVER_ERROR:
        level = log.warning
    level(
        "request.answered",
        method=method,
        route=route,
        status=record.status,
        client=(scope.get("client") or ("",))[0],
        user=caller and caller.user_name,
        token=caller and caller.token_id,
        ms=round((ended - record.started) * 1000, 2),
        code=state.get("error"),
        **({"foreign_id": state["foreign_id"]} if "foreign_id" in state else {}),
        **_caller_in_trace(state),
    )


def _headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers by name. Of one that came several times no value counts before another:
    they are one list, as RFC 9110 (5.3) has it, which is no token, origin or tenant.
    """
    raw = cast("list[tuple[bytes, bytes]]", scope["headers"])
    found = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    if len(found) < len(raw):
        for repeated in found:
            values = [value for name, value in raw if name.decode("latin-1") == repeated]
            found[repeated] = b", ".join(values).decode("latin-1")
    return found


def _trace_id(headers: dict[str, str]) -> str:
    trace_id = parse_trace_id(headers.get("x-trace-id", ""))
    return trace_id or parse_traceparent(headers.get("traceparent", "")) or new_trace_id()


def _path_of(scope: Scope) -> str:
    """Return the path. A segment with an encoded slash (the path of a group) stays encoded."""
    raw = cast("bytes | None", scope.get("raw_path"))
    if raw is None or b"%2f" not in raw.lower():
        return cast("str", scope["path"])
    segments = raw.partition(b"?")[0].decode("latin-1").split("/")
    return "/".join(s if "%2f" in s.lower() else unquote(s) for s in segments)


def _caller_in_trace(state: dict[str, Any]) -> dict[str, str]:
    parent = state["headers"].get("traceparent", "").strip()
    return {"traceparent": parent[:55]} if parse_traceparent(parent) == state["trace_id"] else {}
