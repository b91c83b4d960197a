"""What is found out about a JSON web token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from weft.core.access.rights import UserRole

PARTS: Final = 3


class TokenRefused(Exception):
    """The token is not believed; the text says why, without anything of the token."""

    tenant: str | None = None
    """That of the issuer, if it has signed the token."""
    user: str | None = None
    """The user that its issuer names in it."""


class TokenExpired(TokenRefused):
    """It was good once."""


class IssuerAway(Exception):
    """Whether the token is good cannot be said now: the keys of its issuer cannot be read."""


@dataclass(frozen=True)
class Bearer:
    """A user whom a token names, and what it says of them."""

    tenant: str
    user_name: str
    role: UserRole | None
    """None: the one that the tenant gave them."""
    may_create: bool
    expires_at: float
    """In seconds since 1970."""


class Verifier(Protocol):
    """Believes tokens of some issuers."""

    @property
    def headers(self) -> Sequence[str]:
        """Return the headers, besides `Authorization`, that may have a token."""

    async def verify(self, token: str, header: str | None = None) -> Bearer:
        """Return the bearer of a token, which came in this header; None: in `Authorization`.

        Raise `TokenRefused`, or `IssuerAway` if its keys cannot be read.
        """


class NoIssuers:
    """Believes nobody."""

    headers: Sequence[str] = ()

    async def verify(self, token: str, header: str | None = None) -> Bearer:  # noqa: ARG002 (a port)
        """Refuse the token."""
        raise TokenRefused("No issuer is configured here (setting issuers_file).")


def is_web_token(token: str) -> bool:
    """Say whether this has the form of a JSON web token; weft's own tokens have another."""
    return token.count(".") == PARTS - 1
