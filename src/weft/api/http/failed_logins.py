"""Failed logins in the trail: whose they were, where from, and never so many as to fill it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol
from uuid import uuid4

from weft.api.http.rate_limits import sender_of
from weft.api.http.trail import shown_path
from weft.core.errors import WeftError
from weft.core.login_attempts import LoginAttempt
from weft.ports.patience import end_tasks
from weft.ports.store import FailedLogin, LoginOwner
from weft.telemetry.log import log

WINDOW_S: Final = 60.0
"""Logins that are alike have one entry at once, and one for the others after this time."""
WINDOWS_MAX: Final = 50
"""Beyond this number all others of an operation and error are alike, wherever they come from."""
AUTHENTICATE: Final = "authenticate"
"""What is tried with a token: it is refused before anybody asks for which operation."""


class LoginRecords(Protocol):
    """The part of the store that is needed here."""

    async def login_owner(self, digest: bytes) -> LoginOwner | None:
        """Return whose a token, session or code is."""

    async def record_failed_login(self, failed: FailedLogin) -> None:
        """Add an entry to the trail."""


@dataclass
class _Window:
    """Logins that are alike, since the first of them."""

    ends_at: float
    last: FailedLogin
    n_unrecorded: int = 0


class LoginFailures:
    """Adds failed logins to the trail. Those of one sender (an address, or a /64 of IPv6), user,
    operation and error are alike.
    """

    def __init__(
        self,
        store: LoginRecords,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._clock = clock
        self._sleep = sleep
        self._windows: dict[Hashable, _Window] = {}
        self._closing: asyncio.Task[None] | None = None

    async def note(self, scope: Mapping[str, Any], login: LoginAttempt, code: str) -> None:
        """Record the login that a request has tried, or count it. `code`: that of the error."""
        failed = _failed_login(scope, await self._owner_of(login), code)
        alike = (failed.name, code)
        key: Hashable = (sender_of(failed.address or ""), failed.owner, *alike)
        if key not in self._windows and len(self._windows) >= WINDOWS_MAX:
            key = alike
            failed = replace(failed, address=None, owner=LoginOwner())
        window = self._windows.get(key)
        if window is not None:
            window.last = failed
            window.n_unrecorded += 1
            return
        self._windows[key] = _Window(self._clock() + WINDOW_S, failed)
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="failed_logins.close")
        await self._record(failed)

    async def finish(self) -> None:
        """Record what was counted; call it when the server has stopped."""
        if self._closing is not None:
            await end_tasks([self._closing])
            self._closing = None
        await self._record_counted(float("inf"))

    async def _close(self) -> None:
        """Record what was counted in each window when it ends. End with the last one."""
        while self._windows:
            ends_at = next(iter(self._windows.values())).ends_at
            await self._sleep(max(0.0, ends_at - self._clock()))
            await self._record_counted(self._clock())
        self._closing = None

    async def _record_counted(self, now: float) -> None:
        over = [key for key, window in self._windows.items() if window.ends_at <= now]
        for key in over:  # one by one: what is not recorded yet stays for `finish`
            window = self._windows.pop(key, None)
            if window is not None and window.n_unrecorded:
                times = window.n_unrecorded
                await self._record(replace(window.last, times=times, request_id=uuid4()))

    async def _record(self, failed: FailedLogin) -> None:
        try:
            await self._store.record_failed_login(failed)
        except WeftError as error:
            log.warning("trail.failed", code=error.code, error=error.message)

    async def _owner_of(self, login: LoginAttempt) -> LoginOwner:
        if login.digest is not None:
            try:
                return await self._store.login_owner(login.digest) or LoginOwner()
            except WeftError as error:
                log.warning("trail.failed", code=error.code, error=error.message)
        return LoginOwner(tenant=login.tenant, user_name=login.user)


def _failed_login(scope: Mapping[str, Any], owner: LoginOwner, code: str) -> FailedLogin:
    client, handler = scope.get("client"), scope.get("route")
    return FailedLogin(
        owner=owner,
        name=AUTHENTICATE if handler is None else handler.fn.__name__,
        path=shown_path(scope),
        trace_id=scope["state"]["trace_id"],
        address=client[0] if client else None,
        refused=code,
    )
