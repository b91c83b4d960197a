"""The two ways to log in: with a browser on this machine, and with one elsewhere."""

import asyncio
import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, Protocol

from weft.cli.login.loopback import Loopback
from weft.client.http.calls import Document
from weft.core.errors import Conflict, IssuerNotAnswering, LoginRefused

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
