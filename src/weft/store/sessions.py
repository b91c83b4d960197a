"""Sessions of browsers, in the api's store."""

from collections.abc import Sequence
from datetime import datetime

from weft.ports.store import Caller, Row
from weft.store.callers import caller_in, digest_of
from weft.store.database import StorePart
from weft.store.declared import calls, documents, number, tenant_id, user_id, value


class Sessions(StorePart):
    """Sessions, and the codes that open them. Only digests of them are stored."""

    @calls(
        value,
        caller=None,
        code=("of_hash", digest_of),
        tenant_id=tenant_id,
        user_id=user_id,
        by_token=lambda caller: caller.token_id,
        of_scopes=lambda caller: None if caller.scopes is None else sorted(caller.scopes),
    )
    async def create_login_code(
        self, caller: Caller, code: str, *, valid_s: float, session_s: float | None
    ) -> datetime:
        """Let this code open a session of the caller, once; return when it expires. The former one
        counts no more. `session_s`: how long the session lasts at most; None: as the token that
        asks, with which it ends. Raise `Unauthenticated` if that is gone.
        """

    @calls(
        caller_in,
        code=("code_hash", digest_of),
        session=("session_hash", digest_of),
        browser="of_name",
        address="opened_from",
    )
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

    @calls(
        value,
        caller=None,
        session=("session_hash", digest_of),
        login="of_login",
        browser="of_name",
        address="opened_from",
        tenant_id=tenant_id,
        user_id=user_id,
    )
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

    @calls(documents, caller=None, tenant_id=tenant_id, user_id=user_id)
    async def list_sessions(self, caller: Caller) -> Sequence[Row]:
        """Return the caller's sessions that have not ended, the oldest first."""

    @calls(number, caller=None, session_id="of_session", tenant_id=tenant_id, user_id=user_id)
    async def end_sessions(self, caller: Caller, session_id: int | None = None) -> int:
        """End a session of the caller, with all that it made, and tell every api; None: all, and
        the code that would open another. Return how many have ended.
        """
