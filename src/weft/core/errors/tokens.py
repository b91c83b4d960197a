"""Errors about tokens."""

from weft.core.errors.kinds import (
    Conflict,
    NotFound,
)


class TokenNotFound(NotFound, code="API.TOKEN_NOT_FOUND"):
    """The caller has no such token."""


class TooManyTokens(Conflict, code="API.TOO_MANY_TOKENS", sqlstate="WF117"):
    """A user has as many tokens as the setting allows."""
