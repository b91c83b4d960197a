"""The callers behind tokens and sessions, in the api's store."""

import hashlib
import time
from collections.abc import Sequence
from typing import Literal

import asyncpg

from weft.core.access.rights import Right, UserRole
from weft.ports.store import Caller, WorkTerms
from weft.store.database import StorePart


def digest_of(token: str) -> bytes:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).digest()


def caller_in(rows: Sequence[asyncpg.Record]) -> Caller | None:
    """Return the caller in the one row of an answer; None: there is no row."""
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


class Callers(StorePart):
    """Callers by the secret that they present. Only digests of secrets are stored."""

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
        return caller_in(rows)
