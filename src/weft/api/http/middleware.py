"""What is around every request: trace id, identity, one log line, metrics, headers, problem
documents.

It is the outermost ASGI application, so that also what has no route is refused to strangers,
counted and logged.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, cast
from urllib.parse import unquote

from weft.api.http.identity import Identities
from weft.api.http.problem_documents import encode_problem
from weft.core.errors import WeftError
from weft.telemetry import metrics
from weft.telemetry.log import get_logger
from weft.telemetry.trace import (
    bind,
    format_traceparent,
    new_trace_id,
    parse_trace_id,
    parse_traceparent,
)

Scope = MutableMapping[str, Any]  # ASGI's own form
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz"})
DRAIN_S: Final = 10.0
"""How long the rest of a refused body is read and thrown away: its sender must see the answer."""
SERVER_ERROR: Final = 500
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ),
    (b"cache-control", b"no-store"),
)
log = get_logger()


class Ring:
    """The application with its surroundings."""

    def __init__(self, app: App, identities: Identities) -> None:
        self._app = app
        self._identities = identities

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = _headers_of(scope)
        exchange = _Exchange(receive, send, trace_id=_trace_id(headers))
        scope["path"] = _path_of(scope)
        started = time.perf_counter()
        with bind(trace_id=exchange.trace_id):
            try:
                await self._answer(scope, exchange, headers)
            finally:
                _record(scope, exchange, started)

    async def _answer(self, scope: Scope, exchange: "_Exchange", headers: dict[str, str]) -> None:
        state = scope.setdefault("state", {})
        state["trace_id"] = exchange.trace_id
        try:
            if scope["path"] not in OPEN_PATHS:
                caller = await self._identities.caller_of(headers.get("authorization"))
                state["caller"] = caller
            await self._app(scope, exchange.receive, exchange.send)
        except WeftError as error:  # of the identity; the application answers its own
            if exchange.status:
                raise
            await exchange.refuse(error, scope)


class _Exchange:
    """One request and its answer: what was read, what was sent."""

    def __init__(self, receive: Receive, send: Send, trace_id: str) -> None:
        self.trace_id = trace_id
        self.status = 0
        self.body_read = False
        self.answered_at: float | None = None
        """When the first byte of the answer was sent."""
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            self.body_read = True
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.answered_at = time.perf_counter()
            headers = [*message.get("headers", ()), *self._headers()]
            if self._must_drain:
                headers.append((b"connection", b"close"))
            await self._send({**message, "headers": headers})
            return
        if self._must_drain and not message.get("more_body"):
            await self._send({**message, "more_body": True})
            await self._drain()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def refuse(self, error: WeftError, scope: Scope) -> None:
        """Answer with a problem document."""
        body, headers = encode_problem(error, self.trace_id)
        scope["state"]["error"] = error.code
        headers["content-length"] = str(len(body))
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": error.status, "headers": raw})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})

    @property
    def _must_drain(self) -> bool:
        return self.status >= 400 and not self.body_read  # noqa: PLR2004 (an error)

    def _headers(self) -> tuple[tuple[bytes, bytes], ...]:
        trace = (b"x-trace-id", self.trace_id.encode())
        parent = (b"traceparent", format_traceparent(self.trace_id).encode())
        return (*_HEADERS, trace, parent)

    async def _drain(self) -> None:
        """Read what is still sent: a connection closed on it would take the answer away."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                while not self.body_read:
                    await self.receive()


def _record(scope: Scope, exchange: _Exchange, started: float) -> None:
    """Count and log what became of a request. A stream may last for hours after its first byte."""
    ended = time.perf_counter()
    method = scope["method"]
    route = scope.get("path_template") or "unmatched"
    metrics.observe_request(
        method, route, exchange.status, (exchange.answered_at or ended) - started
    )
    state = scope["state"]
    level = log.debug if method in {"GET", "HEAD"} or not exchange.status else log.info
    if exchange.status >= SERVER_ERROR:
        level = log.warning
    level(
        "request.answered",
        method=method,
        route=route,
        status=exchange.status,
        ms=round((ended - started) * 1000, 2),
        code=state.get("error"),
    )


def _headers_of(scope: Scope) -> dict[str, str]:
    raw = cast("list[tuple[bytes, bytes]]", scope["headers"])
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}


def _trace_id(headers: dict[str, str]) -> str:
    given = parse_trace_id(headers.get("x-trace-id", ""))
    return given or parse_traceparent(headers.get("traceparent", "")) or new_trace_id()


def _path_of(scope: Scope) -> str:
    """Return the path; a segment that holds an encoded slash (a group's path) stays encoded."""
    raw = cast("bytes | None", scope.get("raw_path"))
    if raw is None or b"%2f" not in raw.lower():
        return cast("str", scope["path"])
    segments = raw.partition(b"?")[0].decode("latin-1").split("/")
    return "/".join(s if "%2f" in s.lower() else unquote(s) for s in segments)
