"""HTTP on the wire: limits on heads, and problem documents for what is not HTTP."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weft.api.http.problem_documents import encode_problem
from weft.core.errors import HeadTooLarge, Invalid, MalformedRequest, RequestTimeout
from weft.telemetry.trace import new_trace_id

HEAD_BYTES_MAX: Final = 64 * 1024
HEAD_S: Final = 30.0
"""How long a head may take, from the start of the connection or its first byte."""
_REASONS: Final = {400: b"Bad Request", 408: b"Request Timeout", 431: b"Header Fields Too Large"}


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (uvicorn's own)
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._is_in_head = True
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Start to wait for a first request."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._head_is_done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; refuse a head that is too large."""
        super().data_received(data)
        if not self._is_in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES_MAX:
            self._refuse(
                HeadTooLarge(
                    "the head of the request is too large",
                    detail=f"It has more than {HEAD_BYTES_MAX} bytes.",
                    hint="Send long values in the body.",
                )
            )

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        """Serve the request."""
        self._head_is_done()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Reply to what is not HTTP."""
        self._refuse(
            MalformedRequest(
                "the request is not HTTP",
                detail=msg,
                hint="Speak HTTP/1.1 without TLS to this port.",
            )
        )

    def _expect_head(self) -> None:
        self._head_is_done()
        self._is_in_head = True
        self._head_timer = self.loop.call_later(HEAD_S, self._head_is_late)

    def _head_is_done(self) -> None:
        self._is_in_head = False
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        if not self.transport.is_closing():
            self._refuse(
                RequestTimeout(
                    "the head of the request did not arrive in time",
                    detail=f"It took longer than {HEAD_S:g} s.",
                    hint="Open a connection only when you send a request.",
                )
            )

    def _refuse(self, error: Invalid) -> None:
        body, headers = encode_problem(error, new_trace_id())
        head = [b"HTTP/1.1 %d %s" % (error.status, _REASONS[error.status])]
        head += [f"{name}: {value}".encode() for name, value in headers.items()]
        head += [b"content-length: %d" % len(body), b"connection: close"]
        self.transport.write(b"\r\n".join(head) + b"\r\n\r\n" + body)
        self.transport.close()
