"""The two ways to log in: with a browser on this machine, which brings the code of an issuer to a
port of it, once (RFC 8252, 7.3), and with one elsewhere.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Final, Protocol, Self
from urllib.parse import parse_qs, urlsplit

from weft.client.http.calls import Document
from weft.core.errors import Conflict, IssuerNotAnswering, LoginRefused

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


WITHIN_S: Final = 300.0
"""How long a terminal waits for its browser."""
SLOWER_S: Final = 5.0
"""The pause between polls grows by this when the issuer says so (RFC 8628, 3.5)."""
INTERVAL_MIN_S, INTERVAL_MAX_S = 0.5, 60.0
RANDOM_BYTES: Final = 48


class LoginNotFinished(Conflict, code="CLI.LOGIN_NOT_FINISHED"):
    """Nobody has finished the login in time."""


class Server(Protocol):
    """What is asked of the server; see `ApiRoutes`."""

    async def begin_login(self, **document: object) -> Document:
        """Return where a browser begins."""

    async def end_login(self, **document: object) -> Document:
        """Exchange a code."""

    async def begin_device_login(self, **document: object) -> Document:
        """Make a code to be typed in elsewhere."""

    async def poll_device_login(self, **document: object) -> Document:
        """Ask whether it was typed in."""


async def log_in_here(
    server: Server,
    asked: Document,
    name: str,
    show: Callable[[str], None],
    within_s: float = WITHIN_S,
) -> Document:
    """Log in with a browser on this machine; `show` is called with where it begins. Return what
    `end_login` answers. Raise `LoginRefused`, `LoginNotFinished`.
    """
    state, nonce, verifier = (secrets.token_urlsafe(RANDOM_BYTES) for _ in range(3))
    digest = hashlib.sha256(verifier.encode()).digest()
    async with Loopback(state) as loopback:
        begun = await server.begin_login(
            **asked,
            redirect_uri=loopback.redirect_uri,
            state=state,
            nonce=nonce,
            code_challenge=base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        )
        if not begun["url"].startswith(("https://", "http://")):
            raise _refused("The server names no page of an issuer.")
        show(begun["url"])
        try:
            brought = await loopback.wait(within_s)
        except TimeoutError as error:
            raise _not_finished() from error
    if brought.iss not in (None, begun["issuer"]):
        raise _refused("The answer is of another issuer.")
    if brought.code is None:
        more = f": {brought.error_description}" if brought.error_description else ""
        raise _refused(f"The issuer says {brought.error}{more}."[:400])
    return await server.end_login(
        tenant=asked["tenant"],
        issuer=begun["issuer"],
        redirect_uri=loopback.redirect_uri,
        nonce=nonce,
        code=brought.code,
        code_verifier=verifier,
        iss=brought.iss,
        name=name,
    )


async def log_in_elsewhere(
    server: Server,
    asked: Document,
    name: str,
    show: Callable[[Document], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = monotonic,
) -> Document:
    """Log in with a browser on any machine; `show` is called with what is typed in, and where.
    Return what `end_login` answers. Raise `LoginRefused`, `LoginNotFinished`, `NoDeviceLogin`.
    """
    begun = await server.begin_device_login(**asked)
    ends_at = clock() + begun["expires_in_s"]
    interval_s = max(INTERVAL_MIN_S, begun["interval_s"])
    show(begun)
    poll = {
        "tenant": asked["tenant"],
        "issuer": begun["issuer"],
        "device_code": begun["device_code"],
        "name": name,
    }
    while clock() + interval_s < ends_at:
        await sleep(interval_s)
        try:
            polled = await server.poll_device_login(**poll)
        except IssuerNotAnswering:
            interval_s = min(2 * interval_s, INTERVAL_MAX_S)
            continue
        if polled["login"] is not None:
            login: Document = polled["login"]
            return login
        interval_s += SLOWER_S if polled["is_too_fast"] else 0
    raise _not_finished()


def _refused(why: str) -> LoginRefused:
    return LoginRefused("the login is refused", detail=why, hint="Begin again with `weft login`.")


def _not_finished() -> LoginNotFinished:
    return LoginNotFinished(
        "nobody has finished the login in time",
        detail="The page of the issuer was not opened, or not left with success.",
        hint="Begin again with `weft login`; without a browser on this machine with --device.",
    )
