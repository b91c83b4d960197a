"""The calls of the api about tokens."""

from collections.abc import Collection, Sequence
from typing import Protocol

from weft.core.access.rights import Right
from weft.ports.store.callers import Caller, Row, WorkTerms


class TokenStore(Protocol):
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

    async def list_tokens(self, caller: Caller) -> Sequence[Row]:
        """Return the caller's tokens, the oldest first, also those that have expired."""

    async def revoke_token(self, caller: Caller, token_id: int) -> bool:
        """Forget a token of the caller and tell every api; return whether there was one."""
