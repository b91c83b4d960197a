"""The part of `ApiStore` for tokens."""

import hashlib
from collections.abc import Collection, Sequence

from weft.core.access.rights import Right
from weft.ports.store import Caller, Row, WorkTerms
from weft.store.database import StorePart
from weft.store.declared import calls, documents, truth, user_id


def digest_of(token: str) -> bytes:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).digest()


class Tokens(StorePart):
    """The tokens of a caller. Only their digests are stored."""

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
    ) -> Row:
        """Let this token stand for the caller; return its document. `scopes`: None: all that the
        role allows. `valid_s`: None: until it is revoked, or as long as the token that asks. A
        repeat with the same key replaces the token that was made first. What a session makes ends
        with it. `work`: it is for workers outside. Raise `TooManyTokens`, and `Unauthenticated` if
        the token that asks is gone.
        """
        document: Row = await self._database.value(
            "create_token",
            caller=caller,
            user_id=caller.user_id,
            by_token=caller.token_id,
            of_hash=digest_of(token),
            of_name=name,
            of_scopes=None if scopes is None else sorted(scopes),
            valid_s=valid_s,
            tokens_max=tokens_max,
            idempotency_key=idempotency_key,
            of_pool=None if work is None else work.pool,
            of_workers=None if work is None else work.names,
        )
        return document

    @calls(documents, user_id=user_id)
    async def list_tokens(self, caller: Caller) -> Sequence[Row]:
        """Return the caller's tokens, the oldest first, also those that have expired."""

    @calls(truth, token_id="of_token_id", user_id=user_id)  # noqa: S106 (a parameter)
    async def revoke_token(self, caller: Caller, token_id: int) -> bool:
        """Forget a token of the caller and tell every api; return whether there was one."""
