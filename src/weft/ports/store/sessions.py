"""The calls of the api about sessions of browsers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class SessionStore(Protocol):
    """Sessions, and the codes that open them. Only their digests are stored."""

    async def create_login_code(
        self, caller: Caller, code: str, *, valid_s: float, session_s: float | None
    ) -> datetime:
        """Let this code open a session of the caller, once; return when it expires. The former one
        counts no more. `session_s`: how long the session lasts at most; None: as the token that
        asks, with which it ends. Raise `Unauthenticated` if that is gone.
        """

    async def open_session(
        self,
        code: str,
        session: str,
        *,
        browser: str,
        address: str,
        valid_s: float,
        sessions_max: int,
    ) -> Caller | None:
        """Open a session with a code; `None` for an unknown, used or expired one. It has the
        scopes of the token that asked for the code. Beyond `sessions_max` the oldest ones of its
        user end.
        """

    async def open_issuer_session(
        self,
        caller: Caller,
        session: str,
        *,
        login: str,
        browser: str,
        address: str,
        valid_s: float,
        sessions_max: int,
    ) -> int | None:
        """Open a session of a caller for whom an issuer vouches, and return its number; `None` if
        this login has opened one already. Beyond `sessions_max` the oldest ones of the user end.
        """

    async def authenticate_session(self, session: str) -> Caller | None:
        """Return whose session it is; `None` for an unknown or expired one, and for a token."""

    async def authenticate_code(self, code: str) -> Caller | None:
        """Return whose session a code would open, which still counts; `None`: none."""

    async def list_sessions(self, caller: Caller) -> Sequence[Row]:
        """Return the caller's sessions that have not ended, the oldest first."""

    async def end_sessions(self, caller: Caller, session_id: int | None = None) -> int:
        """End a session of the caller, with all that it made, and tell every api; None: all, and
        the code that would open another. Return how many have ended.
        """
