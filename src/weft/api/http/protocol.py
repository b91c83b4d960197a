"""HTTP on the wire: limits on heads, and problem documents for what is not HTTP.

What a proxy in front of this server might read otherwise is refused: two hosts (one may stand in
the target), tokens or lists of cookies, old and unknown versions. Headers after the body are
ignored.
"""

import asyncio
import re
from collections import OrderedDict
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from weft.api.http.problem_documents import problem_reply
from weft.core.access.sessions import is_same_origin
from weft.core.errors import HeadTooLarge, MalformedRequest, RequestTimeout, Unavailable, WeftError
from weft.telemetry.trace import new_trace_id

HEAD_BYTES_MAX: Final = 64 * 1024
HEADERS_MAX: Final = 200
PIPELINE_MAX: Final = 100
"""So many requests may wait on one connection: parsing a piece of more holds up all others."""
LOOKS_MAX: Final = 1000
"""So many connections are looked at to find one that may be closed."""
_VERSIONS: Final = ("1.0", "1.1")
_ONCE: Final = (b"host", b"authorization", b"cookie")
_END: Final = re.compile(rb"[/?#]")
"""Of the authority in a target."""


class _RequestRefused(Exception):
    """Stops the parser: `HttpProtocol._refusal` says why."""


class HttpProtocol(HttpToolsProtocol):
    """One connection.

    `head_s`: how long a head may take, from the start of the connection or its first byte.
    """

    def __init__(self, kept: "Connections", *args: Any, head_s: float, **kwargs: Any) -> None:  # noqa: ANN401 (uvicorn's own)
        super().__init__(*args, **kwargs)
        self._head_s = head_s
        self._kept = kept
        self._refusal: WeftError | None = None
        self._served: RequestResponseCycle | None = None
        self._head_bytes = 0
        self._is_in_head = True
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Start to wait for a first request."""
        super().connection_made(transport)
        self._is_in_head = True
        self._start_timer()
        if not self._kept.has_room():
            hint = "Try again in a moment; several apis serve more."
            self._refuse(Unavailable("the api has as many connections as it can serve", hint=hint))
        else:
            self._kept.note_use(self)

    def serves_caller(self) -> bool:
        """Return whether a request of a known caller is under way."""
        now = self._served
        return now is not None and not now.response_complete and "caller" in now.scope["state"]

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._kept.forget(self)
        self._leave()
        self._head_is_done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; refuse a head that is too large."""
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._refuse(_head_too_large())
            elif self._head_timer is None:
                self._start_timer()
        elif self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            # Neither a request nor silence, which has a limit of its own: the rest of a body that
            # nobody has asked for, or empty lines.
            self._start_timer()

    def on_message_begin(self) -> None:
        """Begin a request: its head, as a rule, is there as a whole, and needs no timer."""
        super().on_message_begin()
        self._head_is_done()
        self._is_in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Receive a header."""
        if not self._is_in_head:
            return  # it comes after the body: what reads headers has read them
        super().on_header(name, value)
        if len(self.headers) > HEADERS_MAX:
            self._stop(_head_too_large())

    def on_headers_complete(self) -> None:
        """Serve the request."""
        # What comes in one piece is not counted before it is parsed.
        sizes = (len(name) + len(value) for name, value in self.headers)
        if len(self.url) + sum(sizes) > HEAD_BYTES_MAX:
            self._stop(_head_too_large())
        self._check_head()
        if len(self.pipeline) >= PIPELINE_MAX:
            self._stop(_malformed(f"More than {PIPELINE_MAX} requests wait on its connection."))
        self._head_is_done()
        self._kept.note_use(self)
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401 (uvicorn's own)
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    def _leave(self) -> None:
        """Tell what serves a request that nobody reads the answer: uvicorn tells the last only."""
        if self._served is not None:
            self._served.disconnected = True
            self._served.message_event.set()

    def send_400_response(self, msg: str) -> None:
        """Reply to what is not HTTP."""
        self._refuse(self._refusal or _malformed(msg))

    def _check_head(self) -> None:
        version = self.parser.get_http_version()
        if version not in _VERSIONS:
            self._stop(_malformed(f"Version {version} of HTTP is not spoken here."))
        names = [name for name, _ in self.headers]
        for name in _ONCE:
            if names.count(name) > 1:
                self._stop(_malformed(f"It has several headers {name.decode().title()}."))
        if version == "1.1" and b"host" not in names:
            self._stop(_malformed("It has no header Host."))
        scheme, is_absolute, rest = self.url.partition(b"://")
        if is_absolute and not self.url.startswith(b"/"):
            hosts = [value.decode("latin-1") for name, value in self.headers if name == b"host"]
            target = f"{scheme.decode('latin-1')}://{_END.split(rest)[0].decode('latin-1')}"
            if not is_same_origin(target, scheme.decode("latin-1").lower(), *hosts):
                self._stop(_malformed("Its target is at another host than its header Host says."))

    def _stop(self, error: WeftError) -> None:
        """Refuse a request within a callback of the parser, which then calls no further one."""
        self._refusal = error
        raise _RequestRefused

    def _start_timer(self) -> None:
        self._head_timer = self.loop.call_later(self._head_s, self._head_is_late)

    def _head_is_done(self) -> None:
        self._is_in_head = False
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        if not self._is_in_head:
            self.transport.close()
        elif not self.transport.is_closing():
            late = "the head of the request did not arrive in time"
            detail = f"It took longer than {self._head_s:g} s."
            hint = "Open a connection only when you send a request."
            self._refuse(RequestTimeout(late, detail=detail, hint=hint))

    def _refuse(self, error: WeftError) -> None:
        self._leave()
        status, headers, body = problem_reply(error, new_trace_id())
        head = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
        head += [f"{name}: {value}".encode() for name, value in headers.items()]
        head += [b"content-length: %d" % len(body), b"connection: close"]
        self.transport.write(b"\r\n".join(head) + b"\r\n\r\n" + body)
        self.transport.close()


class Connections:
    """Keeps at most `most`: beyond, a new one takes the place of that whose last request began
    longest ago, if it serves no user.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_use: OrderedDict[HttpProtocol, None] = OrderedDict()
        """Last used last. The first of a plain dict is slow to find if many before it went."""

    def has_room(self) -> bool:
        """Return whether there is room for one more, which a stranger's may have to make."""
        for _ in range(LOOKS_MAX):
            if len(self._by_use) < self._most:
                return True
            oldest = next(iter(self._by_use))
            if oldest.serves_caller():
                self.note_use(oldest)
            else:
                self.forget(oldest)
                oldest.transport.abort()
        return False

    def note_use(self, connection: "HttpProtocol") -> None:
        """Remember that a connection is new, or begins a request."""
        self._by_use[connection] = None
        self._by_use.move_to_end(connection)

    def forget(self, connection: "HttpProtocol") -> None:
        """Forget a connection that has ended."""
        self._by_use.pop(connection, None)


def _malformed(why: str) -> MalformedRequest:
    return MalformedRequest(
        "the request is not HTTP", detail=why, hint="Speak HTTP/1.1 without TLS to this port."
    )


def _head_too_large() -> HeadTooLarge:
    return HeadTooLarge(
        "the head of the request is too large",
        detail=f"It has more than {HEAD_BYTES_MAX} bytes, or {HEADERS_MAX} headers.",
        hint="Send long values in the body.",
    )
