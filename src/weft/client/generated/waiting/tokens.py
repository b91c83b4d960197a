"""Calls of `weft.api.use_cases.tokens`, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from collections.abc import Sequence

from weft.client.generated.calls import CallsT_co
from weft.client.http.listing import Document
from weft.client.loop_thread import Twin


class TokensWaits(Twin[CallsT_co]):
    """Calls of `weft.api.use_cases.tokens`, for programs that wait."""

    def list_tokens(self) -> list[Document]:
        """Return one's tokens, the oldest first, also those that have expired.

        Use case: `weft.api.use_cases.tokens.list_tokens`.
        """
        return self._loop_thread.wait(self._async.list_tokens())

    def create_token(
        self,
        name: str,
        *,
        scopes: Sequence[str] | None = None,
        valid_s: float | None = None,
        pool: str | None = None,
        workers: str | None = None,
    ) -> Document:
        """Make a token with all of one's rights, or with some. Its text is the answer's `token`,
        and nowhere else: a repeat with the same key makes another one in its place. It may do
        no more than the token that asks for it, and no longer. Raise `RightMissing`,
        `TooManyTokens`.

        Use case: `weft.api.use_cases.tokens.create_token`.

        Args:
            name: What it is for.
            scopes: The only rights that it has; null: all of yours.
            valid_s: How long it is good; null: until it is revoked.
            pool: It is for workers outside, which join this pool; its scope is `work`.
            workers: The names that these workers may have, with * and ?; null: any.
        """
        return self._loop_thread.wait(
            self._async.create_token(
                name, scopes=scopes, valid_s=valid_s, pool=pool, workers=workers
            )
        )

    def revoke_token(self, token_id: int) -> None:
        """Revoke one of one's tokens: every api refuses it from now on. Raise `TokenNotFound`;
        `RightMissing` for any other than itself, if the one that asks has scopes.

        Use case: `weft.api.use_cases.tokens.revoke_token`.

        Args:
            token_id: The number of a token.
        """
        self._loop_thread.wait(self._async.revoke_token(token_id))

    def whoami(self) -> Document:
        """Return the caller and what the token allows: `user`, `role`, `rights`, `token_id`.

        Use case: `weft.api.use_cases.tokens.whoami`.
        """
        return self._loop_thread.wait(self._async.whoami())
