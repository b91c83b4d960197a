"""A port of this machine to which a browser brings the code of an issuer, once (RFC 8252, 7.3)."""

import asyncio
import hmac
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qs, urlsplit

HEAD_BYTES_MAX: Final = 16 * 1024
HEAD_S: Final = 10.0
FIELDS_MAX: Final = 32
_PAGE: Final = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>weft</title>"
    "<body style='font:16px/1.5 system-ui;margin:4em'><p>{}"
)


@dataclass(frozen=True)
class Brought:
    """What a browser has brought."""

    code: str | None
    error: str | None
    error_description: str | None
    iss: str | None


class Loopback:
    """Listens on 127.0.0.1 until a browser comes with the state of this login; what others want of
    the port is refused, and does not end it.
    """

    def __init__(self, state: str) -> None:
        self._state = state
        self._brought: asyncio.Future[Brought] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self.redirect_uri = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, limit=HEAD_BYTES_MAX
        )
        port = self._server.sockets[0].getsockname()[1]
        self.redirect_uri = f"http://127.0.0.1:{port}/callback"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()

    async def wait(self, within_s: float) -> Brought:
        """Return what the browser has brought. Raise `TimeoutError`."""
        async with asyncio.timeout(within_s):
            return await self._brought

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
                brought = self._read(head.decode("latin-1"))
                writer.write(_answer(is_ours=brought is not None))
                await writer.drain()
            if brought is not None and not self._brought.done():
                self._brought.set_result(brought)
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError):
            return
        finally:
            writer.close()

    def _read(self, head: str) -> Brought | None:
        """Return what a request brings; None: it belongs to another login, or is a second one."""
        method, _, rest = head.partition("\r\n")[0].partition(" ")
        try:
            target = urlsplit(rest.rpartition(" ")[0])
            found = parse_qs(target.query, max_num_fields=FIELDS_MAX, errors="strict")
        except ValueError:
            return None
        values = {name: one[0] for name, one in found.items() if len(one) == 1}
        is_ours = hmac.compare_digest(values.get("state", "").encode(), self._state.encode())
        if method != "GET" or target.path != "/callback" or not is_ours or self._brought.done():
            return None
        if not {"code", "error"} & values.keys():
            return None
        return Brought(
            values.get("code"),
            values.get("error"),
            values.get("error_description"),
            values.get("iss"),
        )


def _answer(*, is_ours: bool) -> bytes:
    status, text = "404 Not Found", "This is no login that a terminal waits for."
    if is_ours:
        status, text = "200 OK", "Go on in the terminal. You may close this page."
    body = _PAGE.format(text).encode()
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\ncache-control: no-store\r\n"
        "referrer-policy: no-referrer\r\ncontent-security-policy: default-src 'none'; "
        "style-src 'unsafe-inline'\r\n\r\n"
    )
    return head.encode() + body
