"""Tokens, in the api's store."""

from collections.abc import Collection, Sequence
from typing import Literal

from weft.core.access.rights import Right
from weft.ports.store import Caller, Row, WorkTerms
from weft.store.callers import caller_in, digest_of
from weft.store.database import StorePart
from weft.store.declared import calls, documents, truth, user_id


class Tokens(StorePart):
    """Tokens, of which only digests are stored."""

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
        caller_in,
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
