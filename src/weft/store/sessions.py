"""The part of `ApiStore` for sessions of browsers, and tokens."""

import hashlib
import time
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal

import asyncpg

from weft.core.access.rights import Right, UserRole
from weft.ports.store import Caller, Row, WorkTerms
from weft.store.database import StorePart
from weft.store.declared import calls, documents, number, tenant_id, truth, user_id, value


def digest_of(token: str) -> bytes:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).digest()


def _caller_in(rows: Sequence[asyncpg.Record]) -> Caller | None:
    if not rows:
        return None
    tenant_id, user_id, user_name, role, token_id, scopes, left_s, pool, names = rows[0]
    allowed = None if scopes is None else frozenset(map(Right, scopes))
    expires_at = None if left_s is None else time.time() + left_s
    return Caller(
        tenant_id,
        user_id,
        user_name,
        UserRole(role),
        token_id,
        expires_at,
        scopes=allowed,
        work=None if pool is None else WorkTerms(pool, names),
    )


class Sessions(StorePart):
    """Sessions, the codes that open them, and tokens. Only digests of them are stored."""

    async def authenticate(self, token: str) -> Caller | None:
        """Return the holder of this token; `None` for an unknown or expired one."""
        return await self._holder_of(token, "token")

    async def authenticate_session(self, session: str) -> Caller | None:
        """Return whose session it is; `None` for an unknown or expired one, and for a token."""
        return await self._holder_of(session, "session")

    async def authenticate_code(self, code: str) -> Caller | None:
        """Return whose session a code would open, which still counts; `None`: none."""
        return await self._holder_of(code, "code")

    async def authenticate_invitation(self, invitation: str) -> Caller | None:
        """Return who has made this invitation of a worker; `None` for an expired one."""
        return await self._holder_of(invitation, "invitation")

    async def authenticate_answer(self, code: str) -> Caller | None:
        """Return who has made this link that answers a job; `None` for one that counts no more."""
        return await self._holder_of(code, "answer")

    async def _holder_of(
        self, text: str, kind: Literal["token", "session", "code", "invitation", "answer"]
    ) -> Caller | None:
        rows = await self._database.call("authenticate", token_hash=digest_of(text), of_kind=kind)
        return _caller_in(rows)

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
        _caller_in,
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

    async def create_token(
        self,
        caller: Caller,
        token: str,
        *,
        name: str,
        scopes: Collection[Right] | None,
        valid_s: float | None,
        tokens_max: int,
        idempotency_key: str | None = None,
        work: WorkTerms | None = None,
        invitation_s: float | None = None,
        kind: Literal["token", "answer"] = "token",
    ) -> Row:
        """Let this token stand for the caller; return its document. `scopes`: None: all that the
        role allows. `valid_s`: None: until it is revoked, or as long as the token that asks. A
        repeat with the same key replaces the token that was made first. What a session makes ends
        with it. `work`: it is for workers outside. `invitation_s`: it is an invitation, which has
        to be used within this time; `valid_s` is that of the worker's token. `answer`: it answers
        a job, and nothing else. Raise `TooManyTokens`, and `Unauthenticated` if the token
        that asks is gone.
        """
        facts = {
            "caller": caller,
            "user_id": caller.user_id,
            "by_token": caller.token_id,
            "of_name": name,
            "of_scopes": None if scopes is None else sorted(scopes),
            "valid_s": valid_s,
            "tokens_max": tokens_max,
            "idempotency_key": idempotency_key,
            "of_pool": None if work is None else work.pool,
            "of_workers": None if work is None else work.names,
        }
        document: Row
        if invitation_s is not None:
            facts["invitation_s"] = invitation_s
            document = await self._database.value(
                "create_invitation", of_hash=digest_of(token), **facts
            )
        else:
            document = await self._database.value(
                "create_token", of_hash=digest_of(token), of_kind=kind, **facts
            )
        return document

    @calls(
        _caller_in,
        invitation=("of_hash", digest_of),
        token=("worker_hash", digest_of),
        worker="of_worker",
        key="idempotency_key",
    )
    async def accept_invitation(
        self, invitation: str, token: str, worker: str, *, key: str | None
    ) -> Caller | None:
        """Let this token stand for the worker that was invited, in the place of one that it got
        with the same key; `None`: who has invited it is gone. Raise `InvitationRefused`.
        """

    @calls(documents, user_id=user_id)
    async def list_tokens(self, caller: Caller) -> Sequence[Row]:
        """Return the caller's tokens, the oldest first, also those that have expired."""

    @calls(truth, token_id="of_token_id", user_id=user_id)  # noqa: S106 (a parameter)
    async def revoke_token(self, caller: Caller, token_id: int) -> bool:
        """Forget a token of the caller and tell every api; return whether there was one."""
